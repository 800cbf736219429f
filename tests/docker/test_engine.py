"""The private engine leaves nothing behind, however it ends, and can be frozen, killed and started again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docker.engine import CGROUPS, PrivateEngine, ping, sweep_leftovers
from tests.waiting import wait_until

if TYPE_CHECKING:
    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker


def find_remains(engine: PrivateEngine) -> list[object]:
    """Whatever an engine could have left: folder, cgroups, mounts, processes."""
    mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(engine.state) in line]
    cgroups = [*CGROUPS.glob(engine.name), *CGROUPS.glob(f"*/{engine.name}")]
    return [*mounts, *cgroups, *engine.processes(), *([engine.state] if engine.state.exists() else [])]


@pytest.mark.parametrize("end", ["stop", "destroy"])
def test_nothing_is_left_after_the_end(engine: TestEngine, end: str) -> None:
    second = PrivateEngine().start()
    assert ping(second.socket)
    assert ping(engine.socket), "a second engine must not disturb the first"
    getattr(second, end)()
    assert find_remains(second) == []


@pytest.mark.usefixtures("engine")
def test_an_engine_dies_with_its_owner_and_the_next_run_sweeps_its_folder(tmp_path: Path) -> None:
    state = tmp_path / "orphan"
    program = (
        "import sys; from pathlib import Path; from tests.docker.engine import PrivateEngine\n"
        "e = PrivateEngine(Path(sys.argv[1])).start(); print('up', flush=True); sys.stdin.read()"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", program, str(state)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    with owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"up\n"
        owner.kill()
    orphan = PrivateEngine(state)
    wait_until(lambda: not orphan.processes(), "the orphan to die")
    sweep_leftovers(tmp_path)
    assert find_remains(orphan) == []


def test_sweeping_spares_engines_in_use(engine: TestEngine) -> None:
    sweep_leftovers()
    assert ping(engine.socket)


def test_an_engine_that_starts_while_its_folder_is_swept_waits_and_makes_it_anew(tmp_path: Path) -> None:
    engine = PrivateEngine(tmp_path / "engine")
    sweeping = engine.take_folder()
    with ThreadPoolExecutor(1) as pool:
        taking = pool.submit(engine.take_folder)
        with pytest.raises(TimeoutError):
            taking.result(timeout=0.2)
        shutil.rmtree(engine.state)
        sweeping.close()
        with taking.result(timeout=10):
            assert (engine.state / "lock").exists()


def test_a_frozen_engine_does_not_answer_and_goes_on_when_resumed(engine: TestEngine) -> None:
    engine.pause()
    assert not ping(engine.socket)
    engine.resume()
    assert ping(engine.socket)


def test_a_killed_engine_comes_back_with_its_containers(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "survivor", "--restart", "always", engine.image, "serve")
    engine.kill()
    assert not ping(engine.socket)
    engine.restart()
    wait_until(lambda: engine.docker("ps", "-q", "--filter", "name=survivor"), "the container to be started again")
