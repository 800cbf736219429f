"""Many containers: one that hangs costs no other its facts, and what is too long is refused with its reason."""

from __future__ import annotations

import logging
import tracemalloc
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.clock import utc_now
from bcon_exporter.engine import DockerHost, Endpoint, HostOptions, Wants
from bcon_exporter.engine.containers import CONTAINERS_AT_MOST, LIST_CAP_BYTES
from bcon_exporter.errors import DockerConnectionError
from bcon_exporter.secrets.masking import Sealer
from tests.engine.fleet_engine import FleetEngine, FleetEngineProcess, id_of
from tests.table_rows import table
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from bcon_exporter.model.container_facts import HostSnapshot

STUCK = 3
MEBIBYTE = 1024 * 1024


def host_of(url: str, tmp_path: Path) -> DockerHost:
    """A host that asks the engine for everything, usage too."""
    return DockerHost(Endpoint(url), HostOptions(cgroup_root=tmp_path), Sealer.random())


def take(host: DockerHost, deadline_seconds: float = 10.0) -> HostSnapshot:
    return host.observe(utc_now(), deadline_seconds, Wants()).snapshot


@pytest.mark.slow
@pytest.mark.promise("F3")
@pytest.mark.parametrize("endpoint", ["inspect", "stats", "logs"])
def test_one_container_that_hangs_costs_no_other_its_facts(tmp_path: Path, endpoint: str) -> None:
    """The deadline is as short as the interval may make it: no longer than one request may take otherwise."""
    with (
        FleetEngine(tmp_path / "engine.sock", 40, hanging={(endpoint, STUCK)}) as engine,
        closing(host_of(engine.url, tmp_path)) as host,
    ):
        seen = take(host, deadline_seconds=HostOptions().read_timeout_seconds)

    fact = {"stats": "usage"}.get(endpoint, endpoint)
    assert len(seen.containers) == 40
    assert seen.incomplete == (id_of(STUCK),)
    assert {one.id for one in seen.containers if one.unread} == {id_of(STUCK)}
    assert "did not answer in time" in next(one.unread[fact] for one in seen.containers if one.id == id_of(STUCK))


@pytest.mark.promise("F3")
@pytest.mark.slow
@pytest.mark.parametrize("endpoint", ["inspect", "stats", "logs"])
def test_when_an_endpoint_hangs_for_all_each_container_is_told_to_lack_it(tmp_path: Path, endpoint: str) -> None:
    with (
        FleetEngine(tmp_path / "engine.sock", 60, hanging={(endpoint, None)}) as engine,
        closing(host_of(engine.url, tmp_path)) as host,
    ):
        seen = take(host, deadline_seconds=2.0)

    fact = {"stats": "usage"}.get(endpoint, endpoint)
    assert len(seen.incomplete) == 60
    assert all("did not answer in time" in one.unread[fact] for one in seen.containers)


@pytest.mark.promise("F19")
@table("status", [401, 403, 405, 501])
@table("endpoint", ["inspect", "stats", "logs"])
def test_what_a_proxy_refuses_is_told_once_and_asked_once_an_interval_until_it_is_allowed_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, endpoint: str, status: int
) -> None:
    caplog.set_level(logging.INFO, "bcon_exporter.engine.endpoint_health")
    with (
        FleetEngine(tmp_path / "engine.sock", 20, refused={endpoint: status}) as engine,
        closing(host_of(engine.url, tmp_path)) as host,
    ):
        host.set_probe_interval(3600)
        fact = {"stats": "usage"}.get(endpoint, endpoint)
        asked = []
        for _ in range(3):
            seen = take(host)
            asked.append(engine.requests[endpoint])
            assert {f"HTTP {status}" in one.unread[fact] for one in seen.containers} == {True}
            assert host.endpoints_up() == dict.fromkeys(("list", "inspect", "stats", "logs", "events"), True) | {
                endpoint: False
            }
        host.set_probe_interval(0)
        take(host)
        asked.append(engine.requests[endpoint])
        engine.refused.clear()
        seen = take(host)
        asked.append(engine.requests[endpoint])

    assert asked == [20, 20, 20, 21, 41]
    assert all(fact not in one.unread for one in seen.containers)
    assert host.endpoints_up()[endpoint]
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert f"HTTP {status}" in caplog.records[0].getMessage()


@pytest.mark.promise("F19")
@pytest.mark.parametrize("status", [403, 405])
def test_events_that_a_proxy_refuses_are_told_once_and_asked_for_seldom(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    options = HostOptions(probe_interval_seconds=3600, heartbeat_seconds=0.05)
    with (
        FleetEngine(tmp_path / "engine.sock", 2, refused={"events": status}) as engine,
        closing(DockerHost(Endpoint(engine.url), options, Sealer.random())) as host,
    ):
        host.start()
        take(host)
        wait_until(lambda: not host.endpoints_up()["events"], "the refusal")
        pings = engine.requests["ping"]
        wait_until(lambda: engine.requests["ping"] > pings + 10, "some heartbeats to pass")
        asked, is_up = engine.requests["events"], host.is_up()

    assert (asked, is_up) == (1, True), "a stream that ended would be opened anew ever and again"
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_events_that_a_proxy_allows_again_are_followed(tmp_path: Path) -> None:
    options = HostOptions(probe_interval_seconds=0.2)
    with (
        FleetEngine(tmp_path / "engine.sock", 2, refused={"events": 403}) as engine,
        closing(DockerHost(Endpoint(engine.url), options, Sealer.random())) as host,
    ):
        host.start()
        take(host)
        wait_until(lambda: not host.endpoints_up()["events"], "the refusal")
        engine.refused.clear()
        wait_until(lambda: host.endpoints_up()["events"], "events to be followed")


def test_a_list_of_too_many_bytes_is_refused_with_its_reason(tmp_path: Path) -> None:
    with (
        FleetEngine(tmp_path / "engine.sock", 35, padding=MEBIBYTE) as engine,
        closing(host_of(engine.url, tmp_path)) as host,
        pytest.raises(DockerConnectionError) as caught,
    ):
        take(host)

    assert "lists more than 32 MiB; are there huge labels?" in caught.value.message


def test_a_list_of_too_many_containers_is_refused_with_its_reason(tmp_path: Path) -> None:
    with (
        FleetEngine(tmp_path / "engine.sock", CONTAINERS_AT_MOST + 1) as engine,
        closing(host_of(engine.url, tmp_path)) as host,
        pytest.raises(DockerConnectionError) as caught,
    ):
        take(host)

    assert "lists more than 10000 containers" in caught.value.message


@pytest.mark.integration
def test_the_longest_list_is_never_held_more_often_than_three_times(tmp_path: Path) -> None:
    """The engine is a process of its own: its memory is not ours."""
    with (
        FleetEngineProcess(tmp_path / "engine.sock", 31, padding=MEBIBYTE) as engine,
        closing(host_of(engine.url, tmp_path)) as host,
    ):
        tracemalloc.start()
        try:
            seen = take(host)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert len(seen.containers) == 31
    assert peak < 3 * LIST_CAP_BYTES
