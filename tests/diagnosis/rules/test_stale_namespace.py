"""stale_namespace: who shares the namespace of a container that was started again is cut off until it is restarted."""

from __future__ import annotations

from typing import Any

import pytest

from bcon_exporter.diagnosis.rules.stale_namespace import RULE
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, EngineFacts
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.wiring import Wiring
from tests.diagnosis.judging import diagnose, severity
from tests.factories import ago, container
from tests.table_rows import table


def owner(started: float, **facts: Any) -> ContainerFacts:
    return container(name="vpn", started_at=ago(started), **facts)


def sharing(other: str, started: float = 600, kind: str = "network_mode", **facts: Any) -> ContainerFacts:
    wiring = Wiring.model_validate({kind: f"container:{other}"})
    return container(name="torrent", started_at=ago(started), wiring=wiring, **facts)


@pytest.mark.parametrize("kind", ["network_mode", "ipc_mode", "pid_mode"])
@pytest.mark.parametrize("by", ["name", "id"])
@pytest.mark.parametrize(
    ("later", "expected"), [(-5.0, None), (0.1, None), (0.2, Severity.ERROR), (500, Severity.ERROR)]
)
def test_one_whose_owner_was_started_after_it_is_cut_off(
    kind: str, by: str, later: float, expected: Severity | None
) -> None:
    vpn = owner(600 - later)
    client = sharing(getattr(vpn, by), kind=kind)
    assert severity(RULE, client, host={"containers": (vpn, client)}) is expected


def test_its_first_step_is_to_restart_it() -> None:
    vpn = owner(60)
    report = diagnose(sharing(vpn.id), vpn)
    assert report.status == "error"
    assert "It runs in the network of an earlier start of vpn: that one was started again after it." in (
        report.symptoms[0].description
    )
    assert report.likely_causes[0].id == "namespace_gone"
    assert report.likely_causes[0].peer == "vpn"
    assert report.suggestions[0].action.startswith("Restart it")


@pytest.mark.parametrize(
    ("kind", "state", "expected"),
    [
        ("network_mode", ContainerState.EXITED, Severity.ERROR),
        ("network_mode", ContainerState.RESTARTING, Severity.ERROR),
        ("network_mode", ContainerState.PAUSED, None),
        ("ipc_mode", ContainerState.EXITED, None),
    ],
)
def test_a_network_goes_with_its_owner_and_an_ipc_namespace_stays(
    kind: str, state: ContainerState, expected: Severity | None
) -> None:
    vpn = owner(700, state=state)
    client = sharing("vpn", kind=kind)
    assert severity(RULE, client, host={"containers": (vpn, client)}) is expected


GONE = sharing("f" * 64)
DOCKER, PODMAN = (
    EngineFacts(name="h", server_version="28.5.2", api_version="1.51", is_podman=is_podman)
    for is_podman in (False, True)
)


@table(
    ("host", "expected"),
    [
        ({"engine": DOCKER}, Severity.ERROR),
        ({"engine": DOCKER, "partial": True}, None),
        ({"engine": PODMAN}, None),
        ({}, None),
    ],
)
def test_an_owner_that_was_removed_is_told_where_the_engine_lists_all(
    host: dict[str, Any], expected: Severity | None
) -> None:
    """Podman hides the container that holds a pod together."""
    assert severity(RULE, GONE, host={"containers": (GONE,), **host}) is expected
    ipc = sharing("f" * 64, kind="ipc_mode")
    assert severity(RULE, ipc, host={"containers": (ipc,), **host}) is None


@pytest.mark.parametrize("mode", ["bridge", "host", "none", "shop_default", ""])
def test_who_has_a_network_of_its_own_is_well(mode: str) -> None:
    client = container(wiring=Wiring(network_mode=mode))
    assert severity(RULE, client) is None


def test_what_is_not_known_to_share_one_is_well() -> None:
    assert severity(RULE, container(wiring=None)) is None
