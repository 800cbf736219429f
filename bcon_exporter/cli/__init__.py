"""The command line: every tool, the daemon, and a few commands of its own."""

from bcon_exporter.cli.main import main

__all__ = ["main"]
