"""Spreadsheets from strangers: read in a child process that may die, written so that no cell can act.

Nothing is imported here: the child starts fast because it never loads Django.
"""
