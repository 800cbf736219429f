"""Delivers one message to one receiver within a bounded time, in a process of its own."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from bcon_exporter.errors import SettingsError
from bcon_exporter.limited_process import RunLimits, run_limited
from bcon_exporter.model.receivers import Receiver
from bcon_exporter.outputs.messages import send_process

DEADLINE_SECONDS = 30.0
_MEMORY_BYTES = 256 * 1024 * 1024
"""Of address space: apprise and a plug-in take 75 MB of it."""
_CPU_SECONDS = 20
_CACHE_FILE_BYTES = 16 * 1024 * 1024
"""Python writes down what it has compiled, so that the next start is quick."""
_OUTPUT_BYTES = 4096
_REFUSALS = ("HTTP status 400", "HTTP status 413", "HTTP status 422")
_PROGRAM = (sys.executable, "-s", "-P", str(Path(send_process.__file__).resolve()))
"""By its path: as a module it would load this package first, in twice the time and 80 MB instead of 50."""


class Outgoing(NamedTuple):
    """A message as it is sent.

    Attributes:
        key: See `Sending`.
        kind: What apprise makes a colour or a picture of: failure, warning, success or info.
    """

    title: str
    body: str
    key: str
    kind: str = "info"


class Delivery(NamedTuple):
    """Why a message did not arrive; nothing when it did. Holds neither address nor answer."""

    problem: str = ""

    @property
    def arrived(self) -> bool:
        """True when the receiver took it."""
        return not self.problem

    @property
    def is_refused(self) -> bool:
        """True when the receiver is there and does not take the message as it is."""
        return self.problem in _REFUSALS


def require_apprise() -> None:
    """Say what is missing where messages are wanted without the library that sends them.

    Raises:
        SettingsError: It is not installed.
    """
    if find_spec("apprise") is None:
        msg = "notify.url needs the extra `notify`: pip install 'bcon-exporter[notify]', or '.[notify]' in a clone"
        raise SettingsError(msg, {"setting": "notify.url"})


def deliver(receiver: Receiver, message: Outgoing, deadline_seconds: float = DEADLINE_SECONDS) -> Delivery:
    """Send a message and return whether it arrived; never raises, never takes longer than the deadline."""
    return _run({"url": receiver.url.get_secret_value(), **message._asdict()}, deadline_seconds)


def check_address(receiver: Receiver) -> str:
    """Return what is wrong with a receiver's address, and nothing where it can be used; nothing is sent."""
    return _run({"url": receiver.url.get_secret_value()}, DEADLINE_SECONDS).problem


def _make_environment() -> dict[str, str]:
    """Return where Python finds its packages, and nothing of the daemon's own: no proxy, no credentials."""
    folders = [folder for folder in sys.path if folder.startswith("/")]
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": ":".join(folders)}


def _run(message: dict[str, str], deadline_seconds: float) -> Delivery:
    limits = RunLimits(deadline_seconds, _MEMORY_BYTES, _CPU_SECONDS, _CACHE_FILE_BYTES, _OUTPUT_BYTES)
    try:
        done = run_limited(
            _PROGRAM,
            cwd=Path("/"),
            environ=_make_environment(),
            limits=limits,
            standard_input=json.dumps(message).encode(),
        )
    except OSError as error:
        return Delivery(f"no process could be started: {(error.strerror or type(error).__name__).lower()}")
    if done.timed_out:
        return Delivery(f"no answer within {deadline_seconds:g} s")
    try:
        return Delivery(str(json.loads(done.output)["problem"]))
    except (ValueError, KeyError, TypeError):
        return Delivery(f"the process that sends ended with {done.exit_code}")
