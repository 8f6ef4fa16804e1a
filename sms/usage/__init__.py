"""What is billed: the ledger of accepted messages, prices, and the monthly account."""
