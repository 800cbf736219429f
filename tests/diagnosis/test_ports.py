"""A port that is in use has a holder: another container, the host, or the container itself."""

from typing import Any

import pytest

from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import LikelyCause
from bcon_exporter.model.wiring import Wiring
from tests.diagnosis.judging import diagnose
from tests.factories import container, exited, logs

WEB = "driver failed programming external connectivity on endpoint web (9d70c8): "
ALLOCATED = WEB + "Bind for {} failed: port is already allocated"
PROXY = WEB + "Error starting userland proxy: listen {} {}: bind: address already in use"


def refused(error: str, **published: str) -> ContainerFacts:
    wiring = Wiring(network_mode="bridge", published={k.replace("_", "/"): v for k, v in published.items()})
    base: dict[str, Any] = {"state": ContainerState.CREATED, "started_at": None, "usage": None, "exit_code": 128}
    return container(name="web", error=error, wiring=wiring, **base)


def holder(bound: str = "8080", inner: str = "80/tcp", **facts: Any) -> ContainerFacts:
    return container(**{"name": "old-web", "ports": {inner: bound}, **facts})


def top(facts: ContainerFacts, *others: ContainerFacts) -> LikelyCause:
    return diagnose(facts, *others).likely_causes[0]


def test_the_container_that_publishes_the_port_is_named() -> None:
    cause = top(refused(ALLOCATED.format("0.0.0.0:8080")), holder())

    assert (cause.id, cause.peer) == ("port_held_by_container", "old-web")
    assert cause.description == "Port 8080/tcp of the host is published by old-web already."


@pytest.mark.parametrize(
    ("error", "bound"),
    [
        (ALLOCATED.format("127.0.0.1:8080"), "127.0.0.1:8080"),
        (ALLOCATED.format("127.0.0.1:8080"), "8080"),
        (ALLOCATED.format("0.0.0.0:8080"), "127.0.0.1:8080"),
        (ALLOCATED.format("[::]:8080"), "8080"),
        (PROXY.format("tcp4", "0.0.0.0:8080"), "9090, 8080"),
        ("failed to bind host port for 0.0.0.0:8080:172.17.0.2:80/tcp: address already in use", "8080"),
    ],
)
def test_addresses_collide_when_equal_or_all(error: str, bound: str) -> None:
    assert top(refused(error), holder(bound)).peer == "old-web"


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(holder("8081"), id="another-port"),
        pytest.param(holder("192.0.2.5:8080"), id="another-address"),
        pytest.param(holder(inner="80/udp"), id="another-protocol"),
        pytest.param(
            container(name="old-web", ports={"80/udp": "8080", "80/tcp": "192.0.2.5:8080"}), id="each-a-bit-of-it"
        ),
        pytest.param(exited(0, name="old-web", wiring=Wiring(published={"80/tcp": "8080"})), id="does-not-run"),
        pytest.param(holder(None, inner="8080/tcp"), id="only-exposed"),  # type: ignore[arg-type]
    ],
)
def test_nobody_else_is_taken_for_the_holder(other: ContainerFacts) -> None:
    cause = top(refused(ALLOCATED.format("127.0.0.1:8080")), other)

    assert (cause.id, cause.peer) == ("port_held_by_host", None)


def test_udp_is_told_by_the_message_or_by_the_containers_own_ports() -> None:
    udp = holder("53", inner="53/udp")

    assert top(refused(PROXY.format("udp4", "0.0.0.0:53")), udp).peer == "old-web"
    assert top(refused(ALLOCATED.format("0.0.0.0:53"), **{"53_udp": "53"}), udp).peer == "old-web"


def test_a_message_without_a_port_leaves_the_one_that_it_publishes() -> None:
    cause = top(refused("ports are not available", **{"80_tcp": "8080"}), holder())

    assert cause.peer == "old-web"


class TestInside:
    """The program itself could not listen: who shares its network decides who may hold the port."""

    LOG = "nginx: [emerg] bind() to 0.0.0.0:8080 failed (98: Address already in use)"

    def failing(self, mode: str) -> ContainerFacts:
        return exited(1, name="web", logs=logs(self.LOG), wiring=Wiring(network_mode=mode))

    def test_in_a_network_of_its_own_it_is_the_container_itself(self) -> None:
        cause = top(self.failing("shop_default"), holder())

        assert (cause.id, cause.peer) == ("port_taken_inside", None)
        assert "port 8080" in cause.description

    def test_in_a_shared_one_it_is_the_neighbour_that_names_the_port(self) -> None:
        vpn = container(name="vpn")
        other = container(name="ui", wiring=Wiring(network_mode=f"container:{vpn.id}"), ports={"8080/tcp": None})

        assert top(self.failing(f"container:{vpn.id}"), vpn, other).peer == "ui"

    def test_on_the_hosts_network_it_is_who_publishes_it(self) -> None:
        assert top(self.failing("host"), holder("8080", inner="8080/tcp")).peer == "old-web"

    def test_unknown_wiring_names_nobody(self) -> None:
        facts = exited(1, name="web", logs=logs(self.LOG))

        assert top(facts, holder()).id == "port_taken"
