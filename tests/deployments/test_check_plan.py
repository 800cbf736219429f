"""Promise: the plan knows who is replaced with another one: and who is restarted in a network made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bcon_exporter.deployments.check import make_plan
from bcon_exporter.model.check_report import CheckInput
from bcon_exporter.model.container_facts import NetworkFacts, VolumeFacts
from bcon_exporter.model.deployment import Dependency, WantedDeployment, WantedNetwork, WantedService, WantedVolume
from tests.drift.builders import project, replica, service
from tests.factories import snapshot

if TYPE_CHECKING:
    from bcon_exporter.model.desired import DesiredService

NETWORK = NetworkFacts(
    id="n",
    name="shop_default",
    driver="bridge",
    labels={
        "com.docker.compose.project": "shop",
        "com.docker.compose.config-hash": "old",
        "com.docker.compose.version": "5.6.1",
    },
)
VOLUME = VolumeFacts(name="shop_data", driver="local", labels=NETWORK.labels)


def plan(
    *services: DesiredService,
    joins: dict[str, tuple[str, ...]] | None = None,
    made: tuple[str, ...] = (),
    restarts: dict[str, str] | None = None,
    **hashes: str,
) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Service → action and why, of services that run but for those that are to be made; `hashes` of a resource."""
    names = [one.name for one in services]
    wanted = WantedDeployment(
        project="shop",
        services=tuple(
            WantedService(
                name=name,
                networks=("default",),
                joins=(joins or {}).get(name, ()),
                depends_on=tuple(
                    Dependency(service=other, condition="service_started", restarts=True)
                    for who, other in (restarts or {}).items()
                    if who == name
                ),
            )
            for name in names
        ),
        networks=(WantedNetwork(key="default", name="shop_default"),),
        volumes=(WantedVolume(key="data", name="shop_data"),),
    )
    desired = project(
        *services,
        network_hashes={"shop_default": hashes["network"]} if "network" in hashes else {},
        volume_hashes={"shop_data": hashes["volume"]} if "volume" in hashes else {},
    )
    containers = [replica(name) for name in names if name not in made]
    facts = snapshot(*containers, networks=(NETWORK,), volumes=(VOLUME,))
    given = CheckInput(snapshot=facts, deployment=wanted, desired=desired)
    return {step.service: (step.action, step.why) for step in make_plan(given)}


def changed(name: str) -> DesiredService:
    return service(name, image="app:2", config_hash="h2")


def test_who_shares_a_namespace_is_replaced_with_its_owner() -> None:
    told = plan(
        changed("vpn"), service("app"), service("log"), service("web"), joins={"app": ("vpn",), "log": ("app",)}
    )
    assert {name: action for name, (action, _) in told.items()} == {
        "vpn": "recreate",
        "app": "recreate",
        "log": "recreate",
        "web": "leave",
    }
    assert told["log"][1] == ("shares with app",)


def test_who_shares_with_one_that_is_made_is_replaced_too() -> None:
    told = plan(service("vpn"), service("app"), joins={"app": ("vpn",)}, made=("vpn",))
    assert {name: action for name, (action, _) in told.items()} == {"vpn": "create", "app": "recreate"}


def test_who_shares_with_one_that_stays_stays() -> None:
    told = plan(service("vpn"), service("app"), changed("web"), joins={"app": ("vpn",)})
    assert told["app"] == ("leave", ())


def test_two_that_share_with_each_other_end() -> None:
    told = plan(service("a"), service("b"), joins={"a": ("b",), "b": ("a",)})
    assert {action for action, _ in told.values()} == {"leave"}


def test_all_on_a_network_that_is_made_anew_are_restarted() -> None:
    told = plan(service("a"), service("b"), network="new")
    assert told == dict.fromkeys(("a", "b"), ("restart", ("networks.shop_default",)))
    assert {action for action, _ in plan(service("a"), network="old").values()} == {"leave"}


def test_who_is_to_be_restarted_with_what_it_depends_on_is() -> None:
    told = plan(changed("db"), service("web"), service("job"), restarts={"web": "db"})
    assert {name: action for name, (action, _) in told.items()} == {"db": "recreate", "web": "restart", "job": "leave"}
    assert plan(service("db"), service("web"), restarts={"web": "db"})["web"] == ("leave", ())


def test_a_volume_stays_as_it_was_made() -> None:
    assert plan(service("a"), volume="new") == {"a": ("leave", ())}
