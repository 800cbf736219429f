"""Who asks, as limits count it: set where a request is let in, read where something is kept of it."""

from contextvars import ContextVar

CALLER: ContextVar[str] = ContextVar("caller", default="")
"""A user's name or a client's address; empty where nobody is asked over the network."""
