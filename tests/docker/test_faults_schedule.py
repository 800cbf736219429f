"""Scans that take too long, break or are no longer started: counted, survived, and told to whoever watches.

The faults are put into the running daemon from outside: its process is frozen, or a thread of it is made to raise.
"""

from __future__ import annotations

import json
import signal
import time
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Answer, Daemon
from tests.docker.scraping import scrape, wait_for_whole_scan
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = pytest.mark.docker

INTERVAL = 1.0
QUICK = ("--scan.diagnose-interval=1s", "--scan.drift-interval=1s")
SCANS = 'bcon_scans_total{scan="diagnose"}'
MISSED = 'bcon_scans_missed_total{scan="diagnose"}'

SABOTAGE = """
import builtins, collections, ctypes, json, os, threading, time

def wait_for_orders():
    folder, most = os.environ["SABOTAGE"], collections.Counter()
    while True:
        time.sleep(0.02)
        most |= collections.Counter(thread.name for thread in threading.enumerate())
        with open(folder + ".new", "w") as census:
            json.dump(most, census)
        os.replace(folder + ".new", folder + ".json")
        for order in os.listdir(folder):
            prefix, error = order.split("+")
            for thread in threading.enumerate():
                if thread.name.startswith(prefix):
                    kind = getattr(builtins, error)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(kind))
                    os.unlink(os.path.join(folder, order))
                    break

threading.Thread(target=wait_for_orders, daemon=True).start()
"""


class Saboteur:
    """Makes a thread of the daemon raise, whatever it is doing, as running out of memory does; and counts threads.

    The kernel does not know their names before Python 3.14.
    """

    def __init__(self, folder: Path) -> None:
        self.orders = folder / "orders"
        self.orders.mkdir()
        (folder / "sitecustomize.py").write_text(SABOTAGE)
        self.environ = {"PYTHONPATH": str(folder), "SABOTAGE": str(self.orders)}

    def make_raise(self, thread: str, error: type[BaseException]) -> None:
        """Have the first thread of that name raise, and wait until it was told to."""
        order = self.orders / f"{thread}+{error.__name__}"
        order.touch()
        wait_until(lambda: not order.exists(), f"a thread {thread}")

    def most_at_once(self, thread: str) -> int:
        """How many threads of that name there have been at once."""
        census: dict[str, int] = json.loads(self.orders.with_suffix(".json").read_text())
        return census.get(thread, 0)


@pytest.fixture
def saboteur(tmp_path: Path) -> Saboteur:
    folder = tmp_path / "sabotage"
    folder.mkdir()
    return Saboteur(folder)


@pytest.mark.promise("F9")
def test_a_dead_scheduler_is_told_by_the_health_probe(
    engine: TestEngine, tmp_path: Path, saboteur: Saboteur, figure: Figure
) -> None:
    engine.docker("run", "-d", "--name", "web", engine.image, "serve")
    with Daemon(tmp_path, engine.host, *QUICK, environ=saboteur.environ) as daemon:
        wait_for_whole_scan(daemon)
        assert daemon.ask("/-/healthy").status == 200
        saboteur.make_raise("APScheduler", SystemExit)
        killed_at = time.monotonic()
        unhealthy: Answer = wait_until(
            lambda: answer if (answer := daemon.ask("/-/healthy")).status == 503 else None, "an unhealthy answer"
        )
        seconds = time.monotonic() - killed_at
        scans = daemon.sample(SCANS)
        withheld = daemon.wait_for_sample('bcon_container_running{container="web",project="",service=""}', None)
        metrics = scrape(daemon)
        tool = daemon.ask("/api/v1/tools/diagnose_all", "POST", {})
        code, _ = daemon.end()

    assert 1 * INTERVAL <= seconds <= 3 * INTERVAL + 2, "the promise is three intervals"
    assert "restart bcon-exporter" in unhealthy.text
    figure(f"503 after {seconds:.1f} s at an interval of {INTERVAL:g} s")
    assert withheld < 10
    assert metrics.value("bcon_scans_total", scan="diagnose") == scans, "nobody scans any more"
    assert metrics.value("bcon_up") == 1
    assert (tool.status, code) == (200, 0)


@pytest.mark.promise("F9")
@pytest.mark.parametrize("error", [MemoryError, SystemExit])
def test_a_scan_that_breaks_is_counted_and_the_next_one_is_whole(
    engine: TestEngine, tmp_path: Path, saboteur: Saboteur, error: type[BaseException]
) -> None:
    """MemoryError is what a scan may meet; SystemExit stands for what no code expects."""
    engine.docker("run", "-d", "--name", "web", engine.image, "serve")
    only_one = ("--scan.diagnose-interval=1s", "--scan.drift-interval=1h", "--scan.deadline=1s")
    with Daemon(tmp_path, engine.host, *only_one, environ=saboteur.environ) as daemon:
        daemon.wait_for_sample('bcon_scan_success{scan="drift"}', 1)
        wait_for_whole_scan(daemon)
        engine.pause()  # the scan waits in the engine while it is made to raise

        def has_broken() -> bool:
            """One may hit the thread when its scan has just ended."""
            saboteur.make_raise("scan-diagnose", error)
            return bool(daemon.sample('bcon_errors_total{code="internal_error"}'))

        wait_until(has_broken, "a broken scan", every_seconds=INTERVAL)
        failures = daemon.sample('bcon_scan_failures_total{scan="diagnose"}')
        engine.resume()
        resumed_at = time.monotonic()
        wait_for_whole_scan(daemon)
        seconds = time.monotonic() - resumed_at
        healthy = daemon.ask("/-/healthy").status

    assert failures is not None
    assert failures >= 1
    assert seconds <= 2 * INTERVAL + 2
    assert healthy == 200
    assert error.__name__ in daemon.log, "the log has the traceback of the defect"


@pytest.mark.promise("F9")
def test_a_scan_that_takes_all_of_its_interval_is_not_started_twice(
    engine: TestEngine, tmp_path: Path, saboteur: Saboteur
) -> None:
    engine.docker("run", "-d", "--name", "web", engine.image, "serve")
    with Daemon(tmp_path, engine.host, *QUICK, environ=saboteur.environ) as daemon:
        wait_for_whole_scan(daemon)
        engine.pause()  # each scan now lasts as long as its deadline, which is the interval
        scans = daemon.sample(SCANS) or 0
        wait_until(lambda: (daemon.sample(SCANS) or 0) >= scans + 4, "long scans")
        engine.resume()
        resumed_at = time.monotonic()
        wait_for_whole_scan(daemon)
        seconds = time.monotonic() - resumed_at
        most = saboteur.most_at_once("scan-diagnose")

    assert most == 1
    assert seconds <= 2 * INTERVAL + 2


@pytest.mark.promise("F9")
def test_the_turns_that_a_frozen_exporter_missed_are_counted_and_made_up_by_one_scan(
    engine: TestEngine, tmp_path: Path
) -> None:
    """The process gets no time at all for a while, as on a machine that swaps or a paused virtual one."""
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        wait_for_whole_scan(daemon)
        scans, missed = daemon.sample(SCANS) or 0, daemon.sample(MISSED) or 0
        daemon.process.send_signal(signal.SIGSTOP)
        frozen_at = time.monotonic()
        wait_until(lambda: time.monotonic() > frozen_at + 6, "six intervals")
        daemon.process.send_signal(signal.SIGCONT)
        wait_until(lambda: (daemon.sample(MISSED) or 0) >= missed + 4, "the missed turns to be counted")
        turns = (time.monotonic() - frozen_at) / INTERVAL
        new_scans, new_missed = (daemon.sample(SCANS) or 0) - scans, (daemon.sample(MISSED) or 0) - missed
        healthy = daemon.ask("/-/healthy").status

    assert new_scans <= turns - new_missed + 2
    assert healthy == 200
