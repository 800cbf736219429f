"""Promise, on a real engine: stops are told from crashes, restarts count once, the engine's own end is no crash."""

from __future__ import annotations

from contextlib import closing, contextmanager
from secrets import token_hex
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.clock import utc_now
from bcon_exporter.engine import HostOptions, Wants
from bcon_exporter.errors import BconError
from bcon_exporter.journal import MemoryKeeper
from tests.docker.hosts import BY_API_ONLY, NOWHERE, by_name, open_host
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.engine import DockerHost
    from bcon_exporter.model.container_facts import ContainerFacts
    from bcon_exporter.model.lifecycle import LifecycleFacts
    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

LOOP = "sleep 0.2; exit 3"
CRASHES_UNDER_BACK_OFF = 15


class Watcher:
    """A daemon's scan: events, snapshot, past."""

    def __init__(self, host: DockerHost, history: MemoryKeeper, *, reads_usage: bool) -> None:
        self.host = host
        self.history = history
        self.reads_usage = reads_usage

    def scan(self) -> dict[str, ContainerFacts]:
        """One scan; the containers by name."""
        now = utc_now()
        batch, kills = self.host.drain_events(), self.host.read_kills()
        if kills is not None:
            batch = self.history.add_kills(batch, kills, now)
        self.history.add_events(batch, now)
        wants = Wants(usage=self.reads_usage)
        observation = self.host.observe(now, 15.0, wants, self.history.memory.readings)
        return by_name(self.history.observe(observation.snapshot, observation.readings))

    def past(self, name: str) -> LifecycleFacts:
        """What is known of one container."""
        facts = self.scan()[name].lifecycle
        assert facts is not None
        return facts

    def answers(self) -> bool:
        """Whether a scan succeeds."""
        try:
            self.scan()
        except BconError:
            return False
        return True


@contextmanager
def watching(engine: TestEngine, state: Path, options: HostOptions = BY_API_ONLY) -> Iterator[Watcher]:
    """A daemon from its start to its end."""
    with (
        closing(MemoryKeeper.open(state, retention_seconds=32 * 86400, now=utc_now())) as history,
        open_host(engine.host, options, started=True) as host,
    ):
        yield Watcher(host, history, reads_usage=options is not BY_API_ONLY)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.mark.contract
def test_a_stop_a_crash_and_a_kill_are_told_apart(engine: TestEngine, state: Path) -> None:
    with watching(engine, state) as watcher:
        for name in ("stopped", "forced", "killed"):
            engine.docker("run", "-d", "--name", name, engine.image, "serve" if name == "stopped" else "sleep", "600")
        engine.docker("run", "--name", "crashed", engine.image, "sh", "-c", "exit 7", check=False)
        engine.docker("stop", "-t", "30", "stopped")
        engine.docker("stop", "-t", "1", "forced")
        engine.docker("kill", "killed")

        def settled() -> bool:
            seen = watcher.scan()
            return all(c.lifecycle is not None and c.lifecycle.exits for c in seen.values())

        wait_until(settled, "the events of all ends")
        pasts = {name: watcher.past(name) for name in ("stopped", "forced", "killed", "crashed")}
        assert {name: past.stop_requested for name, past in pasts.items()} == {
            "stopped": True,
            "forced": True,
            "killed": False,
            "crashed": False,
        }
        assert {name: past.exits[-1].forced for name, past in pasts.items()} == {
            "stopped": False,
            "forced": True,
            "killed": False,
            "crashed": False,
        }
        assert pasts["killed"].exits[-1].killed
        assert all(past.complete for past in pasts.values())


def test_a_loop_is_counted_once_over_manual_starts_and_restarts_of_the_exporter(
    engine: TestEngine, state: Path
) -> None:
    """Once in some hundred runs the busy engine lost its back-off after `docker restart`: 40 exits, 34 starts.

    Back-off leaves room for a dozen in that time. Then another container has to show it.
    """
    name, past = "loop", run_a_loop(engine, state, "loop")
    if len(past.exits) > CRASHES_UNDER_BACK_OFF:
        name, past = "loop-again", run_a_loop(engine, state, "loop-again")
    crashes = [end for end in past.exits if not end.requested]
    assert past.restarts_total == len(past.restarts)
    # `docker restart` may have come in the back-off after a crash, and so may `docker stop`
    assert -1 <= len(crashes) - past.restarts_total <= 2, "each crash was followed by one restart, save for ours"
    assert {end.exit_code for end in crashes} == {3}
    with watching(engine, state) as watcher:
        assert wait_until(lambda: watcher.past(name), "a scan").restarts_total == past.restarts_total
        assert watcher.past(name).complete


def run_a_loop(engine: TestEngine, state: Path, name: str) -> LifecycleFacts:
    """Let a container crash and be restarted, by hand in between, and stop it; return what is known of it then."""
    with watching(engine, state) as watcher:
        engine.docker("run", "-d", "--restart", "always", "--name", name, engine.image, "sh", "-c", LOOP)
        wait_until(lambda: watcher.past(name).restarts_total >= 3, "three restarts")
    with watching(engine, state) as watcher:
        engine.docker("restart", name)
        wait_until(lambda: watcher.past(name).restarts_total >= 3 + 2, "two more restarts")
        engine.docker("stop", name)
        wait_until(lambda: watcher.past(name).stop_requested, "the stop")
        return watcher.past(name)


@pytest.mark.same_machine
@pytest.mark.contract
@pytest.mark.parametrize("kernel_log", [HostOptions.kernel_log, NOWHERE], ids=["with the kernel's log", "by counters"])
def test_an_oom_kill_is_told_and_a_childs_too(engine: TestEngine, state: Path, kernel_log: Path) -> None:
    """With cgroup v2 the engine itself tells of few of them."""
    wait = "until [ -e /go ]; do sleep 0.1; done"
    victim, parent = (f"{name}-{token_hex(4)}" for name in ("victim", "parent"))  # the engine remembers names
    with watching(engine, state, HostOptions(kernel_log=kernel_log)) as watcher:
        limits = ("-d", "-m", "16m", "--memory-swap", "16m")
        engine.docker("run", *limits, "--name", victim, engine.image, "sh", "-c", f"{wait}; exec tail /dev/zero")
        engine.docker("run", *limits, "--name", parent, engine.image, "sh", "-c", f"{wait}; lose-child")
        wait_until(lambda: all(each.usage for each in watcher.scan().values()), "both to be counted")
        for name in (victim, parent):
            engine.docker("exec", name, "touch", "/go")
        wait_until(lambda: [end.oom for end in watcher.past(victim).exits] == [True], "the victim's end")
        wait_until(lambda: watcher.past(parent).oom_kills, "the child's end")
        assert watcher.scan()[parent].is_running
        assert len(watcher.past(victim).oom_kills) == len(watcher.past(parent).oom_kills) == 1


@pytest.mark.contract
def test_a_container_recreated_under_its_name_keeps_its_past(engine: TestEngine, state: Path) -> None:
    with watching(engine, state) as watcher:
        engine.docker("run", "--name", "app", engine.image, "sh", "-c", "exit 9", check=False)
        wait_until(lambda: watcher.past("app").exits, "the crash")
        engine.docker("rm", "-f", "app")
        engine.docker("run", "-d", "--name", "app", engine.image, "serve")
        assert [end.exit_code for end in watcher.past("app").exits] == [9]


def run_all_kinds(engine: TestEngine, prefix: str) -> None:
    """One container of each restart policy; the engine remembers earlier tests' names."""
    engine.docker("run", "-d", "--restart", "always", "--name", f"{prefix}-always", engine.image, "serve")
    engine.docker("run", "-d", "--restart", "unless-stopped", "--name", f"{prefix}-sturdy", engine.image, "sleep", "60")
    engine.docker("run", "-d", "--name", f"{prefix}-never", engine.image, "serve")


def test_a_killed_and_restarted_engine_makes_no_restart_loop(engine: TestEngine, state: Path) -> None:
    with watching(engine, state) as watcher:
        run_all_kinds(engine, "crash")
        wait_until(lambda: len(watcher.scan()) == 3, "the containers")
        for _ in range(3):
            engine.kill_and_restart()
            wait_until(watcher.answers, "the engine")
        wait_until(lambda: watcher.scan()["crash-always"].is_running, "the container that always runs")
        for name, seen in watcher.scan().items():
            assert seen.lifecycle is not None
            assert seen.lifecycle.restarts == (), name
            assert [end for end in seen.lifecycle.exits if not (end.requested or end.shutdown)] == [], name


@pytest.mark.parametrize("end", ["killed", "shut down"])
@pytest.mark.parametrize("with_policies", [True, False])
def test_what_falls_with_the_engine_was_not_stopped_by_anybody(
    engine: TestEngine, state: Path, end: str, with_policies: bool
) -> None:
    prefix = f"{end.replace(' ', '-')}-{with_policies}".lower()
    with watching(engine, state) as watcher:
        engine.docker("run", "-d", "--name", f"{prefix}-never", engine.image, "serve")
        if with_policies:
            engine.docker("run", "-d", "--restart", "always", "--name", f"{prefix}-always", engine.image, "serve")
        wait_until(lambda: all(seen.is_running for seen in watcher.scan().values()), "the containers")
        engine.kill() if end == "killed" else engine.shut_down()
        wait_until(lambda: not watcher.answers(), "the engine to be gone")
        engine.restart()
        wait_until(watcher.answers, "the engine")
        wait_until(lambda: watcher.past(f"{prefix}-never").exits, "the end of the one without a policy")

        def told() -> bool:
            past = watcher.past(f"{prefix}-never")
            return [e.shutdown for e in past.exits] == [True] and not past.stop_requested

        wait_until(told, "the end to be told as the engine's", timeout_seconds=10)
        for name, seen in watcher.scan().items():
            assert seen.lifecycle is not None
            assert [(e.shutdown, e.requested) for e in seen.lifecycle.exits] in ([(True, False)], []), name
            assert seen.lifecycle.restarts == (), name
            assert not seen.lifecycle.stop_requested, name


def test_a_frozen_engine_leaves_no_trace(engine: TestEngine, state: Path) -> None:
    with watching(engine, state) as watcher:
        run_all_kinds(engine, "frozen")
        wait_until(lambda: len(watcher.scan()) == 3, "the containers")
        engine.pause()
        assert not watcher.answers()
        engine.resume()
        wait_until(watcher.answers, "the engine")
        for name, seen in watcher.scan().items():
            assert seen.lifecycle is not None
            assert (seen.lifecycle.restarts, seen.lifecycle.exits, seen.lifecycle.complete) == ((), (), True), name
