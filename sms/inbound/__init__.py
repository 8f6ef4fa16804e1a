"""Messages that people send to our lines: taken in, understood, and acted upon."""
