"""Which container a failure leads to where its own line does not say so."""

from typing import Any

import pytest

from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus, Mount
from bcon_exporter.model.wiring import Wiring
from tests.diagnosis.test_cascades import follow, gone, judged, roots, service
from tests.factories import ago, compose, ended, health, lifecycle, line, logs, network

TIMED_OUT = "ERROR System.TimeoutException: The operation has timed out."
FULL = "write /data/x: no space left on device"
EXPIRED = (
    "x509: certificate has expired or is not yet valid: current time 2026-03-02T00:00:00Z is after 2026-03-01T00:00:00Z"
)


class TestAnotherLineOfTheEventNamesIt:
    """Clients print whom they asked below the failure, as a part of an error object."""

    @pytest.mark.parametrize(
        "below",
        [
            "  config: { url: 'http://api:8080/v1/orders', method: 'get' }",
            "  hostname: 'api',",
            '  "endpoint": "api:8080",',
            "  address: '172.18.0.4',",
        ],
    )
    def test_and_is_followed(self, below: str) -> None:
        web = service("web", "AxiosError: timeout of 2000ms exceeded", "    at f (/app/a.js:1:1) {", below, "}")
        web = web.model_copy(update={"compose": compose("web")})
        api = service("api", 'ERROR Get "http://store:9/": dial tcp: connect: connection refused', needs="store")
        api = api.model_copy(update={"networks": (network(aliases=("api",), ip="172.18.0.4"),)})

        found = roots(web, api, gone("store"), gone("other"))

        assert found == follow("store", "api", "web") | {"other": None}


class TestLabelsOfAProxy:
    """`be_api/srv1` is what a proxy calls its backend; the name of what it declares stands in it."""

    DOWN = "[WARNING]  (8) : Server be_api/srv1 is DOWN, reason: Layer7 wrong status, code: 500, check duration: 2ms."

    def test_lead_to_what_it_declares(self) -> None:
        edge = service("edge", self.DOWN, "[ALERT]    (8) : backend 'be_api' has no server available!", needs="api")
        api = service("api", "ERROR could not connect to db:5432: Connection refused", needs="db")

        assert roots(edge, api, gone("db")) == follow("db", "api", "edge")

    def test_a_name_that_only_the_proxy_knows_leads_to_what_it_declares(self) -> None:
        text = '[error] 29#29: *24 no live upstreams while connecting to upstream, upstream: "http://rails/"'
        edge = service("edge", f"2026/01/01 11:59:56 {text}", needs="api")
        api = service("api", "ERROR could not connect to db:5432: Connection refused", needs="db")

        assert roots(edge, api, gone("db")) == follow("db", "api", "edge")

    def test_not_to_a_container_whose_name_is_a_word_of_the_line(self) -> None:
        edge = service("edge", self.DOWN, "[ALERT]    (8) : backend 'be_api' has no server available!", needs="api")
        api = service("api", "ERROR could not connect to db:5432: Connection refused", needs="db")

        assert roots(edge, api, gone("db"), gone("check")) == follow("db", "api", "edge") | {"check": None}


class TestNobodyIsNamed:
    """A time-out that names nobody leads to the declared container that is slow, has lost its name, or is away."""

    def test_one_that_answers_late(self) -> None:
        slow = [line(f"LOG:  duration: 4{at}21.3 ms  statement: SELECT 1", at=ago(40 - at)) for at in range(3)]

        assert roots(service("app", TIMED_OUT, needs="db"), service("db", logs=logs(*slow))) == follow("db", "app")

    def test_one_that_was_connected_again_without_its_name(self) -> None:
        broker = service("broker", networks=(network(aliases=("0123456789ab",)),))

        found = judged(service("app", TIMED_OUT, needs="broker"), broker)["app"]

        assert (found.likely_causes[0].id, found.root) == ("alias_missing", "shop-broker-1")

    def test_one_whose_address_nobody_has_any_more(self) -> None:
        app = service("app", "ERROR dial tcp 172.18.0.3:5432: i/o timeout", needs="db")
        app = app.model_copy(update={"networks": (network(aliases=("app",), ip="172.18.0.2"),)})
        db = service("db", networks=())

        assert judged(app, db)["app"].root == "shop-db-1"

    def test_an_address_that_nobody_has_is_told_where_all_are_well(self) -> None:
        app = service("app", "ERROR dial tcp 172.18.0.3:5432: i/o timeout", needs="db")
        app = app.model_copy(update={"networks": (network(aliases=("app",), ip="172.18.0.2"),)})

        assert judged(app, service("db"))["app"].likely_causes[0].id == "address_gone"


class TestACertificate:
    """Who presents an expired one is the root, however well it runs."""

    @pytest.mark.parametrize(
        ("text", "needs"),
        [
            (f'ERROR Get "https://idp:8443/keys": tls: failed to verify certificate: {EXPIRED}', ""),
            ("ERROR CertificateExpiredException: NotAfter: Sun Mar 01 00:00:00 UTC 2026", "idp"),
        ],
    )
    def test_leads_to_who_presents_it(self, text: str, needs: str) -> None:
        found = judged(service("web", text, needs=needs), service("idp"))

        assert found["web"].root == "shop-idp-1"
        assert found["web"].likely_causes[0].id == "certificate_expired"
        assert found["idp"].status == "healthy"

    def test_of_several_declared_none_is_guessed(self) -> None:
        text = "ERROR CertificateExpiredException: NotAfter: Sun Mar 01 00:00:00 UTC 2026"

        assert judged(service("web", text, needs="idp db"), service("idp"), service("db"))["web"].root is None


class TestAFullServer:
    """A client passes on what its server says; the name of the project says nothing of what a service is."""

    def test_is_the_root_in_a_project_that_is_called_after_a_database(self) -> None:
        text = 'ERROR psycopg2.errors.DiskFull: could not extend file "base/1": No space left on device'

        api, db = (
            one.model_copy(update={"name": f"db-shop-{one.name}"})
            for one in (service("api", text, needs="db"), service("db"))
        )

        assert judged(api, db)["db-shop-shop-api"].root == "db-shop-shop-db-1"


class TestASharedVolume:
    """Who says first that it is full is the root of the others."""

    def full(self, name: str, seconds_ago: float) -> ContainerFacts:
        mounts = (Mount(type="volume", source="shop_data", target="/data"),)
        return service(name, logs=logs(line(f"level=error err={FULL!r}", at=ago(seconds_ago))), mounts=mounts)

    def test_is_filled_by_the_first_that_says_so(self) -> None:
        found = roots(self.full("upload", 50), self.full("archive", 90), self.full("thumbs", 40))

        assert found == follow("archive", "upload", "thumbs")

    def test_one_that_is_well_is_not_blamed(self) -> None:
        well = service("index", mounts=(Mount(type="volume", source="shop_data", target="/data"),))

        assert roots(self.full("upload", 50), well) == {"upload": None}


class TestRefusedLogins:
    """A client that was made anew and is refused ever since is the root, not the server that refuses it."""

    DENIED = 'FATAL:  password authentication failed for user "shop"'

    def client(self, made_ago: float) -> ContainerFacts:
        past = lifecycle(exits=(ended(0, at=ago(made_ago - 1), requested=True, lifetime_seconds=3000.0),))
        said = [line(f"ERROR PSQLException: {self.DENIED}", at=ago(made_ago - 5 - 5 * at)) for at in range(5)]
        facts = {"created_at": ago(made_ago), "started_at": ago(made_ago - 2), "lifecycle": past}
        return service("api", logs=logs(*said), needs="db", **facts)

    def server(self, **facts: Any) -> ContainerFacts:
        said = [line(f"2026-01-01 11:59:00 UTC [61] {self.DENIED}", at=ago(50 - at)) for at in range(5)]
        return service("db", logs=logs(*said), **facts)

    def test_lead_to_the_client(self) -> None:
        web = service("web", "requests.exceptions.HTTPError: 500 Server Error for url: http://api:8080/", needs="api")

        assert roots(web, self.client(60), self.server()) == follow("api", "db", "web")

    def test_but_to_the_server_where_that_was_made_anew(self) -> None:
        past = lifecycle(exits=(ended(0, at=ago(59), requested=True, lifetime_seconds=3000.0),))
        server = self.server(created_at=ago(60), started_at=ago(58), lifecycle=past)
        said = [line("INFO 5 orders stored", at=ago(minutes=9))]
        said += [line(f"ERROR PSQLException: {self.DENIED}", at=ago(50 - 5 * at)) for at in range(5)]

        assert roots(service("api", logs=logs(*said), needs="db"), server) == follow("db", "api")
        client = self.client(70).model_copy(update={"logs": logs(*said)})
        assert roots(client, server)["db"] is None

    def test_a_pool_that_waited_for_it_is_no_trouble_of_the_connection(self) -> None:
        wait = "ERROR HikariPool-1 - Connection is not available, request timed out after 2001ms"
        api = service(
            "api", wait, f"org.postgresql.util.PSQLException: {self.DENIED}", "\tat a.b(C.java:1)", needs="db"
        )

        causes = judged(api, self.server())["api"].likely_causes

        assert {"peer_overloaded", "packets_dropped"}.isdisjoint(cause.id for cause in causes)


class TestAnOutsider:
    """How somebody outside of Docker is missed says more than that he is outside."""

    def test_no_route(self) -> None:
        text = 'ERROR Get "http://erp.example.com:80/": dial tcp 192.0.2.10:80: connect: no route to host'

        causes = [cause.id for cause in judged(service("sync", text))["sync"].likely_causes]

        assert causes[:2] == ["no_route", "outside_peer"]


def test_compose_gives_up_at_once_where_what_it_waits_for_is_unhealthy() -> None:
    wiring = Wiring(network_mode="shop_default")
    api = service("api", state=ContainerState.CREATED, started_at=None, created_at=ago(45), logs=None, wiring=wiring)
    api = api.model_copy(update={"compose": compose("api", depends_on="db:service_healthy:false")})
    db = service("db", health=health(HealthStatus.UNHEALTHY))

    assert roots(api, db) == follow("db", "api")
    assert judged(api, service("db", health=health(HealthStatus.STARTING)))["api"].status == "healthy"
