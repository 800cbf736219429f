"""Who asks for a container that was removed is explained by it, although it is not there any more."""

from datetime import timedelta
from typing import Any

import pytest

from bcon_exporter.diagnosis import HoldState, diagnose_host
from bcon_exporter.diagnosis.removed_containers import remember
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.model.wiring import Wiring
from tests.diagnosis.judging import shipped
from tests.diagnosis.test_cascades import service
from tests.factories import NOON, ago, compose, container, ended, lifecycle, line, logs, network, snapshot

SILENCE = "ERROR redis.exceptions.TimeoutError: Timeout reading from socket"


def reports(*scans: tuple[ContainerFacts, ...], after: float = 15) -> dict[str, DiagnosisReport]:
    """What the last of several scans says, by service; the last is at NOON."""
    state, found = HoldState(), []
    for scan, containers in enumerate(scans):
        at = NOON - timedelta(seconds=after * (len(scans) - 1 - scan))
        report, state = diagnose_host(snapshot(*containers, taken_at=at), Thresholds(), shipped(), state)
        found = list(report.reports)
    return {one.container_name.removeprefix("shop-").removesuffix("-1"): one for one in found}


def failing(name: str, text: str, **facts: Any) -> ContainerFacts:
    """A service that has worked for an hour and fails since some seconds."""
    said = logs(line(f"{name} ready", at=ago(minutes=9)), line(text, at=ago(4)))
    return service(name, **{"logs": said, **facts})


class TestARemovedContainer:
    """It is the root of those who still ask for it."""

    @pytest.mark.parametrize(
        ("text", "needs"),
        [
            ("ERROR consumer: Cannot connect to amqp://shop:**@queue:5672//: timed out.", ""),
            ("[amqp] connection error Error: connect ETIMEDOUT", "queue"),
            ("ERROR dial tcp 172.18.0.9:5672: i/o timeout", ""),
            ("ERROR dial tcp: lookup queue on 127.0.0.11:53: no such host", ""),
        ],
        ids=["by name", "by what it declares", "by its address", "by a name that leads nowhere"],
    )
    def test_is_named_and_followed(self, text: str, needs: str) -> None:
        queue = service("queue", networks=(network(aliases=("queue",), ip="172.18.0.9"),))
        worker = failing("worker", text, needs=needs)
        web = failing("web", "ERROR AxiosError: Request failed with status code 503", needs="worker")
        at_first = (queue, service("worker", needs=needs), service("web", needs="worker"))

        found = reports(at_first, (worker, web))

        assert [found[name].root for name in ("worker", "web")] == ["shop-queue-1", "shop-queue-1"]
        assert found["worker"].likely_causes[0].id == "dependency_removed"

    def test_not_once_another_is_in_its_place(self) -> None:
        old = service("queue", id="1" * 64)
        worker = failing("worker", "ERROR dial tcp: lookup queue on 127.0.0.11:53: no such host")

        for state in (ContainerState.RUNNING, ContainerState.PAUSED):
            found = reports((old, service("worker")), (service("queue", id="2" * 64, state=state), worker))

            assert "dependency_removed" not in {cause.id for cause in found["worker"].likely_causes}

    def test_nor_when_the_failures_were_over_before(self) -> None:
        early = logs(line("worker ready", at=ago(minutes=9)), line("ERROR connect ETIMEDOUT queue:5672", at=ago(300)))
        worker = service("worker", logs=early)

        found = reports((service("queue"), worker), (worker,))

        assert found["worker"].root is None

    def test_one_that_docker_is_still_removing_is_not_gone_yet(self) -> None:
        leaving = service("queue", state=ContainerState.REMOVING, finished_at=ago(6))
        worker = failing("worker", "ERROR dial tcp: lookup queue on 127.0.0.11:53: no such host")

        found = reports((leaving, worker))

        assert found["worker"].root == "shop-queue-1"
        assert found["worker"].likely_causes[0].id != "dependency_removed"

    def test_its_new_name_is_told(self) -> None:
        cache = service("cache", image="redis:7")
        renamed = service(
            "valkey", image="redis:7", created_at=ago(5), started_at=ago(4), logs=logs("Ready to accept connections")
        )
        web = failing("web", SILENCE)

        found = reports((cache, service("web")), (renamed, web))

        assert found["web"].root == "shop-valkey-1"
        assert found["web"].likely_causes[0].id == "name_lost"

    def test_one_that_was_there_before_is_not_its_new_name(self) -> None:
        cache = service("cache", image="redis:7")
        other = service("sessions", image="redis:7")

        found = reports((cache, other, service("web")), (other, failing("web", SILENCE)))

        assert found["web"].root == "shop-cache-1"

    def test_the_end_of_a_single_run_is_as_it_should_be(self) -> None:
        job = service("job")
        assert job.compose is not None
        job = job.model_copy(update={"compose": job.compose.model_copy(update={"oneoff": True})})

        found = reports((job, service("web")), (failing("web", SILENCE),))

        assert found["web"].root is None


class TestFormerAddresses:
    """A container that was made anew has another address; a proxy may still ask the old one."""

    def test_lead_to_the_container_in_its_place(self) -> None:
        upstream = (
            "2026/01/01 11:59:56 [error] 31#31: *1 upstream timed out (110: Connection timed out) while connecting to "
            'upstream, client: 172.18.0.1, server: localhost, upstream: "http://172.18.0.7:8080/"'
        )
        old = service("api", id="1" * 64, networks=(network(aliases=("api",), ip="172.18.0.7"),))
        new = service("api", id="2" * 64, state=ContainerState.CREATED, started_at=None, created_at=ago(10))

        found = reports((old, service("web")), (new, failing("web", upstream)))

        assert found["web"].root == "shop-api-1"

    def test_a_stopped_container_keeps_its_last_one(self) -> None:
        runs = service("db", networks=(network(aliases=("db",), ip="172.18.0.3"),))
        stopped = container(
            name="shop-db-1",
            state=ContainerState.EXITED,
            exit_code=1,
            finished_at=ago(10),
            compose=runs.compose,
            networks=(network(aliases=("db",)),),
            lifecycle=lifecycle(exits=(ended(1, at=ago(10)),)),
        )

        found = reports(
            (runs, service("web")), (stopped, failing("web", "ERROR dial tcp 172.18.0.3:5432: i/o timeout"))
        )

        assert found["web"].root == "shop-db-1"

    def test_are_those_of_who_had_them_last(self) -> None:
        def db(address: str | None, **facts: Any) -> ContainerFacts:
            return service("db", networks=(network(aliases=("db",), ip=address),), **facts)

        api = service("api", id="1" * 64, networks=(network(aliases=("api",), ip="172.18.0.7"),))
        new_api = service("api", id="2" * 64, networks=(network(aliases=("api",), ip="172.18.0.8"),))
        stopped = db(None, state=ContainerState.EXITED, exit_code=1, finished_at=ago(10))
        web = failing("web", "ERROR dial tcp 172.18.0.7:5432: i/o timeout")

        found = reports((api, service("web")), (new_api, db("172.18.0.7"), service("web")), (new_api, stopped, web))

        assert found["web"].root == "shop-db-1"


class TestWhatIsKept:
    """Little, and not for long."""

    def test_a_removed_one_for_half_an_hour(self) -> None:
        known = remember(snapshot(service("queue")), {})
        gone = remember(snapshot(taken_at=NOON + timedelta(seconds=15)), known)

        assert [one.gone_at is None for one in known.values()] == [True]
        assert [one.gone_at for one in gone.values()] == [NOON + timedelta(seconds=15)]
        assert not remember(snapshot(taken_at=NOON + timedelta(minutes=31)), gone)

    def test_the_newest_where_very_many_come_and_go(self) -> None:
        many = snapshot(*(container(name=f"c{at}") for at in range(250)))

        assert len(remember(snapshot(taken_at=NOON + timedelta(seconds=15)), remember(many, {}))) == 200

    def test_all_of_it_where_only_some_were_read(self) -> None:
        known = remember(snapshot(service("queue")), {})

        assert remember(snapshot(partial=True), known) == known


class TestAContainerTakenFromANetwork:
    """It runs, on another network, and is the root of those who still ask for it on this one."""

    SHARED, OWN = "shared", "infra_default"

    def server(self, *networks: str, project: str = "infra", **facts: Any) -> ContainerFacts:
        attached = {
            self.OWN: network(self.OWN, aliases=("postgres",), ip="172.19.0.2"),
            self.SHARED: network(self.SHARED, aliases=("pg-main", "postgres"), ip="172.20.0.2"),
        }
        base = {
            "name": "infra-postgres-1",
            "compose": compose("postgres", project),
            "networks": tuple(attached[name] for name in networks),
            "wiring": Wiring(network_mode=self.OWN),
        }
        return container(**{**base, **facts})

    def client(self, *texts: str, name: str = "wiki", since: float = 4) -> ContainerFacts:
        said = logs(line("ready", at=ago(minutes=9)), *(line(text, at=ago(since)) for text in texts))
        on = network(self.SHARED, aliases=(name,), ip="172.20.0.3")
        claim, wiring = compose("app", name), Wiring(network_mode=self.SHARED)
        return container(name=f"{name}-app-1", compose=claim, networks=(on,), wiring=wiring, logs=said)

    def root(self, *texts: str, left_on: tuple[str, ...] = (OWN,), since: float = 4) -> str | None:
        before = (self.server(self.OWN, self.SHARED), self.client())
        found = reports(before, (self.server(*left_on), self.client(*texts, since=since)))
        causes = found["wiki-app"].likely_causes
        assert found["wiki-app"].root is None or causes[0].id == "dependency_disconnected"
        return found["wiki-app"].root

    def test_is_known_by_every_name_and_address_that_it_had_there(self) -> None:
        says = (
            'ERROR could not translate host name "pg-main" to address: Name or service not known',
            "ERROR java.net.UnknownHostException: pg-main",
            "ERROR dial tcp: lookup postgres on 127.0.0.11:53: no such host",
            "ERROR dial tcp: lookup infra-postgres-1 on 127.0.0.11:53: server misbehaving",
            'ERROR connection to server at "172.20.0.2", port 5432 failed: timeout expired',
            "ERROR dial tcp 172.20.0.2:5432: connect: no route to host",
            'ERROR connection to server at "pg-main" (172.20.0.2), port 5432 failed: Connection timed out',
        )
        assert [text for text in says if self.root(text) != "infra-postgres-1"] == []

    def test_also_where_it_is_on_no_network_any_more(self) -> None:
        assert self.root("ERROR java.net.UnknownHostException: pg-main", left_on=()) == "infra-postgres-1"

    def test_who_names_nobody_means_the_one_that_was_taken_just_before(self) -> None:
        says = (
            "ERROR HikariPool-1 - Connection is not available, request timed out after 2001ms (total=0, active=0)",
            "ERROR org.postgresql.util.PSQLException: The connection attempt failed.",
            'ERROR connection to server at "172.20.0.77", port 5432 failed: timeout expired',
        )
        assert [text for text in says if self.root(text) != "infra-postgres-1"] == []

    def test_but_not_where_the_line_tells_of_another(self) -> None:
        says = (
            "ERROR redis.exceptions.TimeoutError: Timeout reading from socket",
            "ERROR dial tcp: lookup mailer on 127.0.0.11:53: no such host",
            "ERROR dial tcp 172.20.0.77:8080: connect: connection refused",
            "ERROR Get https://api.example.com/: context deadline exceeded",
            "ERROR dial tcp 203.0.113.5:5432: i/o timeout",
            "ERROR dial tcp 192.168.7.9:445: i/o timeout",
            "ERROR dial tcp 127.0.0.1:5432: i/o timeout",
        )
        assert [text for text in says if self.root(text) is not None] == []

    def test_a_declared_dependency_may_have_had_any_address(self) -> None:
        shared = network(aliases=("session",), ip="172.18.0.9")
        on_both, on_other = (shared, network("other")), (network("other"),)
        says = (
            "ERROR lobby: load session: dial tcp 172.30.0.2:6379: i/o timeout",
            "ERROR redis: connection pool: failed to dial after 5 attempts: dial tcp 172.30.0.2:6379: i/o timeout",
            "ERROR org.springframework.data.redis.RedisConnectionFailureException: Unable to connect to Redis",
        )
        for text in says:
            before = (service("session", networks=on_both), service("lobby", needs="session"))
            found = reports(before, (service("session", networks=on_other), failing("lobby", text, needs="session")))
            assert found["lobby"].root == "shop-session-1", text
            assert "outside_peer" not in {cause.id for cause in found["lobby"].likely_causes}, text

    def test_nor_where_the_failures_began_before(self) -> None:
        assert self.root("ERROR connect ETIMEDOUT", since=120) is None

    def test_nor_once_it_is_back(self) -> None:
        text = 'ERROR could not translate host name "pg-main" to address: Name or service not known'
        scans = [
            (self.server(*on), self.client()) for on in ((self.OWN, self.SHARED), (self.OWN,), (self.OWN, self.SHARED))
        ]
        found = reports(*scans, (self.server(self.OWN, self.SHARED), self.client(text)))
        assert "dependency_disconnected" not in {cause.id for cause in found["wiki-app"].likely_causes}

    def test_it_is_remembered_while_it_stops_and_starts(self) -> None:
        text = "ERROR java.net.UnknownHostException: pg-main"
        stopped = self.server(self.OWN, state=ContainerState.EXITED)
        scans = ((self.OWN, self.SHARED), (self.OWN,))
        before = [(self.server(*on), self.client()) for on in scans]
        found = reports(*before, (stopped, self.client()), (self.server(self.OWN), self.client(text)))
        assert found["wiki-app"].root == "infra-postgres-1"

    def test_two_at_once_are_told_apart_by_their_kind_or_not_at_all(self) -> None:
        cache: dict[str, Any] = {"name": "infra-redis-1", "compose": compose("redis", "infra")}
        other_aliases = (network(self.SHARED, aliases=("cache",), ip="172.20.0.9"), network(self.OWN, ip="172.19.0.9"))
        both = (self.server(self.OWN, self.SHARED), self.server(networks=other_aliases, **cache), self.client())
        taken = (self.server(self.OWN), self.server(networks=other_aliases[1:], **cache))
        names = reports(both, (*taken, self.client("ERROR java.net.UnknownHostException: cache")))
        silent = reports(both, (*taken, self.client("ERROR connect ETIMEDOUT")))
        of_a_kind = reports(both, (*taken, self.client("ERROR redis.exceptions.TimeoutError: Timeout reading")))
        assert names["wiki-app"].root == "infra-redis-1"
        assert of_a_kind["wiki-app"].root == "infra-redis-1"
        assert silent["wiki-app"].root is None
