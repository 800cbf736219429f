"""Promise: restart_service never restarts; its refusal says what would change, and whether it would help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.model.container_facts import ConfigFacts, ContainerState, Limits, Mount
from bcon_exporter.model.desired import FieldValue
from bcon_exporter.model.wiring import Wiring
from bcon_exporter.tools import call_tool
from tests.factories import ago, compose, container, ended, exited, full_id, snapshot
from tests.tools.hosts import context_of

if TYPE_CHECKING:
    from bcon_exporter.model.container_facts import ContainerFacts


def refuse(service: str, *containers: ContainerFacts) -> dict[str, Any]:
    answer = call_tool(context_of(snapshot(*containers)), "restart_service", {"service": service}).data()
    error: dict[str, Any] = answer["error"]
    return error


def test_it_is_denied_with_what_it_would_do_and_whether_that_helps() -> None:
    end = ended(137, at=ago(60), oom=True)
    db = exited(
        137,
        name="shop-db-1",
        image_id="sha256:" + "a" * 64,
        exit_facts=end,
        oom_killed=True,
        limits=Limits(memory_bytes=16 * 2**20),
    )
    error = refuse("shop-db-1", db)
    details = error["details"]
    assert (error["code"], details["reason"], details["helps"]) == ("permission_denied", "level_1", False)
    assert details["would"] == "start shop-db-1; id, image, configuration and volumes stay"
    assert "same limit of 16" in details["why"]
    assert details["command"] == ["docker", "restart", "shop-db-1"]
    assert details["instead"] == {"tool": "diagnose_container", "arguments": {"container_id": "shop-db-1"}}
    assert details["effects"]["containers"][0]["image_id"] == "a" * 12
    assert details["effects"]["away"] == []


def test_how_it_would_be_stopped_and_what_it_would_lose_is_told() -> None:
    fields = {"stop_grace_period": FieldValue("3s", "")}
    facts = container(
        stop_signal="SIGQUIT",
        config=ConfigFacts(fields=fields),
        mounts=(
            Mount(type="tmpfs", source="", target="/scratch"),
            Mount(type="volume", source="v", target="/data"),
        ),
    )
    details = refuse("api", facts)["details"]
    assert details["would"].startswith("stop api (SIGQUIT, killed after 3 s) and start it again")
    assert details["effects"]["containers"][0]["loses"] == ["/scratch"]
    assert details["effects"]["away"] == ["api"]


def test_who_shares_its_network_and_who_depends_on_it_is_named() -> None:
    vpn = container(name="shop-vpn-1", compose=compose("vpn"))
    joined = container(name="shop-app-1", wiring=Wiring(network_mode=f"container:{vpn.id}"), compose=compose("app"))
    waits = container(name="shop-web-1", compose=compose("web", depends_on="vpn:service_started:false"))
    details = refuse("vpn", vpn, joined, waits)["details"]
    assert details["effects"]["loses_network"] == ["shop-app-1"]
    assert details["effects"]["depending"] == ["shop-web-1"]
    assert "shop-app-1 would have no network" in details["would"]


@pytest.mark.parametrize("service", ["web", "web.service"])
def test_a_service_means_all_its_containers(service: str) -> None:
    replicas = [container(name=f"shop-web-{n}", compose=compose("web", number=n)) for n in (1, 2)]
    details = refuse(service, *replicas)["details"]
    assert details["command"] == ["docker", "restart", "shop-web-1", "shop-web-2"]
    assert details["helps"] is False


def test_a_service_of_several_projects_must_be_named_by_its_container() -> None:
    twins = [container(name=f"{project}-web-1", compose=compose("web", project)) for project in ("a", "b")]
    error = refuse("web", *twins)
    assert (error["code"], error["details"]["containers"]) == ("invalid_input", ["a-web-1", "b-web-1"])


def test_an_id_means_its_container() -> None:
    assert refuse(full_id("api")[:12], container())["details"]["command"][-1] == "api"


def test_what_is_not_there_is_not_found() -> None:
    error = refuse("shop-bd-1", container(name="shop-db-1"))
    assert (error["code"], error["details"]["near_matches"]) == ("container_not_found", ["shop-db-1"])


def test_one_that_is_being_removed_would_not_be_touched() -> None:
    details = refuse("api", container(state=ContainerState.REMOVING))["details"]
    assert details["effects"]["containers"][0]["action"] == "none"
    assert details["would"].startswith("do nothing")
