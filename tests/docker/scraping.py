"""One scrape of a running daemon as values to ask, and waiting for a scan that began after a moment."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from tests.waiting import wait_until

if TYPE_CHECKING:
    from tests.docker.daemon import Daemon

SAMPLE = re.compile(r"^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


class Metrics(dict[str, list[tuple[dict[str, str], float]]]):
    """Samples by name."""

    def value(self, name: str, **labels: str) -> float | None:
        """The first sample whose labels include these; None when there is none."""
        for given, value in self.get(name, ()):
            if labels.items() <= given.items():
                return value
        return None

    def scan(self, what: str) -> float | None:
        """A sample about the diagnose scan, named without bcon_scan_."""
        return self.value(f"bcon_scan_{what}", scan="diagnose")

    def containers(self) -> set[str]:
        """Names of the containers that have a status."""
        return {labels["container"] for labels, _ in self.get("bcon_container_status", ())}


def scrape(daemon: Daemon) -> Metrics:
    """Ask for /metrics and parse the answer."""
    answer = daemon.ask("/metrics")
    assert answer.status == 200
    found = Metrics()
    for name, labels, value in SAMPLE.findall(answer.text):
        found.setdefault(name, []).append((dict(LABEL.findall(labels)), float(value)))
    return found


def wait_for_whole_scan(daemon: Daemon, *, timeout_seconds: float = 20.0) -> float:
    """Wait until a scan that began after this call has ended well; the seconds that it took."""
    start = time.time()

    def is_new() -> bool:
        metrics = scrape(daemon)
        good = metrics.scan("success") == 1 and metrics.scan("incomplete_containers") == 0
        ended = metrics.scan("last_success_timestamp_seconds") or 0.0
        return good and ended - (metrics.scan("last_duration_seconds") or 0.0) >= start

    wait_until(is_new, f"a whole scan; log: {daemon.log[-2000:]}", timeout_seconds=timeout_seconds)
    return time.time() - start
