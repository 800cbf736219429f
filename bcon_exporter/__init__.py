"""Watches a Docker host, diagnoses its containers and reports drift from their Compose files."""

__version__ = "0.2.0"
REPOSITORY_URL = "https://github.com/bcon-exporter/bcon-exporter"
"""The project's own address; `make address` sets it, here and in every copy."""
DOCS_URL = f"{REPOSITORY_URL}/blob/main/docs/"
"""Where the project's documents lie, with a slash at the end. An exporter serves its own version's below /docs/."""
