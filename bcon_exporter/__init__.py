"""Watches a Docker host, diagnoses its containers and reports drift from their Compose files."""

__version__ = "0.2.0"
RUNBOOKS_URL = "https://github.com/bcon-exporter/bcon-exporter/blob/main/docs/runbooks/"
"""Where the project's runbooks lie, with a slash at the end; the setting alerts.runbooks-url names another place."""
