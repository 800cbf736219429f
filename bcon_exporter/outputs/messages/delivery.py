"""Delivers one message to one receiver within a bounded time, in a process of its own."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from bcon_exporter.errors import SettingsError
from bcon_exporter.model.receivers import Receiver
from bcon_exporter.outputs.messages import send_process

_log = logging.getLogger(__name__)

DEADLINE_SECONDS = 30.0
_ANSWER_BYTES = 4096
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
        msg = "notify.url needs the extra `notify`: pip install 'bcon-exporter[notify]'"
        raise SettingsError(msg, {"setting": "notify.url"})


def deliver(receiver: Receiver, message: Outgoing, deadline_seconds: float = DEADLINE_SECONDS) -> Delivery:
    """Send a message and return whether it arrived; never raises, never takes longer than the deadline."""
    return _run({"url": receiver.url.get_secret_value(), **message._asdict()}, deadline_seconds)


def check_addresses(receivers: Iterable[Receiver]) -> dict[str, str]:
    """Return what is wrong with the addresses of receivers, by name; nothing is sent."""
    problems = {one.name: _run({"url": one.url.get_secret_value()}, DEADLINE_SECONDS).problem for one in receivers}
    return {name: problem for name, problem in problems.items() if problem}


def check_at_start(receivers: Iterable[Receiver]) -> None:
    """Refuse an address with several targets; only warn of what a repair of the host or of apprise may mend.

    Raises:
        SettingsError: An address has several targets.
    """
    for name, problem in check_addresses(receivers).items():
        if problem == send_process.MANY_TARGETS:
            msg = f"notify.url: {name}: {problem}"
            raise SettingsError(msg, {"setting": "notify.url"})
        _log.warning("messages to %s: %s", name, problem)


def _make_environment() -> dict[str, str]:
    """Return where Python finds its packages, and nothing of the daemon's own: no proxy, no credentials."""
    folders = [folder for folder in sys.path if folder.startswith("/")]
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": ":".join(folders)}


def _run(message: dict[str, str], deadline_seconds: float) -> Delivery:
    try:
        done = subprocess.run(
            _PROGRAM,
            input=json.dumps(message).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=deadline_seconds,
            check=False,
            env=_make_environment(),
            cwd="/",
        )
    except subprocess.TimeoutExpired:
        return Delivery(f"no answer within {deadline_seconds:g} s")
    except OSError as error:
        return Delivery(f"no process could be started: {(error.strerror or type(error).__name__).lower()}")
    try:
        return Delivery(str(json.loads(done.stdout[:_ANSWER_BYTES])["problem"]))
    except (ValueError, KeyError, TypeError):
        return Delivery(f"the process that sends ended with {done.returncode}")
