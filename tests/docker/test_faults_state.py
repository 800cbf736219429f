"""A state database that is full, damaged, locked or forbidden: the daemon starts at once and scans as if nothing were.

What went wrong is counted and logged once; a damaged file is set aside, never deleted.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.docker.scraping import scrape, wait_for_whole_scan
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = pytest.mark.docker

QUICK = ("--scan.diagnose-interval=1s", "--scan.drift-interval=1s")
START_SECONDS = 3.0
STATE_ERRORS = "bcon_state_errors_total"
LOOPING = {"container": "loop", "symptom": "restart_loop"}


def daemon_on(state: Path, folder: Path, engine: TestEngine) -> Daemon:
    """A daemon with that state file."""
    return Daemon(folder, engine.host, *QUICK, "--state.path", str(state))


def start_looper(engine: TestEngine) -> None:
    """A container that crashes again and again, which only history can tell."""
    engine.docker("run", "-d", "--restart", "always", "--name", "loop", engine.image, "sh", "-c", "sleep 0.1; exit 3")


def check_it_works(daemon: Daemon) -> None:
    """Scans, and what needs a memory, go on: restarts are counted and first-seen times are kept."""
    wait_for_whole_scan(daemon)
    wait_until(lambda: scrape(daemon).value("bcon_container_symptom", **LOOPING) == 1, "the loop to be told")
    metrics = scrape(daemon)
    assert metrics.scan("success") == 1
    assert metrics.value("bcon_scan_failures_total", scan="diagnose") == 0
    assert (metrics.value("bcon_container_restarts_total", container="loop") or 0) >= 3
    assert metrics.value("bcon_container_symptom_start_timestamp_seconds", **LOOPING)
    assert daemon.ask("/api/v1/tools/get_cost_report", "POST", {}).status == 200
    assert daemon.ask("/-/ready").status == 200
    assert "Traceback" not in daemon.log


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 512 KiB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("needs root to mount a file system")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.promise("F10")
def test_a_full_disk(engine: TestEngine, tmp_path: Path, tiny_disk: Path, figure: Figure) -> None:
    start_looper(engine)
    (tiny_disk / "ballast").write_bytes(b"x" * 500 * 1024)
    with daemon_on(tiny_disk / "state.db", tmp_path, engine) as daemon:
        check_it_works(daemon)
        errors = daemon.sample(STATE_ERRORS) or 0
        code, _ = daemon.end()

    figure(f"full: started in {daemon.start_seconds:.1f} s")
    assert daemon.start_seconds < START_SECONDS
    assert errors >= 1
    assert code == 0
    assert daemon.log.count("full") == 1


def fill_up(folder: Path) -> None:
    """Write until the disk takes no more."""
    with (folder / "ballast").open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while True:
            ballast.write(b"x" * 4096)


@pytest.mark.promise("F10")
def test_a_disk_that_fills_while_the_daemon_runs(engine: TestEngine, tmp_path: Path, tiny_disk: Path) -> None:
    start_looper(engine)
    with daemon_on(tiny_disk / "state.db", tmp_path, engine) as daemon:
        check_it_works(daemon)
        assert daemon.sample(STATE_ERRORS) == 0
        fill_up(tiny_disk)
        errors = wait_until(lambda: daemon.sample(STATE_ERRORS), "the full disk to be met", timeout_seconds=60)
        before = scrape(daemon).value("bcon_container_restarts_total", container="loop") or 0
        check_it_works(daemon)
        code, _ = daemon.end()

    assert errors >= 1
    assert before >= 3, "what was known stays known"
    assert code == 0


@pytest.mark.promise("F10")
@pytest.mark.parametrize("damage", ["garbage", "header", "middle", "cut"])
def test_a_damaged_file_is_set_aside(engine: TestEngine, tmp_path: Path, damage: str, figure: Figure) -> None:
    start_looper(engine)
    state = tmp_path / "own" / "state.db"
    state.parent.mkdir(mode=0o700)
    with daemon_on(state, tmp_path, engine) as daemon:
        check_it_works(daemon)
        daemon.end()
    spoil(state, damage)
    spoilt = state.read_bytes()
    with daemon_on(state, tmp_path, engine) as daemon:
        check_it_works(daemon)
        errors = daemon.sample(STATE_ERRORS) or 0
        code, _ = daemon.end()

    figure(f"{damage}: started in {daemon.start_seconds:.1f} s")
    assert daemon.start_seconds < START_SECONDS
    assert errors >= 1
    assert code == 0
    aside = [path for path in state.parent.iterdir() if ".corrupt-" in path.name and path.read_bytes() == spoilt]
    assert len(aside) == 1
    with contextlib.closing(sqlite3.connect(state)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def spoil(state: Path, damage: str) -> None:
    """Damage a state file as disks and people do."""
    content = state.read_bytes()
    half = len(content) // 2
    state.write_bytes(
        {
            "garbage": b"this is no database\n" * 500,
            "header": bytes(100) + content[100:],
            "middle": content[:4096] + b"\xff" * (len(content) - 4096),
            "cut": content[:half],
        }[damage]
    )


@pytest.mark.promise("F10")
def test_a_locked_file(engine: TestEngine, tmp_path: Path, figure: Figure) -> None:
    start_looper(engine)
    state = tmp_path / "own" / "state.db"
    state.parent.mkdir(mode=0o700)
    with daemon_on(state, tmp_path, engine) as daemon:
        check_it_works(daemon)
        daemon.end()
    other = sqlite3.connect(state, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with daemon_on(state, tmp_path, engine) as daemon:
        check_it_works(daemon)
        errors = daemon.sample(STATE_ERRORS) or 0
        other.rollback()
        other.close()
        check_it_works(daemon)
        code, _ = daemon.end()

    figure(f"locked: started in {daemon.start_seconds:.1f} s")
    assert daemon.start_seconds < START_SECONDS
    assert errors >= 1
    assert code == 0
    assert not [path for path in state.parent.iterdir() if ".corrupt-" in path.name], "a lock is no damage"


@pytest.mark.promise("F10")
def test_a_forbidden_folder(engine: TestEngine, tmp_path: Path) -> None:
    start_looper(engine)
    (tmp_path / "file").touch()
    with daemon_on(tmp_path / "file" / "state.db", tmp_path, engine) as daemon:
        check_it_works(daemon)
        errors = daemon.sample(STATE_ERRORS) or 0

    assert daemon.start_seconds < START_SECONDS
    assert errors >= 1
