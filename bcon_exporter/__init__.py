"""Watches a Docker host, diagnoses its containers and reports drift from their Compose files."""

__version__ = "0.2.0"
REPOSITORY_URL = "https://github.com/bcon-exporter/bcon-exporter"
"""The project's own address; `make address` sets it, here and in every copy."""
DOCS_URL = f"{REPOSITORY_URL}/blob/main/docs/"
RUNBOOKS_URL = f"{DOCS_URL}runbooks/"
"""Where the project's runbooks lie, with a slash at the end; the setting alerts.runbooks-url names another place."""
