"""What the exporter remembers over restarts: events, exits, first-seen times, last usage, costs (SQLite)."""

from bcon_exporter.history.history import History

__all__ = ["History"]
