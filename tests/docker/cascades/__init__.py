"""Cascades: one root, several sufferers, by somebody who knew what the product promises and not how it is made."""
