"""`bcon-exporter version`."""

import sys

from bcon_exporter import __version__
from bcon_exporter.cli.exits import Exit
from bcon_exporter.cli.parsing import PROGRAM, Invocation
from bcon_exporter.cli.screen import print_line


def show_version(call: Invocation) -> int:
    """Print the version."""
    print_line(call, version_line(), {"version": __version__, "python_version": _python_version()})
    return Exit.FINE


def version_line() -> str:
    """Return our version and Python's."""
    return f"{PROGRAM} {__version__} (Python {_python_version()})"


def _python_version() -> str:
    return sys.version.split(maxsplit=1)[0]
