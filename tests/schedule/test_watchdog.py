"""F20: a process whose scheduler makes no turn ends, with its stacks in the log, so that it is started anew.

The real daemon, with the standard library's own time-out twenty times as short: six seconds for two minutes.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.schedule import watchdog_seconds
from tests.docker.daemon import Daemon
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.promise("F20")

SOONER = 20
TIMEOUT_SECONDS = 120 / SOONER
ENDED_BY_WATCHDOG = {1, -signal.SIGSEGV}
"""The stacks are read while threads run: to fall over one of them ends the process just as well."""
SABOTAGE = f"""
import ctypes, faulthandler, os, re, threading, time

whole = faulthandler.dump_traceback_later
faulthandler.dump_traceback_later = lambda timeout, **more: whole(timeout / {SOONER}, **more)

def hold_the_interpreter():
    re.match("(a+)+$", "a" * 60 + "b")

def wait_for_orders():
    while not os.path.exists(os.environ["SABOTAGE"]):
        time.sleep(0.05)
    if open(os.environ["SABOTAGE"]).read() == "hold":
        hold_the_interpreter()
    for thread in threading.enumerate():
        if thread.name == "APScheduler":
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))

threading.Thread(target=wait_for_orders, daemon=True).start()
"""


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    (tmp_path / "sitecustomize.py").write_text(SABOTAGE)
    return tmp_path / "orders"


def start(folder: Path, orders: Path, name: str = "first") -> Daemon:
    home = folder / name
    home.mkdir()
    environ = {"PYTHONPATH": str(folder), "SABOTAGE": str(orders)}
    return Daemon(home, f"unix://{folder}/absent.sock", "--scan.diagnose-interval=2s", environ=environ)


@pytest.mark.promise("F20")
@pytest.mark.parametrize(("interval", "seconds"), [(1, 120), (30, 120), (30.1, 120.4), (600, 2400)])
def test_the_scheduler_may_be_silent_for_four_intervals_and_for_two_minutes_at_least(
    interval: float, seconds: float
) -> None:
    assert watchdog_seconds(interval) == pytest.approx(seconds)


@pytest.mark.integration
@pytest.mark.promise("F20")
@pytest.mark.parametrize(("order", "place"), [("hold", "hold_the_interpreter"), ("kill the scheduler", "serve")])
def test_a_process_that_makes_no_turn_ends_and_tells_where_it_was(
    tmp_path: Path, orders: Path, order: str, place: str
) -> None:
    with start(tmp_path, orders) as daemon:
        (tmp_path / "new").write_text(order)
        (tmp_path / "new").rename(orders)
        code = daemon.process.wait(10 * TIMEOUT_SECONDS)
        log = daemon.log

    assert code == 1
    assert "Timeout (0:00:06)!" in log
    assert place in log[log.index("Timeout") :]


@pytest.mark.integration
@pytest.mark.promise("F20")
def test_a_process_that_was_paused_for_long_is_started_anew_once_at_most(tmp_path: Path, orders: Path) -> None:
    """As by `docker pause`: the time-out goes on meanwhile."""
    with start(tmp_path, orders) as daemon:
        daemon.process.send_signal(signal.SIGSTOP)
        stopped_at = time.monotonic()
        wait_until(lambda: time.monotonic() > stopped_at + 1.2 * TIMEOUT_SECONDS, "a long pause")
        daemon.process.send_signal(signal.SIGCONT)
        try:
            assert daemon.process.wait(2 * TIMEOUT_SECONDS) in ENDED_BY_WATCHDOG
        except subprocess.TimeoutExpired:
            assert daemon.ask("/-/healthy").status == 200
            return
    with start(tmp_path, orders, "second") as daemon, pytest.raises(subprocess.TimeoutExpired):
        daemon.process.wait(1.5 * TIMEOUT_SECONDS)


@pytest.mark.integration
def test_commands_have_no_watchdog(tmp_path: Path, orders: Path) -> None:
    program = (
        "import sys, faulthandler, runpy\n"
        "faulthandler.dump_traceback_later = lambda *_, **__: sys.exit(97)\n"
        "sys.argv[1:] = ['check-config']\n"
        "runpy.run_module('bcon_exporter', run_name='__main__', alter_sys=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, timeout=60, check=False)

    assert (done.returncode, orders.exists()) == (0, False)
