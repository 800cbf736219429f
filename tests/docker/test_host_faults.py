"""Whatever the engine does - hang wholly or in part, die, return, be absent or forbidden - we answer in time."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.clock import monotonic
from bcon_exporter.engine import HostOptions
from bcon_exporter.errors import DeadlineExceededError, DockerConnectionError
from tests.docker.hosts import BY_API_ONLY, by_name, open_host, scan
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

UP_WITHIN_SECONDS = 6.0


@pytest.mark.promise("F1")
def test_a_hung_engine_is_noticed_in_six_seconds_and_gone_again_when_it_resumes(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "aa", engine.image, "sleep", "600")
    with open_host(engine.host, HostOptions(), started=True) as host:
        assert len(scan(host).containers) == 1
        wait_until(host.is_up, "the first heartbeat")
        engine.pause()
        frozen_at = monotonic()
        wait_until(lambda: not host.is_up(), "is_up to fall", timeout_seconds=UP_WITHIN_SECONDS)
        with pytest.raises(DeadlineExceededError) as error:
            scan(host)
        assert error.value.details["hint"] == "hung"
        assert monotonic() - frozen_at < UP_WITHIN_SECONDS + 7
        engine.resume()
        wait_until(host.is_up, "is_up to rise", timeout_seconds=8)
        assert by_name(scan(host))["aa"].is_running
        # Stats are tried by a thread of its own, which a scan plans.
        wait_until(
            lambda: scan(host).containers and all(host.endpoints_up().values()), "every endpoint", every_seconds=1.0
        )


def test_a_hung_engine_is_noticed_as_soon_while_a_probe_of_its_stats_hangs(engine: TestEngine) -> None:
    """With containerd frozen first, the probe that a scan plans waits for its answer when the engine freezes too."""
    engine.docker("run", "-d", "--name", "aa", engine.image, "sleep", "600")
    with open_host(engine.host, HostOptions(), started=True) as host:
        wait_until(host.is_up, "the first heartbeat")
        engine.pause("containerd")
        scan(host)
        pings = host.requests().endpoints["ping"].requests
        wait_until(lambda: host.requests().endpoints["ping"].requests > pings, "another ping", every_seconds=0.01)
        engine.pause()
        wait_until(lambda: not host.is_up(), "is_up to fall", timeout_seconds=UP_WITHIN_SECONDS)


def test_a_scan_of_a_hung_engine_keeps_its_deadline(engine: TestEngine) -> None:
    with open_host(engine.host) as host:
        scan(host)
        engine.pause()
        started = monotonic()
        with pytest.raises(DeadlineExceededError):
            scan(host, deadline_seconds=1.0)
        assert monotonic() - started < 1.5


def test_closing_never_waits_for_a_hung_engine(engine: TestEngine) -> None:
    with open_host(engine.host, started=True) as host:
        scan(host)
        engine.pause()
        wait_until(lambda: not host.is_up(), "is_up to fall", timeout_seconds=UP_WITHIN_SECONDS)
        started = monotonic()
        host.close()
        assert monotonic() - started < 1.0


@pytest.mark.promise("F3")
def test_when_only_stats_hang_the_rest_is_fresh_and_usage_is_marked_stale(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "aa", engine.image, "sh", "-c", "while :; do date; sleep 0.2; done")
    options = HostOptions(cgroup_root=BY_API_ONLY.cgroup_root, read_timeout_seconds=2.0, probe_interval_seconds=3.0)
    with open_host(engine.host, options, started=True) as host:
        before = by_name(scan(host))["aa"]
        engine.pause("containerd")
        seen = len(before.logs.lines) if before.logs else 0
        wait_until(
            lambda: len(host.read_logs(before.id, tail=100, since=None, until=None).lines) > seen, "another log line"
        )
        started = monotonic()
        snapshot = scan(host)
        assert monotonic() - started < 4.0
        after = by_name(snapshot)["aa"]
        assert after.usage is not None
        assert after.usage.stale
        assert "did not answer" in after.unread["usage"]
        assert snapshot.incomplete == (after.id,)
        assert "stats" in snapshot.unread
        assert before.logs is not None
        assert after.logs is not None
        assert len(after.logs.lines) > len(before.logs.lines)
        assert host.endpoints_up() == {"list": True, "inspect": True, "stats": False, "logs": True, "events": True}
        asked = host.requests().endpoints["stats"].requests
        started = monotonic()
        scan(host)
        assert monotonic() - started < 1.0, "no probe before its time"
        assert host.requests().endpoints["stats"].requests == asked
        engine.resume("containerd")
        wait_until(lambda: not usage_is_stale(scan(host)), "fresh usage", timeout_seconds=10)
        assert host.endpoints_up()["stats"]


def usage_is_stale(snapshot: object) -> bool:
    usage = by_name(snapshot)["aa"].usage  # type: ignore[arg-type]  # a HostSnapshot
    return usage is None or usage.stale


def test_an_engine_that_is_met_while_containerd_hangs_is_read_all_the_same(engine: TestEngine) -> None:
    """Its API version is not known yet, and /version hangs as well."""
    engine.docker("run", "-d", "--name", "aa", engine.image, "sleep", "600")
    engine.pause("containerd")
    with open_host(engine.host, HostOptions(read_timeout_seconds=2.0), started=True) as host:
        read = by_name(scan(host))["aa"]
        assert read.is_running
        assert read.restart_count == 0
        assert "inspect" not in read.unread
        assert host.is_up()


@pytest.mark.promise("F3")
def test_hanging_stats_are_noticed_even_when_usage_comes_from_files(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "aa", engine.image, "sleep", "600")
    options = HostOptions(read_timeout_seconds=2.0, heartbeat_seconds=0.2)
    with open_host(engine.host, options, started=True) as host:
        scan(host)
        engine.pause("containerd")

        def noticed() -> bool:
            usage = by_name(scan(host))["aa"].usage
            assert usage is not None
            assert (usage.source, usage.stale) == ("cgroup", False)
            return not host.endpoints_up()["stats"]

        wait_until(noticed, "the stats endpoint to be taken for hanging", timeout_seconds=10)
        assert host.is_up()


@pytest.mark.promise("F2")
def test_an_engine_killed_and_restarted_is_read_again_by_the_same_client(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "aa", "--restart", "always", engine.image, "sleep", "600")
    with open_host(engine.host, started=True) as host:
        scan(host)
        engine.kill()
        wait_until(lambda: not host.is_up(), "is_up to fall", timeout_seconds=UP_WITHIN_SECONDS)
        with pytest.raises(DockerConnectionError) as error:
            scan(host)
        assert error.value.details["hint"] in {"refused", "absent"}
        engine.restart()
        wait_until(host.is_up, "is_up to rise", timeout_seconds=8)
        assert "aa" in by_name(scan(host))
        wait_until(lambda: host.endpoints_up()["events"], "the event stream to be back", timeout_seconds=8)


@pytest.mark.promise("F4")
def test_an_absent_and_a_dead_socket_have_their_own_hints(tmp_path: Path) -> None:
    dead = tmp_path / "dead.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(dead))
    for path, hint in ((tmp_path / "none.sock", "absent"), (dead, "refused")):
        with open_host(f"unix://{path}", started=True) as host:
            with pytest.raises(DockerConnectionError) as error:
                scan(host)
            assert error.value.details["hint"] == hint
            assert str(path) in error.value.message
            wait_until(lambda host=host: not host.is_up(), "is_up to fall")  # type: ignore[misc]


@pytest.mark.promise("F1")
def test_scans_of_a_hung_engine_leave_no_threads_behind(engine: TestEngine) -> None:
    with open_host(engine.host, started=True) as host:
        scan(host)
        before = threading.active_count()
        engine.pause()
        for _ in range(3):
            with pytest.raises(DeadlineExceededError):
                scan(host, deadline_seconds=0.3)
        assert threading.active_count() <= before
