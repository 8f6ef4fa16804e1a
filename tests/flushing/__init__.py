"""An application of the test settings only: it lets the test runner empty its own database."""
