"""The log of a command on standard error: warnings as lines, or all with `--log.level debug`."""

import logging
import sys

from bcon_exporter.cli.parsing import PROGRAM
from bcon_exporter.daemon_log import TextLines
from bcon_exporter.secrets.masking import safe_text
from bcon_exporter.settings import Settings


class _OneLine(logging.Formatter):
    """A line for people: what happened, masked, without its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        return f"{PROGRAM}: {record.levelname.lower()}: {' '.join(safe_text(record.getMessage()).split())}"


def quiet_logging(settings: Settings) -> None:
    """Log warnings as one line each; with `--log.level debug` everything, with tracebacks."""
    root = logging.getLogger()
    if root.handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    debugging = settings.log.level == "debug"
    handler.setFormatter(TextLines() if debugging else _OneLine())
    root.addHandler(handler)
    root.setLevel(logging.DEBUG if debugging else logging.WARNING)
