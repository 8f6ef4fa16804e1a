"""The workflow engine: pure functions over frozen data.

Imports the standard library and dateutil only. It never reads a clock, an environment or a socket and
knows nothing of channels, block lists or caps: time, randomness and outcomes come in as arguments.
"""
