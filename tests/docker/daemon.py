"""Starts the real daemon as a process on a free port and asks it, as an operator would."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.waiting import wait_until

if TYPE_CHECKING:
    from types import TracebackType

_SERVING = re.compile(r"serving on https?://127\.0\.0\.1:(\d+)")
_ANSWER_SECONDS = 30
"""An answer may wait for Compose, which other tests keep busy."""

WITHOUT_CGROUP_FILES = (
    *("unshare", "--mount", "--propagation", "private", "sh", "-c"),
    'mount -t tmpfs tmpfs /sys/fs/cgroup && exec "$0" "$@"',
)
"""What a daemon is run below so that it has to ask the engine for usage."""


@dataclass(frozen=True)
class Answer:
    """One HTTP answer."""

    status: int
    text: str
    seconds: float

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.text)


class Daemon:
    """A daemon of its own state file and port; killed at the end whatever happens.

    Args:
        folder: Holds its state and its log.
        flags: Added to the usual ones; a later one wins.
        environ: Added to the environment.
        below: The command that runs it, as another user or in other namespaces.
        checkout: The sources to run, another version's; None for these.

    Attributes:
        start_seconds: From the start of the process until it served, on a machine with nothing else to do.
    """

    def __init__(
        self,
        folder: Path,
        host: str,
        *flags: str,
        environ: dict[str, str] | None = None,
        below: tuple[str, ...] = (),
        checkout: Path | None = None,
    ) -> None:
        self._checkout = checkout or Path(__file__).parents[2]
        self.folder = folder
        self.log_file = folder / "daemon.log"
        self.port = 0
        self.start_seconds = 0.0
        defaults = [
            "--docker.host",
            host,
            "--web.listen-address",
            "127.0.0.1:0",
            "--state.path",
            str(folder / "state.db"),
        ]
        self._command = [*below, sys.executable, "-m", "bcon_exporter", "serve", *defaults, *flags]
        self._environ = {**os.environ, **(environ or {})}
        self.process: subprocess.Popen[bytes]

    def __enter__(self) -> Daemon:
        began = time.monotonic()
        with self.log_file.open("wb") as log:
            self.process = subprocess.Popen(
                self._command, stdout=log, stderr=log, env=self._environ, cwd=self._checkout
            )
        try:
            self.port = int(wait_until(self._find_port, f"the daemon to serve:\n{self.log}", timeout_seconds=90))
        except AssertionError:
            self._kill()
            raise AssertionError(self.log) from None
        self.start_seconds = time.monotonic() - began - self._seconds_without_cpu()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._kill()

    def _seconds_without_cpu(self) -> float:
        """How long the main thread has waited for a processor so far: the machine's load, not the daemon's doing."""
        return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[1]) / 1e9

    def _kill(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait(10)

    def _find_port(self) -> str | None:
        found = _SERVING.search(self.log)
        assert self.process.poll() is None, self.log
        return found[1] if found else None

    @property
    def log(self) -> str:
        """What the daemon has written so far."""
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def ask(self, path: str, method: str = "GET", body: Any = None) -> Answer:
        """Send one request on a connection of its own."""
        started = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_ANSWER_SECONDS)
        try:
            headers = {"content-type": "application/json"} if body is not None else {}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.read().decode(), time.monotonic() - started)
        finally:
            connection.close()

    def first_event(self, path: str) -> str:
        """Read a stream as far as its first event goes; an answer that is none is read whole."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_ANSWER_SECONDS)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            text = b""
            while not text.endswith(b"\n\n") and (line := answer.readline()):
                text += line
            return text.decode()
        finally:
            connection.close()

    def sample(self, series: str) -> float | None:
        """The value of one series of /metrics; None when it is not there."""
        for line in self.ask("/metrics").text.splitlines():
            if line.startswith(f"{series} "):
                return float(line.rpartition(" ")[2])
        return None

    def wait_for_sample(self, series: str, value: float | None, timeout_seconds: float = 30.0) -> float:
        """Wait until a series has a value, or is gone for None; returns the seconds that it took."""
        started = time.monotonic()
        wait_until(
            lambda: self.sample(series) == value,
            f"{series} to be {value}; log:\n{self.log[-2000:]}",
            timeout_seconds=timeout_seconds,
        )
        return time.monotonic() - started

    def wait_until_ready(self) -> None:
        """Wait for the first good scan."""
        wait_until(lambda: self.ask("/-/ready").status == 200, f"the daemon to be ready; log:\n{self.log}")

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, float]:
        """Send a signal; returns the exit code and the seconds until the process was gone."""
        started = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(15)
        return code, time.monotonic() - started
