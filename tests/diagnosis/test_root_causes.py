"""A trouble that spreads is named once: every container that suffers from it points to the one where it began."""

from typing import Any

from bcon_exporter.diagnosis import Filter, Policy, diagnose_host, diagnose_one
from bcon_exporter.diagnosis.root_causes import find_roots
from bcon_exporter.model.container_facts import ContainerFacts, HealthStatus
from bcon_exporter.model.reports import DiagnoseAllReport
from bcon_exporter.model.thresholds import Thresholds
from tests.diagnosis.judging import shipped
from tests.factories import ago, compose, container, ended, exited, health, logs, network, probe, snapshot

OOM = ended(137, at=ago(70), oom=True)


def service(name: str, *texts: str, **facts: Any) -> ContainerFacts:
    base = {"name": f"shop-{name}-1", "compose": compose(name), "networks": (network(aliases=(name,)),)}
    return container(**{**base, "logs": logs(*texts), **facts})


def dead_db(**facts: Any) -> ContainerFacts:
    base = {"name": "shop-db-1", "compose": compose("db"), "networks": (network(aliases=("db",)),)}
    return exited(**{"exit_code": 137, **base, "exit_facts": OOM, **facts})


def sick_api() -> ContainerFacts:
    """Unhealthy, since its own check needs the database."""
    output = "dial tcp: lookup db on 127.0.0.11:53: no such host"
    probes = (probe(exit_code=1, output=output),)
    return service("api", health=health(HealthStatus.UNHEALTHY, probes=probes))


WEB = service("web", "connect to api:8080: Connection refused")


def report_of(*containers: ContainerFacts, policy: Policy | None = None) -> DiagnoseAllReport:
    return diagnose_host(snapshot(*containers), Thresholds(), shipped(), policy=policy)[0]


def test_a_chain_is_followed_to_its_end() -> None:
    report = report_of(WEB, sick_api(), dead_db())

    assert {one.container_name: one.root for one in report.reports} == {
        "shop-web-1": "shop-db-1",
        "shop-api-1": "shop-db-1",
        "shop-db-1": None,
    }
    assert report.reports[0].likely_causes[0].peer == "shop-api-1"
    assert "The root is shop-db-1" in report.reports[0].detailed_explanation


def test_the_root_is_named_once_with_what_it_explains() -> None:
    (root,) = report_of(WEB, sick_api(), dead_db()).roots

    assert (root.container_name, root.status) == ("shop-db-1", "critical")
    assert root.explains == ("shop-api-1", "shop-web-1")
    assert root.issue is not None
    assert root.issue.startswith("oom_killed: The kernel killed it")


def test_its_own_report_and_the_summaries_say_so_too() -> None:
    report = report_of(WEB, sick_api(), dead_db())

    assert report.reports[2].explains == ("shop-api-1", "shop-web-1")
    assert "explains that of shop-api-1, shop-web-1" in report.reports[2].detailed_explanation
    assert {line.container_name: line.root for line in report.summaries}["shop-web-1"] == "shop-db-1"


def test_one_container_asked_for_alone_is_told_the_same() -> None:
    host = snapshot(WEB, sick_api(), dead_db())
    alone = diagnose_one(host, WEB.id, Thresholds(), shipped())

    assert alone == diagnose_host(host, Thresholds(), shipped())[0].reports[0]


def test_two_troubles_have_two_roots_the_wider_one_first() -> None:
    mail = exited(1, name="shop-mail-1", compose=compose("mail"), networks=(network(aliases=("mail",)),))
    worker = service("worker", "connect to mail:25: Connection refused")

    roots = report_of(worker, mail, WEB, sick_api(), dead_db()).roots

    assert [root.container_name for root in roots] == ["shop-db-1", "shop-mail-1"]


def test_a_stop_that_somebody_asked_for_is_a_root_without_an_issue() -> None:
    stopped = dead_db(exit_facts=ended(0, requested=True), exit_code=0)
    (root,) = report_of(sick_api(), stopped).roots

    assert (root.status, root.issue) == ("healthy", None)


def test_a_container_that_is_not_judged_is_named_all_the_same() -> None:
    hidden = dead_db(labels={"bcon.ignore": "true"})
    (root,) = report_of(sick_api(), hidden, policy=Policy(exclude=Filter(names=("nothing",)))).roots

    assert (root.container_name, root.status, root.issue) == ("shop-db-1", None, None)


def test_a_healthy_host_has_no_roots() -> None:
    assert report_of(service("api"), service("web")).roots == ()


def test_containers_that_blame_each_other_have_no_root() -> None:
    assert find_roots({"a": "b", "b": "a"}) == {}
    assert find_roots({"c": "a", "a": "b", "b": "a"}) == {}
    assert find_roots({"a": "b", "b": "c"}) == {"a": "c", "b": "c"}
