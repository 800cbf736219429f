"""A snapshot of a real engine holds what the engine shows, asks again only for what changed, and survives removals."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.engine import HostOptions, Wants
from bcon_exporter.errors import ContainerNotFoundError, InvalidInputError
from bcon_exporter.model.container_facts import ContainerState, HealthStatus, HostSnapshot
from tests.docker.hosts import BY_API_ONLY, by_name, open_host, scan
from tests.waiting import wait_until

if TYPE_CHECKING:
    from bcon_exporter.engine import DockerHost
    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.contract]


def inspected(host: DockerHost) -> int:
    """How many containers (and images) were inspected so far."""
    counts = host.requests().endpoints.get("inspect")
    return counts.requests if counts else 0


@pytest.mark.same_machine
def test_an_empty_engine_gives_an_empty_snapshot(engine: TestEngine) -> None:
    with open_host(engine.host) as host:
        snapshot = scan(host, Wants(config=True))
        assert snapshot.containers == ()
        assert snapshot.unread == {}
        assert snapshot.engine is not None
        assert {network.name for network in snapshot.networks or ()} == {"bridge", "host", "none"}
        assert snapshot.volumes == ()


def test_states_exits_logs_limits_and_configuration_are_read(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "up", "-m", "64m", "--cpus", "0.5", "--restart", "always", engine.image,
                  "sh", "-c", "echo hello; sleep 600")  # fmt: skip
    engine.docker("run", "--name", "bad", engine.image, "sh", "-c", "echo dying >&2; exit 3", check=False)
    engine.docker("create", "--name", "new", engine.image)
    engine.docker("run", "-d", "--name", "halted", engine.image, "sleep", "600")
    engine.docker("pause", "halted")
    with open_host(engine.host) as host:
        snapshot = scan(host, Wants(config=True))
    written = snapshot.model_copy(update={"hidden_version": 0})  # holds in one process only
    assert HostSnapshot.model_validate_json(snapshot.model_dump_json()) == written
    found = by_name(snapshot)
    assert {name: container.state.value for name, container in found.items()} == {
        "up": "running", "bad": "exited", "new": "created", "halted": "paused"
    }  # fmt: skip
    up, bad = found["up"], found["bad"]
    assert bad.exit_code == 3
    assert bad.usage is None
    assert bad.logs is not None
    assert [(line.stream, line.text) for line in bad.logs.lines] == [("stderr", "dying")]
    assert up.logs is not None
    assert [line.text for line in up.logs.lines] == ["hello"]
    assert up.limits is not None
    assert (up.limits.memory_bytes, up.limits.cpus, up.restart_policy) == (64 * 2**20, 0.5, "always")
    assert up.usage is not None
    assert up.usage.source == "stats"
    assert up.usage.memory_usage_bytes
    assert up.config is not None
    assert up.config.image_id_of_tag == up.image_id
    assert up.config.image_fields is not None
    assert (up.unread, snapshot.incomplete) == ({}, ())


@pytest.mark.same_machine
def test_usage_comes_from_cgroup_files_where_they_can_be_read(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "busy", "--cpus", "0.2", engine.image, "sh", "-c", "while :; do :; done")
    with open_host(engine.host, HostOptions()) as host:
        snapshot = scan(host, Wants(wait_for_usage=True))
    usage = by_name(snapshot)["busy"].usage
    assert usage is not None
    assert (usage.source, usage.samples, usage.stale) == ("cgroup", 2, False)
    assert usage.cpu_ratio is not None
    assert usage.cpu_ratio > 0.3
    assert "stats" not in host.requests().endpoints


@pytest.mark.own_engine  # the counters stand in /proc of its own host
def test_network_counters_that_no_file_shows_are_asked_for_on_demand_only(engine: TestEngine) -> None:
    """The engine's processes live in a pid namespace of their own, as they do for an exporter in a container."""
    for name, network in (("bridged", "bridge"), ("hosted", "host")):
        engine.docker("run", "-d", "--name", name, "--network", network, engine.image, "sleep", "600")
    with open_host(engine.host, HostOptions()) as host:
        scheduled = by_name(scan(host))
        assert [container.usage and container.usage.network_rx_bytes for container in scheduled.values()] == [None] * 2
        assert "stats" not in host.requests().endpoints
        wanted = Wants(logs=False, wait_for_usage=True, only=tuple(each.id for each in scheduled.values()))
        asked = by_name(scan(host, wanted))
    bridged, hosted = asked["bridged"].usage, asked["hosted"].usage
    assert bridged is not None
    assert hosted is not None
    assert (bridged.source, bridged.samples) == ("cgroup", 2)
    assert isinstance(bridged.network_rx_bytes, int)
    assert isinstance(bridged.network_tx_bytes, int)
    assert hosted.network_rx_bytes is None
    assert host.requests().endpoints["stats"].requests == 1
    assert (asked["bridged"].unread, asked["hosted"].unread) == ({}, {})


@pytest.mark.same_machine
@pytest.mark.parametrize("log_files", [True, False])
def test_a_steady_scan_is_one_list_the_newest_events_and_logs_where_their_files_cannot_be_seen(
    engine: TestEngine, *, log_files: bool
) -> None:
    health = ("--health-cmd", "true", "--health-interval", "1s")
    for number in range(4):
        engine.docker("run", "-d", "--name", f"n{number}", *health[: 4 * (number % 2)], engine.image, "sleep", "600")
    with open_host(engine.host, HostOptions(heartbeat_seconds=600.0, log_files=log_files), started=True) as host:

        def are_healthy() -> bool:
            host.drain_events()
            seen = by_name(scan(host))
            healths = (seen[name].health for name in ("n1", "n3"))
            return all(health is not None and health.status is HealthStatus.HEALTHY for health in healths)

        wait_until(are_healthy, "healthy containers")
        host.drain_events()
        scan(host)
        before = {name: counts.requests for name, counts in host.requests().endpoints.items()}
        for _ in range(3):
            scan(host)
        after = {name: counts.requests for name, counts in host.requests().endpoints.items()}
    spent = {name: count - before.get(name, 0) for name, count in after.items() if count != before.get(name, 0)}
    spent.pop("stats", None)  # a thread of its own tries them now and then
    scans = {"list": 3, "events": 3}  # a scan asks for what the stream has not brought yet
    assert spent == (scans if log_files else {**scans, "logs": 12})


def test_waiting_for_usage_takes_two_samples_by_stats(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "idle", engine.image, "sleep", "600")
    with open_host(engine.host) as host:
        usage = by_name(scan(host, Wants(wait_for_usage=True)))["idle"].usage
    assert usage is not None
    assert (usage.source, usage.samples) == ("stats", 2)
    assert usage.cpu_ratio == pytest.approx(0.0, abs=0.05)


def test_only_what_changed_is_inspected_again(engine: TestEngine) -> None:
    for name in ("aa", "bb", "cc"):
        engine.docker("run", "-d", "--name", name, engine.image, "sleep", "600")
    with open_host(engine.host, started=True) as host:
        host.drain_events()
        scan(host)
        before = inspected(host)
        scan(host)
        assert inspected(host) == before
        engine.docker("update", "--memory", "32m", "--memory-swap", "32m", "bb")
        wait_until(lambda: any(event.action == "update" for event in host.drain_events().events), "the update event")
        limits = by_name(scan(host))["bb"].limits
        assert inspected(host) == before + 1
        assert limits is not None
        assert limits.memory_bytes == 32 * 2**20


def test_without_events_everything_is_inspected_each_time(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "aa", engine.image, "sleep", "600")
    with open_host(engine.host) as host:
        scan(host)
        before = inspected(host)
        scan(host)
        assert inspected(host) == before + 1


def test_configuration_is_kept_while_nothing_changes_and_follows_a_moved_tag(engine: TestEngine) -> None:
    engine.docker("tag", engine.image, "moving:1")
    engine.docker("run", "-d", "--name", "aa", "moving:1", "sleep", "600")
    with open_host(engine.host, started=True) as host:
        host.drain_events()
        first = by_name(scan(host, Wants(config=True)))["aa"].config
        engine.docker("commit", "aa", "moving:1")
        second = by_name(scan(host, Wants(config=True)))["aa"].config
        assert first is not None
        assert second is not None
        assert first.fields == second.fields
        assert first.image_id_of_tag != second.image_id_of_tag


def test_only_the_wanted_containers_are_read_and_the_others_not_forgotten(engine: TestEngine) -> None:
    for name in ("aa", "bb"):
        engine.docker("run", "-d", "--name", name, engine.image, "sleep", "600")
    with open_host(engine.host, started=True) as host:
        host.drain_events()
        scan(host)
        before = inspected(host)
        snapshot = scan(host, Wants(only=(host.resolve("aa"),)))
        assert list(by_name(snapshot)) == ["aa"]
        scan(host)
        assert inspected(host) == before
        engine.docker("update", "--cpus", "0.5", "bb")
        wait_until(lambda: any(event.action == "update" for event in host.drain_events().events), "the update event")
        scan(host, Wants(only=(host.resolve("aa"),)))
        limits = by_name(scan(host))["bb"].limits
        assert limits is not None
        assert limits.cpus == 0.5, "a scan of one container must not swallow the events of another"


def test_names_ids_and_prefixes_resolve_as_docker_resolves_them(engine: TestEngine) -> None:
    full = engine.docker("run", "-d", "--name", "webserver", engine.image, "sleep", "600")
    engine.docker("run", "-d", "--name", "database", engine.image, "sleep", "600")
    with open_host(engine.host) as host:
        assert host.resolve("webserver") == full
        assert host.resolve(full[:6]) == full
        assert host.resolve(full) == full
        with pytest.raises(ContainerNotFoundError) as missing:
            host.resolve("websever")
        assert missing.value.details["near_matches"] == ["webserver"]
        for evil in ("../images/x", "", "a/b", "x" * 1000, "a\n"):
            with pytest.raises(InvalidInputError):
                host.resolve(evil)


def test_a_new_log_line_appears_once_and_an_old_one_stays(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "talk", engine.image, "sh", "-c",
                  "echo one; while [ ! -e /go ]; do sleep 0.1; done; echo two; sleep 600")  # fmt: skip
    with open_host(engine.host, HostOptions()) as host:

        def texts() -> list[str]:
            logs = by_name(scan(host))["talk"].logs
            return [line.text for line in logs.lines] if logs else []

        wait_until(lambda: texts() == ["one"], "the first line")
        assert texts() == ["one"]
        engine.docker("exec", "talk", "touch", "/go")
        wait_until(lambda: texts() == ["one", "two"], "the second line")
        assert texts() == ["one", "two"]


def test_a_log_driver_without_reading_is_a_stated_fact_and_is_not_asked_again(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "mute", "--log-driver", "none", engine.image, "sleep", "600")
    with open_host(engine.host, HostOptions(), started=True) as host:
        host.drain_events()
        for _ in range(2):
            container = by_name(scan(host))["mute"]
            assert container.logs is None
            assert "none" in container.unread["logs"]
        assert host.requests().endpoints["logs"].requests == 1
        assert scan(host).incomplete == ()


@pytest.mark.same_machine
def test_containers_removed_while_scanning_are_skipped_and_no_scan_fails(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "stays", engine.image, "sleep", "600")
    over, seen = threading.Event(), set[str]()
    churners = [threading.Thread(target=churn_until, args=(engine, over, name)) for name in ("x1", "x2", "x3")]
    for churner in churners:
        churner.start()
    try:
        with open_host(engine.host, BY_API_ONLY, started=True) as host:
            for scans in range(200):
                if scans >= 12 and len(seen) > 3:
                    break
                snapshot = scan(host)
                seen.update(by_name(snapshot))
                assert "stays" in by_name(snapshot)
                unread = {one.name: one.unread for one in snapshot.containers if one.id in snapshot.incomplete}
                # the engine removes the log's file first: a container in removal may still be there without it
                assert all("no such file" in why.get("logs", "") for why in unread.values()), unread
                assert snapshot.unread == {}
            assert len(seen) > 3, "nothing came and went"
    finally:
        over.set()
        for churner in churners:
            churner.join(60)
    wait_until(lambda: engine.docker("ps", "-a", "--format", "{{.Names}}") == "stays", "the last ones to go")


def churn_until(engine: TestEngine, over: threading.Event, name: str) -> None:
    """Start and remove containers as fast as the engine does."""
    for number in range(1000):
        if over.is_set():
            return
        engine.docker("run", "-d", "--rm", "--name", f"{name}-{number}", engine.image, "sleep", "0.3", check=False)


def test_restarting_and_removed_states_are_told_apart(engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "loop", "--restart", "always", engine.image, "sh", "-c", "exit 1")
    with open_host(engine.host, HostOptions(), started=True) as host:
        container = wait_until(
            lambda: next((c for c in scan(host).containers if (c.restart_count or 0) > 1), None), "restarts"
        )
        assert container.state in (ContainerState.RESTARTING, ContainerState.RUNNING)
        engine.docker("rm", "-f", "loop")
        assert scan(host).containers == ()
