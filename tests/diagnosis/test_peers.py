"""A failed connection leads to the container at its other end."""

from typing import Any

from bcon_exporter.diagnosis.peers import host_of
from bcon_exporter.model.facts import ContainerFacts, HealthStatus
from bcon_exporter.model.findings import LikelyCause
from tests.diagnosis.judging import diagnose
from tests.factories import compose, container, exited, health, logs, network

NO_HOST = "dial tcp: lookup db on 127.0.0.11:53: no such host"
REFUSED = "dial tcp 172.18.0.3:5432: connect: connection refused"


def app(text: str, **facts: Any) -> ContainerFacts:
    base = {"name": "shop-app-1", "compose": compose("app"), "networks": (network(),), "logs": logs(text)}
    return container(**{**base, **facts})


def top(asking: ContainerFacts, *others: ContainerFacts) -> LikelyCause:
    return diagnose(asking, *others).likely_causes[0]


def test_a_service_of_the_project_that_has_exited_is_the_cause() -> None:
    db = exited(1, name="shop-db-1", compose=compose("db"), networks=(network(),))

    cause = top(app(NO_HOST), db)

    assert (cause.id, cause.peer) == ("dependency_down", "shop-db-1")
    assert "exited with code 1" in cause.description


def test_a_same_named_service_of_another_project_is_not() -> None:
    other = exited(1, name="blog-db-1", compose=compose("db", "blog"), networks=(network("blog_default"),))

    assert top(app(NO_HOST), other).id != "dependency_down"


def test_an_address_leads_to_its_container() -> None:
    db = exited(137, name="shop-db-1", networks=(network(ip="172.18.0.3"),))

    assert top(app(REFUSED), db).peer == "shop-db-1"


def test_an_unhealthy_peer_is_named() -> None:
    db = container(
        name="shop-db-1", networks=(network(aliases=("db",), ip="172.18.0.3"),), health=health(HealthStatus.UNHEALTHY)
    )

    assert top(app(REFUSED), db).id == "dependency_unhealthy"


def test_a_peer_on_another_network_is_no_shared_network() -> None:
    db = container(name="db", networks=(network("other"),))

    assert top(app(NO_HOST), db).id == "no_shared_network"


def test_one_healthy_replica_is_enough() -> None:
    down = exited(1, name="shop-db-1", compose=compose("db"), networks=(network(),))
    up = container(name="shop-db-2", compose=compose("db", number=2), networks=(network(),))

    assert top(app(NO_HOST), down, up).id != "dependency_down"


def test_localhost_is_the_container_itself() -> None:
    assert top(app("Error: connect ECONNREFUSED 127.0.0.1:6379")).id == "localhost_in_container"


def test_without_a_named_peer_the_declared_dependencies_are_looked_at() -> None:
    db = exited(1, name="shop-db-1", compose=compose("db"))
    asking = app("ERROR Connection refused", compose=compose("app", depends_on="db:service_started:false"))

    cause = next(cause for cause in diagnose(asking, db).likely_causes if cause.id == "dependency_down")

    assert cause.peer == "shop-db-1"
    assert cause.confidence < 0.7


def test_host_of_an_address() -> None:
    cases = {"db:5432": "db", "db": "db", "user@queue:5672": "queue", "[::1]:80": "::1", "10.0.0.1:1": "10.0.0.1"}

    assert {peer: host_of(peer) for peer in cases} == cases
