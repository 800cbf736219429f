"""Every event of a real engine arrives once, whatever happens to the stream; what was lost is said."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.engine import HostOptions
from tests.docker.hosts import open_host
from tests.docker.recording_proxy import RecordingProxy
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from bcon_exporter.engine import DockerHost
    from bcon_exporter.model.lifecycle import LifecycleEvent
    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.contract]


class Collector:
    """Drains a host again and again and keeps everything."""

    def __init__(self, host: DockerHost) -> None:
        self.host = host
        self.events: list[LifecycleEvent] = []
        self.gaps = 0

    def actions(self, name: str) -> list[str]:
        """All actions of one container so far, in order."""
        batch = self.host.drain_events()
        self.events.extend(batch.events)
        self.gaps += batch.gap
        return [event.action for event in self.events if event.name == name]


def test_a_stop_a_crash_and_a_kill_are_told_apart_by_the_live_stream(engine: TestEngine) -> None:
    with open_host(engine.host, started=True) as host:
        collector = Collector(host)
        wait_until(lambda: host.drain_events().covers_since, "the back-fill")
        engine.docker("run", "-d", "--name", "stopped", engine.image, "sleep", "600")
        engine.docker("stop", "-t", "0", "stopped")
        engine.docker("run", "--name", "crashed", engine.image, "sh", "-c", "exit 7", check=False)
        wait_until(lambda: "die" in collector.actions("crashed"), "the crash")
        before, *ended = ["create", "start", "kill"], *engine.differences.stop_events
        # with -t 0 the engine may send SIGKILL too
        possible = [[*before, *again, *end] for end in ended for again in ([], ["kill"])]
        assert collector.actions("stopped") in possible
        assert collector.actions("crashed")[-1] == "die"
        assert [event.exit_code for event in collector.events if event.name == "crashed"][-1] == 7
        assert collector.gaps == 0


def test_networks_joined_and_left_are_events_of_the_container(engine: TestEngine) -> None:
    full = engine.docker("run", "-d", "--name", "joined", engine.image, "sleep", "600")
    engine.docker("network", "create", "extra")
    with open_host(engine.host, started=True) as host:
        collector = Collector(host)
        wait_until(lambda: host.drain_events().covers_since, "the back-fill")
        engine.docker("network", "connect", "extra", "joined")
        engine.docker("network", "disconnect", "extra", "joined")

        def seen() -> bool:
            collector.actions("")
            actions = [event.action for event in collector.events if event.container_id == full]
            return list(dict.fromkeys(actions)) == ["connect", "disconnect"]  # 20.10 says each disconnect twice

        wait_until(seen, "both events")


def test_a_command_reads_what_the_daemon_remembers(engine: TestEngine) -> None:
    engine.docker("run", "--name", "before", engine.image, "sh", "-c", "exit 4", check=False)

    def has_ended() -> bool:  # `docker run` may come back before 28.5 has told it
        return "die" in engine.docker("events", "--since", "1h", "--until", "0s", "--format", "{{.Action}}").split()

    wait_until(has_ended, "the end to be told")
    with open_host(engine.host) as host:
        batch = host.drain_events()
        actions = [event.action for event in batch.events if event.name == "before"]
        assert actions == ["create", "start", "die"]
        assert batch.covers_since is not None
        assert not batch.gap
        assert host.drain_events().events == (), "what was drained does not come again"


def test_a_cut_stream_is_followed_on_without_loss_or_repetition(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--name", "first", engine.image, "sleep", "600")
    path = tmp_path / "proxy.sock"
    with ExitStack() as stack:
        with RecordingProxy(path, engine.socket) as proxy:
            host = stack.enter_context(open_host(proxy.host, started=True))
            collector = Collector(host)
            wait_until(lambda: "start" in collector.actions("first"), "the first events")
            wait_until(lambda: any("filters" in request.target for request in proxy.requests), "the stream")
        path.unlink(missing_ok=True)
        wait_until(lambda: not host.is_up(), "the proxy to be missed")
        engine.docker("run", "-d", "--name", "second", engine.image, "sleep", "600")
        with RecordingProxy(path, engine.socket):
            wait_until(lambda: "start" in collector.actions("second"), "the events of the time between")
            engine.docker("run", "-d", "--name", "third", engine.image, "sleep", "600")
            wait_until(lambda: "start" in collector.actions("third"), "the new stream")
            host.close()
    assert [collector.actions(name) for name in ("first", "second", "third")] == [["create", "start"]] * 3
    assert collector.gaps == 0


@pytest.mark.own_engine
def test_more_events_than_the_daemon_remembers_are_a_gap(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--name", "first", engine.image, "sleep", "600")
    path = tmp_path / "engine.sock"
    path.symlink_to(engine.socket)
    with open_host(f"unix://{path}", HostOptions(), started=True) as host:
        collector = Collector(host)
        wait_until(lambda: "start" in collector.actions("first"), "the first events")
        engine.kill()
        path.unlink()
        engine.restart()
        engine.docker("start", "first")
        script = "i=0; while [ $i -lt 90 ]; do i=$((i+1)); echo x; done"
        for _ in range(70):  # each rename is one event, each exec three
            engine.docker("rename", "first", "other")
            engine.docker("rename", "other", "first")
            engine.docker("exec", "first", "sh", "-c", script)
        path.symlink_to(engine.socket)
        wait_until(lambda: collector.actions("first") and collector.gaps, "the gap to be marked")
