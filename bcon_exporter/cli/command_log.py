"""What a command's own log looks like on standard error."""

import logging
import sys

from bcon_exporter.cli.parsing import PROGRAM
from bcon_exporter.daemon_log import TextLines
from bcon_exporter.model.masking import safe_text
from bcon_exporter.settings import Settings


class _OneLine(logging.Formatter):
    """A line for people: what happened, masked, without its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        return f"{PROGRAM}: {record.levelname.lower()}: {' '.join(safe_text(record.getMessage()).split())}"


def quiet_logging(settings: Settings) -> None:
    """Let a command's standard error hold warnings as lines; `--log.level debug` shows all, with tracebacks."""
    root = logging.getLogger()
    if root.handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    debugging = settings.log.level == "debug"
    handler.setFormatter(TextLines() if debugging else _OneLine())
    root.addHandler(handler)
    root.setLevel(logging.DEBUG if debugging else logging.WARNING)
