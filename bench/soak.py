"""A long watch over a daemon: containers come and go, the engine hangs and dies, everybody asks; what does it grow by?

python -m bench.soak --minutes 120     # exits with 1 when it grew by more than is promised

Prometheus scrapes, a person looks through the pages, an agent asks over MCP and HTTP, and a receiver gets the messages.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.agent_calls import as_request, make_calls
from tests.docker.daemon import Daemon
from tests.docker.engine import PrivateEngine, sweep_leftovers
from tests.docker.image import IMAGE, build_image
from tests.outputs.messages.receivers import HttpReceiver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STEADY = 12
CHURN_EVERY_SECONDS = 1.0
SCRAPE_EVERY_SECONDS = 1.0
FAULT_EVERY_SECONDS = 45.0
SAMPLE_EVERY_SECONDS = 2.0
ASK_EVERY_SECONDS = 0.25
"""An agent; and with each tenth call a person looks at the next page."""
PAGES = (
    "/",
    "/c/steady-0",
    "/history?since=1h",
    "/incidents",
    "/alerts",
    "/disk",
    "/docs/",
    "/docs/runbooks/BconIncident",
)
DESCRIPTORS_AT_MOST = 5
PERCENT_AN_HOUR_AT_MOST = 2.0
TALK = "while :; do echo level=info msg=served; echo level=error msg=refused; sleep 3; done"


@dataclass(frozen=True)
class Sample:
    """What the daemon holds at one moment."""

    at: float
    rss_bytes: int
    descriptors: int
    threads: int


@dataclass(frozen=True)
class Growth:
    """What a watch found.

    Attributes:
        rss_bytes: At the end of each tenth.
        descriptors: How many more were open in the last quarter than in the second, at rest.
        threads: The same.
        rss_percent_per_hour: Slope of the last half.
    """

    seconds: float
    scans: int
    failures: int
    faults: int
    removed: int
    scrapes: int
    asked: int
    messages: int
    rss_bytes: tuple[int, ...]
    descriptors: int
    threads: int
    rss_percent_per_hour: float

    @property
    def is_within_bounds(self) -> bool:
        """Whether it grew by no more than is promised."""
        few = self.descriptors <= DESCRIPTORS_AT_MOST and self.threads <= 0
        return few and self.rss_percent_per_hour < PERCENT_AN_HOUR_AT_MOST

    def __str__(self) -> str:
        """One line of figures."""
        done = f"{self.scans} scans ({self.failures} failed), {self.faults} faults, {self.removed} containers removed"
        return (
            f"{self.seconds / 60:.0f} min, {done}, {self.scrapes} scrapes, {self.asked} calls of agents with pages, "
            f"{self.messages} messages: descriptors {self.descriptors:+d}, "
            f"threads {self.threads:+d}, RSS {self.rss_percent_per_hour:+.2f} % an hour in the last half (by tenths: "
            f"{' '.join(f'{each / 1e6:.1f}' for each in self.rss_bytes)} MB)"
        )


def take_sample(pid: int) -> Sample:
    """Read what a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    rss, threads = (int(re.findall(rf"{name}:\s+(\d+)", status)[0]) for name in ("VmRSS", "Threads"))
    return Sample(time.monotonic(), rss * 1024, len(list(Path(f"/proc/{pid}/fd").iterdir())), threads)


def slope_percent_per_hour(samples: list[Sample]) -> float:
    """Return by how much of its mean the memory grows in an hour, by least squares."""
    mean = statistics.fmean(sample.rss_bytes for sample in samples)
    line = statistics.linear_regression([one.at for one in samples], [one.rss_bytes for one in samples])
    return 100.0 * line.slope * 3600 / mean


def judge_growth(samples: list[Sample]) -> tuple[int, int, float]:
    """Return what descriptors and threads grew by, at rest, and the slope of the last half's memory.

    At rest is the least of a quarter: a connection or a scan that is under way now is no growth.
    """
    quarter = max(1, len(samples) // 4)
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    descriptors = min(one.descriptors for one in late) - min(one.descriptors for one in early)
    threads = min(one.threads for one in late) - min(one.threads for one in early)
    return descriptors, threads, slope_percent_per_hour(samples[len(samples) // 2 :])


def soak(engine: PrivateEngine, image: str, folder: Path, seconds: float) -> Growth:
    """Watch a daemon for so long."""
    for number in range(STEADY):
        _run(engine, image, f"steady-{number}", TALK, "--restart=always")
    with HttpReceiver() as phone, Daemon(folder, engine.host, *_write_settings(folder, phone)) as daemon:
        daemon.wait_until_ready()
        samples, done = _watch(engine, image, daemon, seconds)
        scans, failures = (
            int(daemon.sample(f'bcon_scan{name}_total{{scan="diagnose"}}') or 0) for name in ("s", "_failures")
        )
    descriptors, threads, slope = judge_growth(samples)
    return Growth(
        seconds,
        scans,
        failures,
        done["faults"],
        done["removed"],
        done["scrapes"],
        done["asked"],
        len(phone.got),
        tuple(samples[len(samples) * tenth // 10 - 1].rss_bytes for tenth in range(1, 11)),
        descriptors,
        threads,
        slope,
    )


def _write_settings(folder: Path, phone: HttpReceiver) -> tuple[str, ...]:
    """Write the files of settings; the flags that name them."""
    (folder / "bcon.yml").write_text("mcp: {enable: true, toolsets: [core, ops, agents]}\n")
    (folder / "receivers").write_text(f"name=phone json://127.0.0.1:{phone.port}/\n")
    files = ("--config.file", str(folder / "bcon.yml"), "--notify.url-file", str(folder / "receivers"))
    return (*files, "--scan.diagnose-interval=1s", "--scan.drift-interval=5s")


def _watch(engine: PrivateEngine, image: str, daemon: Daemon, seconds: float) -> tuple[list[Sample], dict[str, int]]:
    """Let everything happen for so long; what the daemon held, and how often each thing was done."""
    with ExitStack() as stack:
        done = {"removed": 0, "scrapes": 0, "faults": 0, "asked": 0}
        calls = make_calls([f"steady-{number}" for number in range(STEADY)])
        faults = _faults(engine, daemon)

        def churn() -> None:
            name = f"brief-{done['removed']}"
            _run(engine, image, name, "echo level=error msg=gone; exit 3", check=False)
            engine.docker("rm", "-f", name, check=False)
            done["removed"] += 1

        def scrape() -> None:
            _scrape(daemon, done["scrapes"])
            done["scrapes"] += 1

        def fault() -> None:
            next(faults)
            done["faults"] += 1

        def ask() -> None:
            _ask(daemon, *next(calls), number=done["asked"])
            done["asked"] += 1

        works = ((churn, CHURN_EVERY_SECONDS), (scrape, SCRAPE_EVERY_SECONDS), (ask, ASK_EVERY_SECONDS))
        for work, every in (*works, (fault, FAULT_EVERY_SECONDS)):
            stack.enter_context(repeating(work, every))
        samples: list[Sample] = []
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            samples.append(take_sample(daemon.process.pid))
            time.sleep(SAMPLE_EVERY_SECONDS)
    return samples, done


def _ask(daemon: Daemon, tool: str, arguments: dict[str, Any], *, number: int) -> None:
    """Ask as an agent does, over MCP and HTTP in turn; now and then look at a page as a person does."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=30)
    try:
        path, body, headers = as_request(tool, arguments, over_mcp=number % 2 == 0)
        connection.request("POST", path, body, headers)
        connection.getresponse().read()
        if number % 10 == 0:
            connection.request("GET", PAGES[number // 10 % len(PAGES)])
            connection.getresponse().read()
    finally:
        connection.close()


def _run(engine: PrivateEngine, image: str, name: str, script: str, *flags: str, check: bool = True) -> None:
    """Start a container of one script."""
    engine.docker("run", "-d", "--network=none", *flags, "--name", name, image, "sh", "-c", script, check=check)


@contextmanager
def repeating(work: Callable[[], None], every_seconds: float) -> Iterator[None]:
    """Do something again and again in a thread; what goes wrong while the engine is away is part of it."""
    over = threading.Event()

    def run() -> None:
        while not over.wait(every_seconds):
            try:
                work()
            except (OSError, http.client.HTTPException, subprocess.TimeoutExpired):
                continue

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _faults(engine: PrivateEngine, daemon: Daemon) -> Iterator[None]:
    """Each time another one, and the engine is well again after it."""
    while True:
        engine.pause()
        time.sleep(4)
        engine.resume()
        yield
        daemon.process.send_signal(signal.SIGHUP)
        yield
        engine.pause("containerd")
        time.sleep(4)
        engine.resume("containerd")
        yield
        engine.kill_and_restart()
        yield


def _scrape(daemon: Daemon, number: int) -> None:
    """Ask as Prometheus does, and now and then as people and tools do."""
    paths = ["/metrics"]
    if number % 10 == 0:
        paths += ["/", "/api/v1/diagnosis", "/api/v1/drift", "/api/v1/containers", "/nowhere"]
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=30)
    try:
        for path in paths:
            connection.request("GET", path, headers={"Accept-Encoding": "gzip"} if path == "/metrics" else {})
            body = connection.getresponse().read()
            if path == "/metrics":
                gzip.decompress(body)
    finally:
        connection.close()


def main() -> int:
    """Watch on an engine of its own, and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=120.0)
    asked = parser.parse_args()
    sweep_leftovers()
    engine = PrivateEngine().start()
    try:
        build_image(engine.host)
        with tempfile.TemporaryDirectory() as folder:
            growth = soak(engine, IMAGE, Path(folder), 60 * asked.minutes)
    finally:
        engine.destroy()
    print(growth)
    return 0 if growth.is_within_bounds else 1


if __name__ == "__main__":
    sys.exit(main())
