"""One failure that spreads over several containers has one root, whatever the last of the chain says about it."""

from typing import Any

import pytest

from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.model.wiring import Wiring
from tests.diagnosis.judging import shipped
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
    snapshot,
)

ON_NETWORK = Wiring(network_mode="shop_default")


def service(name: str, *texts: str, needs: str = "", **facts: Any) -> ContainerFacts:
    """A running service of the project; it said something well an hour long, then `texts`."""
    said = (line(f"{name} ready", at=ago(minutes=9)), *(line(text, at=ago(40)) for text in texts))
    depends_on = ",".join(f"{one}:service_started:false" for one in needs.split())
    base: dict[str, Any] = {
        "name": f"shop-{name}-1",
        "compose": compose(name, depends_on=depends_on or None),
        "networks": (network(aliases=(name, f"shop-{name}-1")),),
        "wiring": ON_NETWORK,
        "logs": logs(*said),
    }
    return container(**{**base, **facts})


def gone(name: str, code: int = 137, *, seconds_ago: float = 60, **facts: Any) -> ContainerFacts:
    """A service that ended, nobody having asked for it."""
    base = {"name": f"shop-{name}-1", "compose": compose(name), "networks": (network(aliases=(name,)),)}
    return exited(code, seconds_ago=seconds_ago, **{**base, **facts})


def judged(*containers: ContainerFacts) -> dict[str, DiagnosisReport]:
    report, _ = diagnose_host(snapshot(*containers), Thresholds(), shipped())
    assert all(not one.rule_errors for one in report.reports)
    return {one.container_name.removeprefix("shop-").removesuffix("-1"): one for one in report.reports}


def roots(*containers: ContainerFacts) -> dict[str, str | None]:
    """Service → the service at the root of its trouble, of all that are not well."""
    reports = judged(*containers)
    return {
        name: one.root and one.root.removeprefix("shop-").removesuffix("-1")
        for name, one in reports.items()
        if one.status != "healthy"
    }


def follow(root: str, *others: str) -> dict[str, str | None]:
    return {root: None, **dict.fromkeys(others, root)}


REFUSED = 'psycopg2.OperationalError: connection to server at "db" (172.18.0.3), port 5432 failed: Connection refused'
NGINX_502 = (
    "2026/01/01 11:59:20 [error] 31#31: *1 connect() failed (111: Connection refused) while connecting to upstream, "
    'client: 172.18.0.1, server: , request: "GET / HTTP/1.1", upstream: "http://api:8080/", host: "shop"'
)
NGINX_504 = (
    "2026/01/01 11:59:20 [error] 31#31: *1 upstream timed out (110: Connection timed out) while reading response "
    'header from upstream, client: 172.18.0.1, server: , request: "GET / HTTP/1.1", upstream: "http://api:8080/"'
)
CURL_502 = "curl: (22) The requested URL returned error: 502"


class TestChains:
    """The last of a chain says least; generic causes never cut it."""

    @pytest.mark.parametrize("last", [CURL_502, "wget: server returned error: HTTP/1.1 504 Gateway Timeout"])
    def test_who_only_sees_bad_answers_of_a_sufferer_joins(self, last: str) -> None:
        probe_ = service("probe", last, needs="web")
        web = service("web", NGINX_504, needs="api")
        api = service("api", f"ERROR {REFUSED}", needs="db")

        assert roots(probe_, web, api, gone("db")) == follow("db", "api", "web", "probe")

    @pytest.mark.parametrize(
        "says",
        [
            'ERROR Get "http://api:8080/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
            "ERROR AxiosError: timeout of 5000ms exceeded",
            "requests.exceptions.HTTPError: 500 Server Error: Internal Server Error for url: http://api:8080/orders",
            "ERROR httpx.ReadTimeout: timed out",
            "ERROR orders: upstream api did not respond within 5 s",
        ],
    )
    def test_a_time_out_leads_to_the_middle_and_on(self, says: str) -> None:
        web = service("web", says, needs="api")
        api = service("api", f"ERROR {REFUSED}", needs="db")

        assert roots(web, api, gone("db")) == follow("db", "api", "web")

    def test_a_service_that_hangs_in_silence_is_passed_through(self) -> None:
        web = service("web", 'ERROR Get "http://api:8080/": context deadline exceeded (Client.Timeout exceeded)')
        api = service("api", needs="db")
        db = service("db", state=ContainerState.PAUSED, lifecycle=lifecycle(paused_at=ago(80)))

        assert roots(web, api, db) == follow("db", "web")

    def test_own_errors_of_the_middle_are_enough(self) -> None:
        web = service("web", NGINX_504, needs="api")
        api = service("api", "ERROR ValueError: invalid literal for int() with base 10: 'x'")

        assert roots(web, api) == follow("api", "web")

    def test_a_loop_of_the_middle_is_no_root(self) -> None:
        web = service("web", NGINX_502, needs="api")
        api = service("api", f"ERROR {REFUSED}", lifecycle=looping(), started_at=ago(3), needs="db")

        assert roots(web, api, gone("db")) == follow("db", "api", "web")

    def test_a_worker_that_ends_with_0_whenever_its_queue_is_away(self) -> None:
        worker = service(
            "worker",
            "ERROR consumer: Cannot connect to amqp://shop:**@queue:5672//: [Errno 111] Connection refused.",
            lifecycle=looping(exit_code=0),
            started_at=ago(3),
        )

        assert roots(worker, gone("queue", 1)) == follow("queue", "worker")

    def test_an_unhealthy_one_that_says_nothing_of_it(self) -> None:
        sick = health(
            HealthStatus.UNHEALTHY, probes=(probe(exit_code=1, output="wget: server returned error: HTTP/1.1 503"),)
        )
        api = service("api", health=sick, needs="db")

        assert roots(api, gone("db")) == follow("db", "api")

    def test_where_nothing_is_declared_or_named_the_one_that_is_away_on_the_network_is_meant(self) -> None:
        api = service("api", "ERROR httpx.ConnectError: [Errno 111] Connection refused", compose=None)

        assert roots(api, gone("db", compose=None)) == follow("db", "api")

    def test_but_not_one_of_two(self) -> None:
        api = service("api", "ERROR httpx.ConnectError: [Errno 111] Connection refused", compose=None)

        assert roots(api, gone("db", compose=None), gone("cache", compose=None))["api"] is None

    def test_a_word_of_the_line_may_be_the_name(self) -> None:
        api = service("api", "ERROR payments unavailable: connection timed out", compose=None)

        assert roots(api, gone("payments"), gone("mail")) == {"api": "payments", "payments": None, "mail": None}


class TestRoots:
    """A root of every kind."""

    def test_stopped_by_hand(self) -> None:
        queue = gone("queue", 0, exit_facts=ended(0, requested=True))
        worker = service("worker", "ERROR Error: getaddrinfo ENOTFOUND queue")

        assert roots(worker, queue)["worker"] == "queue"

    def test_an_image_that_fails_under_the_same_tag(self) -> None:
        past = lifecycle(
            exits=(ended(1, at=ago(60)),),
            previous_image="db:1",
            image_changed_at=ago(90),
            stop_requested=False,
        )
        db = gone("db", 1, lifecycle=past, image="db:1")

        reports = judged(service("api", f"ERROR {REFUSED}"), db)

        assert reports["api"].root == "shop-db-1"
        assert reports["db"].likely_causes[0].id == "image_changed"

    def test_an_image_that_runs_well_and_serves_nobody(self) -> None:
        past = lifecycle(previous_image="db:1", image_changed_at=ago(90))
        db = service("db", started_at=ago(89), created_at=ago(90), lifecycle=past, image="db:2")

        assert roots(service("api", f"ERROR {REFUSED}"), db) == {"api": "db"}

    def test_a_full_disk_of_the_server_is_the_servers(self) -> None:
        full = 'ERROR:  could not extend file "base/16384/16500": No space left on device'
        api = service("api", f"psycopg2.errors.DiskFull: {full.removeprefix('ERROR:  ')}", needs="db")

        reports = judged(api, service("db", full))

        assert [one.type for one in reports["api"].symptoms] == ["log_error"]
        assert reports["api"].root == "shop-db-1"
        assert "disk_pressure" in [one.type for one in reports["db"].symptoms]

    @pytest.mark.parametrize(
        ("server", "says"),
        [
            ("db", "psycopg2.errors.DiskFull: could not extend file: No space left on device"),
            ("db", "ERROR: org.postgresql.util.PSQLException: ERROR: could not extend file: No space left on device"),
            ("cache", "redis.exceptions.OutOfMemoryError: OOM command not allowed when used memory > 'maxmemory'."),
            ("cache", "redis.exceptions.ResponseError: MISCONF Redis is configured to save RDB snapshots"),
            ("db", "psycopg2.OperationalError: FATAL:  sorry, too many clients already"),
            ("db", 'pymysql.err.OperationalError: (1040, "Too many connections")'),
            ("db", "psycopg2.errors.ReadOnlySqlTransaction: cannot execute INSERT in a read-only transaction"),
        ],
    )
    def test_what_a_server_says_of_itself(self, server: str, says: str) -> None:
        assert roots(service("api", says), service(server)) == {"api": server}

    def test_a_password_that_was_changed_at_the_server(self) -> None:
        api = service("api", 'psycopg2.OperationalError: FATAL:  password authentication failed for user "shop"')

        assert roots(api, service("db")) == {"api": "db"}

    def test_a_server_that_was_made_anew_with_another_password(self) -> None:
        past = lifecycle(exits=(ended(0, at=ago(100), requested=True),))
        db = service("db", created_at=ago(95), started_at=ago(94), lifecycle=past)
        cache = service("cache", created_at=ago(55), started_at=ago(54), lifecycle=past)
        api = service("api", 'psycopg2.OperationalError: FATAL:  password authentication failed for user "shop"')

        assert roots(api, cache, db) == {"api": "db"}

    def test_a_client_that_was_made_anew_is_its_own_root(self) -> None:
        text = 'psycopg2.OperationalError: FATAL:  password authentication failed for user "shop"'
        api = service("api", created_at=ago(95), started_at=ago(50), logs=logs(text, at=ago(40)))

        assert roots(api, service("db")) == {"api": None}

    def test_a_database_that_was_renamed(self) -> None:
        api = service("api", 'psycopg2.OperationalError: FATAL:  database "shop" does not exist')

        assert roots(api, service("db")) == {"api": "db"}

    def test_a_migration_that_failed(self) -> None:
        migrate = gone("migrate", 1)
        api = service(
            "api", 'ERROR psycopg2.errors.UndefinedTable: relation "orders" does not exist', needs="migrate db"
        )

        assert roots(api, service("db"), migrate) == follow("migrate", "api")

    def test_a_server_that_was_taken_from_its_network(self) -> None:
        db = service("db", networks=())

        assert roots(service("api", "ERROR getaddrinfo EAI_AGAIN db"), db) == {"api": "db"}
        by_address = service("api", "ERROR dial tcp 172.18.0.3:5432: i/o timeout", needs="db")
        assert roots(by_address, db) == {"api": "db"}

    def test_a_client_that_was_taken_from_its_network_is_its_own_root(self) -> None:
        api = service("api", "ERROR getaddrinfo EAI_AGAIN db", networks=())

        assert roots(api, service("db")) == {"api": None}

    def test_a_container_that_was_renamed(self) -> None:
        db = container(name="db-old", networks=(network(),), ports={"5432/tcp": None})
        api = container(
            name="api",
            networks=(network(),),
            logs=logs(
                line("ready", at=ago(minutes=9)),
                line('ERROR could not translate host name "db" to address: Name or service not known', at=ago(40)),
            ),
        )

        assert roots(api, db) == {"api": "db-old"}

    def test_the_owner_of_a_namespace_that_crashed(self) -> None:
        vpn = gone("vpn", 1)
        joined = Wiring(network_mode=f"container:{vpn.id}")
        torrent = service("torrent", "ERROR getaddrinfo EAI_AGAIN tracker.example.org", wiring=joined, networks=())

        assert roots(torrent, vpn) == follow("vpn", "torrent")

    def test_the_owner_of_a_namespace_that_was_restarted(self) -> None:
        vpn = service("vpn", started_at=ago(90))
        joined = Wiring(network_mode=f"container:{vpn.id}")
        torrent = service("torrent", "ERROR getaddrinfo EAI_AGAIN tracker.example.org", wiring=joined, networks=())

        reports = judged(torrent, vpn)

        assert reports["torrent"].root == "shop-vpn-1"
        assert reports["torrent"].likely_causes[0].id == "namespace_gone"

    def test_the_owner_of_a_namespace_that_was_made_anew(self) -> None:
        vpn = service("vpn", created_at=ago(90), started_at=ago(90))
        joined = Wiring(network_mode=f"container:{'0' * 64}")
        error = "(C) ERROR tracker http://tracker:8080: Host not found"
        torrent = service("torrent", error, needs="vpn", wiring=joined, networks=())

        reports = judged(torrent, vpn)

        assert reports["torrent"].root == "shop-vpn-1"
        assert reports["torrent"].likely_causes[0].id == "namespace_gone"

    def test_one_that_joined_a_well_namespace_is_its_own_root(self) -> None:
        vpn = service("vpn")
        joined = Wiring(network_mode=f"container:{vpn.id}")
        torrent = service(
            "torrent",
            "ERROR getaddrinfo EAI_AGAIN tracker.example.org",
            wiring=joined,
            networks=(),
            started_at=ago(minutes=50),
        )

        assert roots(torrent, vpn) == {"torrent": None}


class TestNobodyIsBlamedFalsely:
    """A peer that runs well is left alone, whatever became of an earlier one."""

    def removed(self, **facts: Any) -> ContainerFacts:
        past = lifecycle(exits=(ended(0, at=ago(180), requested=True),))
        return service("db", created_at=ago(170), started_at=ago(169), lifecycle=past, **facts)

    def test_by_a_removed_namesake_before_the_client_was_made(self) -> None:
        api = service(
            "api",
            f"ERROR {REFUSED}",
            created_at=ago(165),
            started_at=ago(164),
            logs=logs(f"ERROR {REFUSED}", at=ago(120)),
        )

        assert roots(api, self.removed()) == {"api": None}

    def test_nor_where_the_new_one_was_slow_to_start(self) -> None:
        failed = logs(*(line(f"ERROR {REFUSED}", at=ago(at)) for at in (120, 50)))
        api = service("api", created_at=ago(165), started_at=ago(164), logs=failed)
        report = judged(api, self.removed().model_copy(update={"started_at": ago(100)}))["api"]

        assert [one.id for one in report.likely_causes if one.peer == "shop-db-1"] == ["dependency_starting"]

    def test_who_has_no_network_reaches_nobody(self) -> None:
        alone: dict[str, Any] = {"compose": None, "networks": (network("none"),), "wiring": Wiring(network_mode="none")}
        api = service("api", "ERROR httpx.ConnectError: [Errno 111] Connection refused", **alone)

        assert roots(api, gone("db", **alone))["api"] is None

    def test_the_one_that_is_away_is_not_meant_by_an_address_that_is_not_its_own(self) -> None:
        api = service("api", NGINX_504.replace("//api:", "//10.20.0.30:"), compose=None)

        assert roots(api, gone("db", compose=None))["api"] is None

    def test_a_circle_is_cut_where_it_is_least_sure(self) -> None:
        web = service("web", NGINX_504, lifecycle=looping(), started_at=ago(3))
        api = service("api", 'ERROR Get "http://web:80/config": dial tcp 172.18.0.9:80: i/o timeout')

        assert roots(web, api) == {"web": None, "api": "web"}


def test_a_server_of_no_kind_that_can_be_told_is_the_only_dependency() -> None:
    es = service("es", "ERROR java.io.IOException: No space left on device")
    full = "ERROR rejected: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark]"

    assert roots(service("api", full, needs="es"), es) == follow("es", "api")
    assert roots(service("web", full, needs="es api"), service("api"), es) == {"web": None, "es": None}


DENIED = "Error: Access denied for user 'erp'@'172.18.0.9' (using password: YES)"


def test_a_database_whose_password_was_changed_is_the_root_for_clients_that_name_no_kind() -> None:
    mysql = service("mysql", "[Note] Access denied for user 'erp'@'172.18.0.9'", created_at=ago(60), started_at=ago(60))
    portal = service("portal", "AxiosError: Request failed with status code 500", needs="api")
    found = roots(mysql, service("api", DENIED, needs="mysql"), portal)
    assert found == follow("mysql", "api", "portal")


def test_who_ships_into_a_full_index_suffers_from_it_though_it_was_answered_with_a_client_error() -> None:
    full = '{"log.level":"ERROR", "message":"failed to write segment", "error.message":"No space left on device"}'
    body = (
        '{"error":{"root_cause":[{"type":"cluster_block_exception","reason":"index [logs] blocked by: '
        '[TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];"}],'
        '"type":"cluster_block_exception"},"status":429}'
    )
    answered = "[2026/01/01 11:59:20] [error] [output:es:es.0] HTTP status=429 URI=/_bulk, response:"
    found = roots(service("es", full), service("shipper", answered, body, needs="es"))
    assert found == {"es": None} | follow("es", "shipper")


def test_an_answer_from_an_address_that_is_nobodys_any_more_is_that_of_the_one_ailing_dependency() -> None:
    answered = (
        "[error] 31#31: *7 upstream returned status 503 while reading response header from upstream, "
        'client: 198.51.100.7, server: _, request: "GET /orders HTTP/1.1", upstream: "http://172.31.0.3:8080/orders"'
    )
    orders = service("orders", "ERROR dial tcp: lookup broker on 127.0.0.11:53: no such host", needs="broker")
    found = roots(orders, service("front", answered, needs="orders"))
    assert found["front"] == "orders"


def test_a_program_whose_licence_has_run_out_ended_by_itself_though_its_database_went_at_the_same_time() -> None:
    said = logs(line("FATAL licence check: signature valid, but not_after 2026-01-01 is over", at=ago(61)))
    api = gone("api", 3, compose=compose("api", depends_on="db:service_started:false"), logs=said)
    found = roots(gone("db", 137, oom_killed=True), api)
    assert found == {"db": None, "api": None}
