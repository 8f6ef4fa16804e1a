"""A stand-in for the SMS provider on this machine, in its own process: REST, SOAP with its WSDL, the console
interface, a generic HTTP interface, the outbox, and the relay of received messages.

It shares no memory and no database with the product, so that killing the product leaves a true
record of what a provider had accepted. Its faults are configured and repeat: what happens to a
message depends on the seed, the number, the text and how often they were sent, never on the order.
`plan` describes the document that configures it, outbox and delivery scripts included.
"""
