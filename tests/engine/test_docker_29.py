"""Promise: of Docker 29, as its API is published, the same facts are read as of the engine that was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.clock import utc_now
from bcon_exporter.engine import DockerHost, Endpoint, HostOptions, Wants
from bcon_exporter.engine.parse import parse_container, parse_engine, parse_event, parse_stored_data
from bcon_exporter.secrets.masking import Sealer
from tests.engine.docker_29 import Docker29, answer_of_29, as_docker_29
from tests.factories import NOON
from tests.golden.engine import RecordedEngine
from tests.golden.recording import list_hosts, read_host

if TYPE_CHECKING:
    from pathlib import Path

    from bcon_exporter.model.container_facts import HostSnapshot

HOSTS = ("shop-drifting", "scenarios")


@pytest.mark.parametrize("name", list_hosts())
def test_every_answer_gives_the_facts_that_it_gave(name: str) -> None:
    host = read_host(name)
    for moment in host.moments:
        new = {path: answer_of_29(path, answer) for path, answer in moment.answers.items()}
        for old_entry, new_entry in zip(moment.answers["/containers/json"], new["/containers/json"], strict=True):
            path = f"/containers/{old_entry['Id']}/json"
            assert facts_of(new_entry, new.get(path)) == facts_of(old_entry, moment.answers.get(path))
        usage = [parse_stored_data(answers["/system/df"], NOON, 1.0) for answers in (moment.answers, new)]
        assert usage[0] == usage[1] is not None
        engine = parse_engine(new["/info"], new["/version"])
        assert (engine.api_version, engine.storage_driver) == ("1.57", "overlayfs")
    assert [parse_event(event) for event in as_docker_29(host).events] == [parse_event(event) for event in host.events]


def facts_of(listed: Any, inspected: Any) -> Any:
    """What is read of a container, but for the short id among the names, which Docker 29 tells elsewhere."""
    facts = parse_container(listed, inspected)
    assert facts is not None
    bare = [
        one.model_copy(update={"aliases": tuple(alias for alias in one.aliases if alias != facts.short_id)})
        for one in facts.networks
    ]
    return facts.model_copy(update={"networks": tuple(bare)})


@pytest.mark.integration
@pytest.mark.parametrize("name", HOSTS)
def test_a_host_of_docker_29_is_read_as_the_recorded_one(name: str, tmp_path: Path) -> None:
    host = read_host(name)
    with RecordedEngine(host, tmp_path / "old.sock") as old, Docker29(as_docker_29(host), tmp_path / "new.sock") as new:
        before, after = read(old.host), read(new.host)
    assert after.engine is not None
    assert (after.engine.server_version, after.incomplete) == ("29.10.0", before.incomplete)
    assert [one.name for one in after.containers] == [one.name for one in before.containers]
    for one, other in zip(after.containers, before.containers, strict=True):
        assert one.model_copy(update={"networks": other.networks}) == other
    assert (after.networks, after.volumes, after.unread) == (before.networks, before.volumes, before.unread)


def read(url: str) -> HostSnapshot:
    """One snapshot of a host, by the API alone."""
    options = HostOptions(log_files=False, probe_interval_seconds=0.0)
    host = DockerHost(Endpoint(url), options, Sealer(b"0123456789abcdef"))
    try:
        return host.observe(utc_now(), 30.0, Wants(usage=False, config=True)).snapshot
    finally:
        host.close()
