"""Reported failures with the right answer beside each, and the judge that holds the product to them."""
