"""Plays a recorded host to the real daemon: scan by scan, each as soon as the one before has ended.

The daemon is a process with its ordinary settings. Its clocks are moved (`daemon_at.py`), and each scan is asked for
by the tool that people and agents ask with, `schedule_task`. Nothing waits for time to pass, and nothing depends on how
busy the machine is: what follows a scan in other threads has ended before the clocks go on.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.golden.engine import RecordedEngine
    from tests.golden.recording import Moment

HERE = Path(__file__).parent
PROJECTS = Path("/tmp/bcon-golden")
INTERVAL_SECONDS = 5
PART_SECONDS = 1
"""Of an interval, before each look at the Compose files."""
WITHIN_SECONDS = 180.0
"""Whatever a busy machine needs."""
SERVING = re.compile(r"serving on https?://127\.0\.0\.1:(\d+)")


class PlayedDaemon:
    """The daemon as a process."""

    def __init__(self, folder: Path, engine: RecordedEngine) -> None:
        self.folder, self._engine = folder, engine
        self._orders: socket.socket | None = None
        self.port = 0

    @contextmanager
    def running(self, moment: Moment) -> Iterator[None]:
        """Run it from its first scans, at this moment, until the end of the block."""
        self._engine.show(moment)
        log_file = self.folder / "daemon.log"
        self._orders, theirs = socket.socketpair()
        self._orders.settimeout(WITHIN_SECONDS)
        command = [sys.executable, str(HERE / "daemon_at.py"), str(theirs.fileno()), str(moment.at_nanoseconds)]
        command += ["serve", "--docker.host", self._engine.host, "--web.listen-address", "127.0.0.1:0"]
        command += ["--state.path", str(self.folder / "state.db"), "--compose.roots", str(PROJECTS)]
        command += [f"--scan.diagnose-interval={INTERVAL_SECONDS}s", f"--scan.drift-interval={INTERVAL_SECONDS}s"]
        environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(HERE.parents[1]), "PYTHONHASHSEED": "0"}
        with self._orders, log_file.open("wb") as log:
            with theirs:
                process = subprocess.Popen(command, stdout=log, stderr=log, env=environ, pass_fds=[theirs.fileno()])
            try:
                serving = wait_until(
                    lambda: SERVING.findall(log_file.read_text()), "the daemon to serve", timeout_seconds=WITHIN_SECONDS
                )
                self.port = int(serving[0])
                wait_until(self._has_scanned, "both first scans", timeout_seconds=WITHIN_SECONDS)
                self._engine.wait_until_told()
                yield
                process.send_signal(signal.SIGTERM)
                process.wait(WITHIN_SECONDS)
            finally:
                process.kill()
                process.wait(10)

    def scan(self, moment: Moment) -> None:
        """Have both scans run at a moment, an interval after those before.

        What a scan has found is judged for alerts in a thread of its own, which the end of each scan wakes. Of the
        rounds that end after the two last scans here, the second has begun after the first had ended: it has seen all.
        """
        self._engine.show(moment)
        self._engine.wait_until_told()
        self._move(moment, INTERVAL_SECONDS - 2 * PART_SECONDS)
        self._scan("diagnose")
        for _ in range(2):
            self._move(moment, PART_SECONDS)
            self._scan("drift")
            wait_until(self._has_judged, "a round of alerts after the scan", timeout_seconds=WITHIN_SECONDS)

    def _scan(self, kind: str) -> None:
        answer = self.ask("/api/v1/tools/schedule_task", {"task": kind})
        assert answer["result"]["state"] == "done", answer

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """One answer: decoded JSON, or text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WITHIN_SECONDS)
        try:
            text = None if body is None else json.dumps(body)
            connection.request("GET" if body is None else "POST", path, text, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            said = answer.read().decode()
            return json.loads(said) if "json" in (answer.headers["Content-Type"] or "") else said
        finally:
            connection.close()

    def _move(self, moment: Moment, seconds: float) -> None:
        """Move its clocks, once the threads have ended that a scan has started."""
        assert self._orders is not None
        with self._orders.makefile("rw") as lines:
            order = f"{moment.at_nanoseconds} {seconds}\n"
            lines.write(order)
            lines.flush()
            assert lines.readline() == order, (self.folder / "daemon.log").read_text()

    def _has_scanned(self) -> bool:
        return set(re.findall(r'^bcon_scans_total\{scan="(\w+)"\} [1-9]', self.ask("/metrics"), re.MULTILINE)) == {
            "diagnose",
            "drift",
        }

    def _has_judged(self) -> bool:
        """Whether a round of alerts has ended since the clocks were moved last."""
        return bool(self.ask("/api/v1/alerts")["result"]["age_seconds"] < PART_SECONDS)
