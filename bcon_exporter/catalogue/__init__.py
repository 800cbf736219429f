"""Loads the signature files into values."""
