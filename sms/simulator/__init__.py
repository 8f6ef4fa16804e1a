"""A stand-in for the SMS provider: the classic REST interface, on this machine, in its own process.

It shares no memory and no database with the product, so that killing the product leaves a true
record of what a provider had accepted. Its faults are configured and repeat: what happens to a
message depends on the seed, the number, the text and how often they were sent, never on the order.
"""
