"""A failed connection leads to the container at its other end, and only to that one."""

from typing import Any

import pytest

from bcon_exporter.diagnosis.container_lookup import host_of, port_of
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.findings import LikelyCause
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.model.wiring import Wiring
from tests.diagnosis.judging import diagnose
from tests.factories import (
    ago,
    compose,
    container,
    ended,
    exited,
    health,
    lifecycle,
    line,
    logs,
    looping,
    network,
    probe,
    usage,
)

NO_HOST = "dial tcp: lookup db on 127.0.0.11:53: no such host"
REFUSED = "dial tcp 172.18.0.3:5432: connect: connection refused"
REFUSED_BY_NAME = "connect to db:5432: Connection refused"
SILENT = "dial tcp 172.18.0.3:5432: i/o timeout"
RESET = "read tcp 172.18.0.2:5000->172.18.0.3:5432: read: connection reset by peer"
DB: dict[str, Any] = {
    "name": "shop-db-1",
    "compose": compose("db"),
    "networks": (network(ip="172.18.0.3", aliases=("db", "shop-db-1")),),
    "ports": {"5432/tcp": None},
}


def app(*texts: str, seconds_ago: float = 30, **facts: Any) -> ContainerFacts:
    base = {"name": "shop-app-1", "compose": compose("app"), "networks": (network(ip="172.18.0.2"),)}
    return container(**{**base, "logs": logs(*texts, at=ago(seconds_ago)), **facts})


def down(code: int = 1, **facts: Any) -> ContainerFacts:
    return exited(code, **{**DB, **facts})


def top(asking: ContainerFacts, *others: ContainerFacts) -> LikelyCause:
    return diagnose(asking, *others).likely_causes[0]


def causes(asking: ContainerFacts, *others: ContainerFacts) -> dict[str, LikelyCause]:
    return {cause.id: cause for cause in diagnose(asking, *others).likely_causes}


def blames_a_container(report: DiagnosisReport) -> bool:
    return report.root is not None or any(cause.id.startswith("dependency") for cause in report.likely_causes)


def takes_for_named(report: DiagnosisReport) -> bool:
    """Whether a container is blamed as surely as one that the log names."""
    return any(cause.id.startswith("dependency") and cause.confidence > 0.7 for cause in report.likely_causes)


class TestThePeerIsAway:
    """The container that is named does not run: how it went is said, and when."""

    def test_a_service_of_the_project_that_has_exited_is_the_cause(self) -> None:
        cause = top(app(NO_HOST), down())

        assert (cause.id, cause.peer) == ("dependency_down", "shop-db-1")
        assert cause.description == "shop-db-1, which it connects to, exited with code 1 30 s before."

    def test_an_oom_kill_is_named_as_one(self) -> None:
        db = down(137, exit_facts=ended(137, at=ago(70), oom=True))

        assert top(app(REFUSED_BY_NAME), db).description.endswith("was OOM-killed 40 s before.")

    def test_a_probable_one_too(self) -> None:
        limited = {"limits": {"memory_bytes": 2**26}}
        db = ContainerFacts.model_validate({**down(137).model_dump(), **limited})

        assert "was probably OOM-killed" in top(app(NO_HOST), db).description

    def test_a_requested_stop_is_no_crash(self) -> None:
        db = down(0, exit_facts=ended(0, requested=True))

        cause = top(app(NO_HOST), db)

        assert cause.id == "dependency_stopped"
        assert "was stopped on request" in cause.description

    def test_nor_is_the_engines_shutdown(self) -> None:
        db = down(255, exit_facts=ended(255, shutdown=True))

        assert "ended with the engine or its host" in top(app(NO_HOST), db).description

    def test_one_that_the_engine_refused_to_start(self) -> None:
        db = container(
            **DB, state=ContainerState.CREATED, started_at=None, usage=None, exit_code=128, error="network x"
        )

        cause = top(app(NO_HOST), db)

        assert "could not be started by the engine" in cause.description
        assert "network x" in cause.evidence

    def test_one_that_nobody_has_started(self) -> None:
        db = container(**DB, state=ContainerState.CREATED, started_at=None, usage=None)

        assert "was created but never started" in top(app(NO_HOST), db).description

    def test_one_that_is_paused_answers_nobody(self) -> None:
        db = container(**DB, state=ContainerState.PAUSED, lifecycle=lifecycle(paused_at=ago(minutes=5)))

        cause = top(app(SILENT), db)

        assert (cause.id, cause.peer) == ("dependency_paused", "shop-db-1")
        assert "300 s" in cause.description or "5 min" in cause.description

    @pytest.mark.parametrize("state", [ContainerState.RESTARTING, ContainerState.RUNNING])
    def test_one_that_loops_in_whatever_state_it_is_caught(self, state: ContainerState) -> None:
        db = container(**DB, state=state, exit_code=1, lifecycle=looping(), started_at=ago(3))

        assert top(app(REFUSED), db).id == "dependency_restarting"

    def test_one_that_went_after_the_newest_failure_is_blamed_less(self) -> None:
        before, after = down(seconds_ago=40), down(seconds_ago=20)

        assert causes(app(NO_HOST), before)["dependency_down"].confidence > 0.9
        assert causes(app(NO_HOST), after)["dependency_down"].confidence < 0.5

    def test_its_last_words_are_evidence(self) -> None:
        db = down(exit_facts=ended(1, last_lines=("starting", "FATAL: could not open file")))

        assert "FATAL: could not open file" in top(app(NO_HOST), db).evidence


class TestThePeerRuns:
    """It is there: what it was like when the connections failed decides."""

    def test_a_healthy_peer_is_not_blamed(self) -> None:
        db = container(**DB, health=health())

        assert not blames_a_container(diagnose(app(REFUSED), db))

    def test_an_unhealthy_one_is_with_what_its_probe_said(self) -> None:
        sick = health(HealthStatus.UNHEALTHY, probes=(probe(exit_code=1, output="no response"),))

        cause = top(app(REFUSED), container(**DB, health=sick))

        assert (cause.id, cause.evidence[0]) == ("dependency_unhealthy", "no response")

    def test_one_that_was_away_meanwhile_and_is_back(self) -> None:
        past = lifecycle(exits=(ended(137, at=ago(45), oom=True),))
        db = container(**DB, started_at=ago(20), lifecycle=past)

        cause = top(app(RESET.replace("reset by peer", "refused"), REFUSED), db)

        assert cause.id == "dependency_restarted"
        assert "was OOM-killed 15 s before" in cause.description

    def test_a_restart_on_request_is_told_as_such(self) -> None:
        db = container(**DB, started_at=ago(25), lifecycle=lifecycle(exits=(ended(0, at=ago(31), requested=True),)))

        assert "was restarted on request" in top(app(REFUSED), db).description

    def test_a_crash_of_long_before_or_after_explains_nothing(self) -> None:
        for crashed, started in ((3000, 2990), (20, 10)):
            db = container(**DB, started_at=ago(started), lifecycle=lifecycle(exits=(ended(1, at=ago(crashed)),)))
            assert "dependency_restarted" not in causes(app(REFUSED), db)

    def test_one_that_was_started_only_after_the_first_failure(self) -> None:
        asking = app(line(REFUSED, at=ago(90)).text, logs=logs(line(REFUSED, at=ago(90)), line(REFUSED, at=ago(60))))
        db = container(**DB, created_at=ago(50), started_at=ago(50))

        cause = top(asking, db)

        assert cause.id == "dependency_starting"
        assert "40 s after the first failure" in cause.description

    @pytest.mark.parametrize(("after", "expected"), [(60, True), (61, False)])
    def test_one_that_had_only_just_been_started_may_not_listen_yet(self, after: float, expected: bool) -> None:
        db = container(**DB, started_at=ago(30 + after))

        assert ("dependency_starting" in causes(app(REFUSED), db)) is expected

    @pytest.mark.parametrize(("ratio", "expected"), [(0.9, False), (0.91, True)])
    def test_one_without_cpu_left_is_slow_to_answer(self, ratio: float, expected: bool) -> None:
        db = container(**DB, usage=usage(cpu_ratio=ratio))

        assert ("dependency_overloaded" in causes(app(SILENT), db)) is expected

    def test_one_with_a_trouble_of_its_own(self) -> None:
        db = container(**DB, logs=logs("PANIC: could not write to file: No space left on device"))

        cause = causes(app(SILENT), db)["dependency_ailing"]

        assert "disk_pressure" in cause.description

    def test_one_healthy_replica_is_enough(self) -> None:
        up = container(**{**DB, "name": "shop-db-2", "compose": compose("db", number=2)})

        assert not blames_a_container(diagnose(app(NO_HOST), down(), up))


class TestWhoIsMeant:
    """Names and addresses mean what Docker resolves them to, seen from the container that asks."""

    def test_an_address_leads_to_its_container(self) -> None:
        assert top(app(REFUSED), down(137)).peer == "shop-db-1"

    def test_the_same_address_on_another_network_does_not(self) -> None:
        other = down(networks=(network("blog_default", ip="172.18.0.3"),))

        assert not blames_a_container(diagnose(app(REFUSED), other))

    def test_a_same_named_service_of_another_project_is_not_meant(self) -> None:
        other = down(name="blog-db-1", compose=compose("db", "blog"), networks=(network("blog_default"),))

        assert not blames_a_container(diagnose(app(NO_HOST), other))

    def test_an_alias_on_a_shared_network_is_meant_whatever_the_project(self) -> None:
        shared = (network("infra", aliases=("db",)),)
        other = down(name="infra-pg-1", compose=compose("pg", "infra"), networks=shared)

        assert top(app(NO_HOST, networks=(network("infra"),)), other).peer == "infra-pg-1"

    def test_an_own_service_goes_before_another_projects_equal_alias(self) -> None:
        shared = (network("infra", aliases=("db",)),)
        other = down(name="blog-db-1", compose=compose("db", "blog"), networks=shared)
        own = container(**{**DB, "networks": shared})

        assert not blames_a_container(diagnose(app(NO_HOST, networks=(network("infra"),)), other, own))

    def test_nor_does_another_projects_health_acquit_it(self) -> None:
        shared = (network("infra", aliases=("db",)),)
        other = container(name="blog-db-1", compose=compose("db", "blog"), networks=shared)
        own = down(networks=shared)

        assert top(app(NO_HOST, networks=(network("infra"),)), other, own).peer == "shop-db-1"

    def test_an_external_host_of_the_same_name_is_not_meant(self) -> None:
        asking = app("dial tcp: lookup db.example.org on 127.0.0.11:53: no such host")

        assert not blames_a_container(diagnose(asking, down()))

    def test_nor_is_a_name_that_its_own_hosts_file_leads_elsewhere(self) -> None:
        asking = app(REFUSED_BY_NAME, wiring=Wiring(network_mode="shop_default", extra_hosts={"db": "192.0.2.7"}))

        assert not blames_a_container(diagnose(asking, down()))

    def test_a_name_with_its_network_is_the_same_name(self) -> None:
        asking = app("dial tcp: lookup db.shop_default on 127.0.0.11:53: no such host")

        assert top(asking, down()).peer == "shop-db-1"

    def test_a_link_goes_before_everything(self) -> None:
        wiring = Wiring(network_mode="default", links={"db": "old-pg"})
        asking = app(REFUSED_BY_NAME, networks=(network("bridge"),), wiring=wiring)
        linked = down(name="old-pg", compose=None, networks=(network("bridge"),))

        assert top(asking, linked).peer == "old-pg"

    def test_a_swarm_service_is_known_by_its_short_name(self) -> None:
        labels = {"com.docker.swarm.service.name": "shop_db", "com.docker.stack.namespace": "shop"}
        task = down(name="shop_db.1.x7", compose=None, labels=labels, networks=(network("shop_net"),))

        assert top(app(NO_HOST, networks=(network("shop_net"),)), task).peer == "shop_db.1.x7"

    def test_a_one_off_run_is_no_replica(self) -> None:
        run = down(name="shop-db-run-1", compose=compose("db", oneoff=True), networks=())

        assert not blames_a_container(diagnose(app(NO_HOST), run))

    def test_the_host_itself_means_who_publishes_the_port(self) -> None:
        wiring = Wiring(network_mode="shop_default", extra_hosts={"host.docker.internal": "host-gateway"})
        pg = down(name="pg", compose=None, networks=(network("bridge"),), ports={},
                  wiring=Wiring(network_mode="bridge", published={"5432/tcp": "15432"}))  # fmt: skip

        for peer in ("host.docker.internal:15432", "172.18.0.1:15432"):
            assert top(app(f"connect to {peer}: Connection refused", wiring=wiring), pg).peer == "pg"

    def test_nobody_is_meant_by_a_port_of_the_host_that_nobody_publishes(self) -> None:
        pg = down(name="pg", networks=(network("bridge"),))

        assert not blames_a_container(diagnose(app("connect to 172.18.0.1:5432: Connection refused"), pg))


class TestLocalhost:
    """localhost is the container itself, save where several share a network namespace."""

    def test_is_the_container_itself(self) -> None:
        assert top(app("Error: connect ECONNREFUSED 127.0.0.1:6379")).id == "localhost_in_container"

    def test_who_offers_the_port_on_its_network_is_said(self) -> None:
        cause = top(app("Error: connect ECONNREFUSED 127.0.0.1:5432"), container(**DB))

        assert "shop-db-1 on its network offers port 5432" in cause.description
        assert cause.confidence > 0.75

    def test_its_own_port_is_its_own_matter(self) -> None:
        asking = app("Error: connect ECONNREFUSED 127.0.0.1:9000", ports={"9000/tcp": None})

        assert top(asking).id == "nothing_listens"

    def test_in_a_shared_namespace_it_is_the_neighbour(self) -> None:
        vpn = container(name="vpn")
        joined = Wiring(network_mode=f"container:{vpn.id}")
        asking = app("Error: connect ECONNREFUSED 127.0.0.1:8080", networks=(), wiring=joined)
        other = exited(1, name="torrent", wiring=joined, ports={"8080/tcp": None})

        assert top(asking, vpn, other).peer == "torrent"

    def test_with_the_hosts_network_it_is_who_publishes_the_port(self) -> None:
        asking = app("Error: connect ECONNREFUSED 127.0.0.1:15432", wiring=Wiring(network_mode="host"), networks=())
        pg = exited(1, name="pg", wiring=Wiring(network_mode="bridge", published={"5432/tcp": "127.0.0.1:15432"}))

        assert top(asking, pg).peer == "pg"


class TestTheWayThere:
    """Both run, but the name or the port does not lead from one to the other."""

    def test_a_peer_on_another_network_is_no_shared_network(self) -> None:
        cause = top(app(NO_HOST), container(name="db", networks=(network("other"),)))

        assert (cause.id, cause.peer) == ("no_shared_network", "db")

    def test_less_surely_when_it_belongs_to_another_project(self) -> None:
        here = top(app(NO_HOST), container(name="db", networks=(network("other"),)))
        other = container(name="db", compose=compose("x", "blog"), networks=(network("other"),))

        assert top(app(NO_HOST), other).confidence < here.confidence

    def test_an_own_service_on_another_network(self) -> None:
        assert top(app(NO_HOST), container(**{**DB, "networks": (network("back"),)})).id == "no_shared_network"

    def test_the_default_bridge_resolves_no_names(self) -> None:
        asking = app(NO_HOST, networks=(network("bridge"),), compose=None)

        assert top(asking, container(name="db", networks=(network("bridge"),))).id == "default_bridge_without_dns"

    def test_a_lost_alias(self) -> None:
        db = container(**{**DB, "networks": (network(aliases=("f00dcafe1234",)),)})

        assert top(app(NO_HOST), db).id == "alias_missing"

    def test_the_published_port_is_for_the_host_only(self) -> None:
        db = container(**{**DB, "ports": {"5432/tcp": "15432"}})

        cause = top(app("connect to db:15432: Connection refused"), db)

        assert cause.id == "published_port_used_inside"
        assert "inside it is 5432" in cause.description

    def test_a_port_that_the_peer_does_not_name(self) -> None:
        cause = top(app("connect to db:5433: Connection refused"), container(**DB))

        assert (cause.id, cause.peer) == ("wrong_port", "shop-db-1")

    def test_a_port_that_it_names_but_does_not_listen_on(self) -> None:
        cause = top(app(REFUSED_BY_NAME), container(**DB))

        assert (cause.id, cause.peer) == ("peer_not_listening", "shop-db-1")


class TestDeclaredDependencies:
    """Where no peer is named, what Compose says it depends on is looked at, less surely."""

    def asking(self, depends_on: str, *texts: str) -> ContainerFacts:
        return app(*texts or ("ERROR Connection refused",), compose=compose("app", depends_on=depends_on))

    def test_a_dependency_that_is_down(self) -> None:
        cause = causes(self.asking("db:service_started:false"), down())["dependency_down"]

        assert cause.peer == "shop-db-1"
        assert cause.confidence < 0.7

    def test_a_job_that_has_completed_as_it_should_is_not_down(self) -> None:
        job = exited(0, name="shop-migrate-1", compose=compose("migrate"))

        asking = self.asking("migrate:service_completed_successfully:false")

        assert not blames_a_container(diagnose(asking, job))

    def test_one_that_has_failed_is(self) -> None:
        job = exited(1, name="shop-migrate-1", compose=compose("migrate"))
        asking = self.asking("migrate:service_completed_successfully:false")

        assert causes(asking, job)["dependency_down"].peer == "shop-migrate-1"

    def test_an_error_that_is_about_no_connection_blames_nobody(self) -> None:
        asking = self.asking("db:service_started:false", "ERROR invalid order")

        assert not blames_a_container(diagnose(asking, down()))

    def test_a_named_peer_that_is_unknown_makes_the_others_less_likely(self) -> None:
        named = self.asking("db:service_started:false", "dial tcp: lookup mail.example.org: no such host")

        assert causes(named, down())["dependency_down"].confidence < 0.5

    def test_a_container_that_waits_for_it_was_never_started(self) -> None:
        waiting = container(
            name="shop-app-1",
            state=ContainerState.CREATED,
            started_at=None,
            usage=None,
            compose=compose("app", depends_on="db:service_healthy:false"),
        )

        report = diagnose(waiting, down())

        assert (report.likely_causes[0].id, report.root) == ("dependency_down", "shop-db-1")


def test_the_suggestion_leads_to_the_peer_and_not_to_the_messenger() -> None:
    report = diagnose(app(NO_HOST), down())

    assert report.suggestions[0].action == "Look at shop-db-1 first: this container cannot work without it."
    assert report.suggestions[0].check == "docker logs --tail 50 shop-db-1"
    assert len([one for one in report.suggestions if "share a network" in one.action]) == 0


def test_what_encryption_refuses_is_no_matter_of_who_runs() -> None:
    assert not blames_a_container(diagnose(app("x509: certificate has expired or is not yet valid: db"), down()))


def test_host_and_port_of_an_address() -> None:
    cases = {
        "db:5432": ("db", 5432),
        "db": ("db", None),
        "user@queue:5672": ("queue", 5672),
        "[::1]:80": ("::1", 80),
        "10.0.0.1:1": ("10.0.0.1", 1),
        "http://web:3000/x": ("web", 3000),
        "db:99999": ("db", None),
        "db:0": ("db", None),
        "db:²": ("db", None),
        f"db:{'9' * 5000}": ("db", None),
        f"db:000001{'0' * 5000}": ("db", 1),
    }

    assert {peer: (host_of(peer), port_of(peer)) for peer in cases} == cases
    assert port_of("db", 'connection to server at "db" (172.18.0.3), port 5432 failed') == 5432


@pytest.mark.parametrize(
    ("text", "cause", "peer"),
    [
        ("dial tcp 127.0.0.1:5432: connect: Connection refused", "localhost_in_container", None),
        ("Get http://127.0.0.1:8080/: read tcp: i/o timeout", "own_service_hangs", None),
        ("read tcp 172.18.0.2:5000->172.18.0.3:5432: read: connection reset by peer", "dependency_paused", "shop-db-1"),
        ("ERROR Connection refused (172.18.0.3)", "dependency_paused", "shop-db-1"),
    ],
)
def test_an_address_in_the_line_is_enough_where_the_signature_names_no_peer(
    text: str, cause: str, peer: str | None
) -> None:
    found = top(app(text), container(**DB, state=ContainerState.PAUSED))

    assert (found.id, found.peer) == (cause, peer)


def test_two_addresses_without_an_arrow_name_nobody() -> None:
    asking = app("ERROR Connection refused between 172.18.0.3 and 172.18.0.9")

    assert not takes_for_named(diagnose(asking, down()))


def test_a_version_is_no_address() -> None:
    asking = app("ERROR client 1.2.3.4.5 (build 172.18.0.3-rc1): Connection refused")

    assert not takes_for_named(diagnose(asking, down()))


@pytest.mark.parametrize(("mode", "expected"), [("none", "no_network"), ("bridge", "no_route")])
def test_a_container_without_a_network_reaches_nobody(mode: str, expected: str) -> None:
    asking = app("connect: Network is unreachable: 10.0.0.7", networks=(), wiring=Wiring(network_mode=mode))

    assert top(asking).id == expected


def test_one_that_was_taken_from_its_last_network_reaches_nobody() -> None:
    detached = app(NO_HOST, networks=(), wiring=Wiring(network_mode="shop_default"))

    assert top(detached).id == "no_network"
    assert "no_network" not in causes(app(NO_HOST, networks=(), wiring=Wiring(network_mode="slirp4netns")))


def test_an_unknown_name_stays_an_unknown_name_without_a_network() -> None:
    assert top(app(NO_HOST, networks=(), wiring=Wiring(network_mode="none"))).id == "name_unknown"


@pytest.mark.parametrize("mode", ["none", "shop_default"])
def test_an_address_of_its_own_goes_before_what_looks_like_a_name(mode: str) -> None:
    asking = app("nc: can't connect to remote host (127.0.0.1): Connection refused", wiring=Wiring(network_mode=mode))

    assert top(asking).id == "localhost_in_container"


def test_a_check_at_home_needs_no_network() -> None:
    output = "nc: can't connect to remote host (127.0.0.1): Connection refused"
    sick = health(HealthStatus.UNHEALTHY, probes=(probe(exit_code=1, output=output),))
    asking = container(health=sick, wiring=Wiring(network_mode="none"))

    assert "no_network" not in causes(asking)
    assert top(asking).id == "nothing_listens"


def test_a_refusal_came_from_somewhere() -> None:
    asking = app("connect to 10.0.0.7:80: Connection refused", networks=(), wiring=Wiring(network_mode="none"))

    assert "no_network" not in causes(asking)


def api_that_logs(text: str) -> ContainerFacts:
    place = network(ip="172.18.0.4", aliases=("api",))
    return container(name="shop-api-1", compose=compose("api"), networks=(place,), logs=logs(text, at=ago(20)))


def test_a_peer_that_lacks_what_it_needs_itself_is_why_it_does_not_answer() -> None:
    api = api_that_logs("ERROR dial tcp: lookup db on 127.0.0.11:53: no such host")
    report = diagnose(app("ERROR connect to api:8080: connection refused"), api)

    assert (report.likely_causes[0].id, report.likely_causes[0].peer) == ("dependency_ailing", "shop-api-1")


def test_the_same_trouble_told_from_its_far_end_is_no_cause() -> None:
    api = api_that_logs("ERROR write tcp 172.18.0.4:8080->172.18.0.2:51234: write: broken pipe")
    report = diagnose(app("ERROR read tcp 172.18.0.2:51234->172.18.0.4:8080: connection reset by peer"), api)

    assert all(cause.id != "dependency_ailing" for cause in report.likely_causes)


def test_a_name_with_a_port_is_the_peer_where_it_stands_for_a_container() -> None:
    lost = "FATAL: connection to db:5432 lost: connection reset by peer"

    assert (top(app(lost), down()).id, top(app(lost), down()).peer) == ("dependency_down", "shop-db-1")
    assert not takes_for_named(diagnose(app(lost.replace("db:", "line:")), down()))
