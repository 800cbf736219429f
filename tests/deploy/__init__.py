"""What is shipped to be deployed, as far as it needs no engine to be tried."""
