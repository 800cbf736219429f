"""Watches a Docker host, diagnoses its containers and reports drift from their Compose files."""

__version__ = "0.1.0"
