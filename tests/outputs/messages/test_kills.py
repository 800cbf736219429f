"""Promise: killed at any moment, no message is lost, and each kill makes one repeat at most, under the same key."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bcon_exporter import clock
from bcon_exporter.model.incidents import EndedBy, Incident
from tests.incidents.test_quiet import incident
from tests.outputs.messages.receivers import HttpReceiver
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


OPEN_FOR = 3
"""So many lives of the program an incident goes on for: one that it never saw open cannot be told."""
KILLS = 50 if os.environ.get("TEST_SOAK") else 5
ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.integration


@contextmanager
def telling(folder: Path, address: str) -> Iterator[subprocess.Popen[str]]:
    """The program that tells; killed at the end, with whatever it has just started."""
    command = [sys.executable, "-m", "tests.outputs.messages.telling"]
    words = [*command, str(folder / "state.db"), str(folder / "world.json"), address]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def write_world(folder: Path, incidents: list[Incident]) -> None:
    scratch = folder / "world.new"
    scratch.write_text(json.dumps([one.model_dump(mode="json") for one in incidents]))
    scratch.replace(folder / "world.json")


def measure_delivery(folder: Path, address: str, is_told: Callable[[], bool]) -> float:
    """Seconds until a message has arrived, and is known to have, on this machine as it is now."""
    folder.mkdir()
    write_world(folder, [incident("db", id="at-first", title="trouble at first!")])
    with telling(folder, address):
        began = time.monotonic()
        wait_until(is_told, "the first message", timeout_seconds=60)
        return time.monotonic() - began


def test_kills_lose_nothing_and_repeat_little(tmp_path: Path) -> None:
    chance = random.Random(16)
    world: list[Incident] = []
    with HttpReceiver() as server:
        address = f"json://127.0.0.1:{server.port}/"

        def told(title: str) -> int:
            return sum(f'"{title}' in text or f"\\n{title}" in text for text in [one.text for one in server.got])

        life = 4 * measure_delivery(tmp_path / "unkilled", address, lambda: bool(told("trouble at first!")))
        server.got.clear()
        for number in range(KILLS + OPEN_FOR):
            world = [
                one.model_copy(update={"ended_at": clock.utc_now(), "ended_by": EndedBy.RESTARTED})
                if place == number - OPEN_FOR
                else one
                for place, one in enumerate(world)
            ]
            if number < KILLS:
                world.append(incident("db", id=f"incident-{number}", title=f"trouble {number}!"))
            write_world(tmp_path, world)
            with telling(tmp_path, address) as process, suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0.0, life))
        with telling(tmp_path, address):
            wait_until(lambda: told(f"OVER: trouble {KILLS - 1}!"), "the last end to be told", timeout_seconds=60)
    keys = Counter(one.headers["x-message-id"] for one in server.got)
    repeats = sum(keys.values()) - len(keys)

    assert [number for number in range(KILLS) if not told(f"OVER: trouble {number}!")] == [], "lost"
    assert repeats <= KILLS + OPEN_FOR
    assert max(keys.values()) <= 1 + OPEN_FOR
    assert len({one.text for one in server.got}) >= len(keys)
    print(f"{KILLS + OPEN_FOR} kills, {len(server.got)} messages, {repeats} repeats")  # noqa: T201 -- the figure of docs/notify.md
