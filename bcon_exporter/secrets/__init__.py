"""Masks what must not leave: values by their shape, by the name they stand under, and those that are known."""
