"""Signals and exit codes: what the engine and a container's configuration say of them."""

import re  # noqa: TID251 - sees at most 16 characters of a signal's name
import signal as signals
from functools import lru_cache

SIGKILL = 9
SIGNAL_BASE = 128
"""A process that a signal has ended exits with this and the signal's number."""

CRASHED_HOST_CODE = 255
"""What an engine notes at its start for a container of which it no longer can learn how it ended."""

JITTER_SECONDS = 2.0
"""Between two reports of the engine on the same thing."""

STOPPING_SECONDS = 120.0
"""For so long what a program says after its stop signal is taken for its way out, where no end has come yet.

One that goes on after all is read in full again.
"""

_LONGEST_SIGNAL = 16


def signal_of_exit(exit_code: int | None) -> int | None:
    """Return the signal that an exit code above 128 stands for."""
    return exit_code - SIGNAL_BASE if exit_code is not None and SIGNAL_BASE < exit_code <= SIGNAL_BASE + 64 else None


@lru_cache(maxsize=256)
def parse_signal(text: str | None) -> int | None:
    """Read a stop signal as a container is configured with: "SIGQUIT", "QUIT", "3", "SIGRTMIN+3"."""
    name_as_given = (text or "")[:_LONGEST_SIGNAL].strip().upper()
    match = re.fullmatch(r"(?:SIG)?([A-Z]+[0-9]?|[0-9]{1,2})(?:\+([0-9]{1,2}))?", name_as_given)
    if match is None:
        return None
    name, offset = match.group(1), int(match.group(2) or 0)
    if name.isdigit():
        return int(name)
    number = next((int(member) for member in signals.Signals if member.name == f"SIG{name}"), None)
    return None if number is None else number + offset
