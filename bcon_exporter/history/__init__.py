"""What the exporter remembers over restarts: events, exits, first-seen times, last usage, costs (SQLite)."""
