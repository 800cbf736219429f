# ruff: noqa: E501, RUF001 -- lines as programs write them
"""What a client quotes of a server's answer is the server's: the client has no full disk or memory by it."""

from typing import Any

import pytest

from bcon_exporter.diagnosis.log_events import find_events
from bcon_exporter.model.container_facts import ContainerFacts, LogLine
from bcon_exporter.model.findings import SymptomType
from tests.diagnosis.judging import shipped
from tests.diagnosis.test_cascades import follow, judged, roots, service
from tests.factories import ago, ended, lifecycle, line, logs

OF_A_FULL_DISK = (
    "2026-01-01T11:59:42Z E! [outputs.influxdb] When writing to [http://tsdb:8086]: received error engine: error writing WAL entry: write /var/lib/influxdb/wal/_00012.wal: no space left on device; discarding points",
    'influxdb.exceptions.InfluxDBServerError: {"error":"engine: error writing WAL entry: write /var/lib/influxdb/wal/_00009.wal: no space left on device"}',
    'ERROR HTTP response body: {"code":"internal error","message":"unexpected error writing points: engine: write /var/lib/x: no space left on device"}',
    'ts=2026-01-01T11:59:42Z level=error msg="non-recoverable error" url=http://tsdb:8428/api/v1/write err="server returned HTTP status 500 Internal Server Error: write to WAL: log samples: write /data/wal/00012: no space left on device"',
    'level=warn component=client host=loki:3100 msg="error sending batch, will retry" status=500 error="server returned HTTP status 500 Internal Server Error (500): open /loki/wal/00012: no space left on device"',
    'feign.FeignException$InternalServerError: [500] during [POST] to [http://files:8080/x] [Files#put()]: [{"error":"No space left on device"}]',
    'org.springframework.web.client.HttpServerErrorException$InternalServerError: 500 : "{"error":"java.io.IOException: No space left on device"}"',
    'AxiosError: Request failed with status code 500 {"error":"ENOSPC: no space left on device, write"}',
    "ERROR upload: POST http://files:8080/upload returned 507 Insufficient Storage",
    "requests.exceptions.HTTPError: 507 Server Error: Insufficient Storage for url: http://files:8080/x",
    "pymysql.err.InternalError: (1030, 'Got error 28 \"No space left on device\" from storage engine')",
    "pymysql.err.OperationalError: (3, \"Error writing file '/tmp/MLfd' (Errcode: 28 - No space left on device)\")",
    'java.sql.SQLException: Disk full (/tmp/#sql_1_0); waiting for someone to free some space... (errno: 28 "No space left on device")',
    'psycopg2.errors.DiskFull: could not extend file "base/16384/16500": No space left on device',
    'sqlalchemy.exc.InternalError: (psycopg2.errors.DiskFull) could not extend file "base/1": No space left on device',
    "django.db.utils.OperationalError: could not write block 3 of temporary file: No space left on device",
    'docker.errors.APIError: 500 Server Error for http+docker://localhost/v1.41/containers/create: Internal Server Error ("write /var/lib/docker/x: no space left on device")',
    "elasticsearch.ApiError: ApiError(500, 'i_o_exception', 'No space left on device')",
    'ResponseError: {"error":{"type":"i_o_exception","reason":"No space left on device"},"status":500}',
    "ERROR rpc error: code = ResourceExhausted desc = etcdserver: mvcc: database space exceeded",
    "ERROR rpc error: code = Unknown desc = write /data/blob/1: no space left on device",
    "clickhouse_driver.errors.ServerException: Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space",
    "ERROR cluster_block_exception: index [a] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark]",
    "ERROR amqp: connection blocked by broker: low on disk",
)
OF_A_FULL_MEMORY = (
    "redis.exceptions.ResponseError: OOM command not allowed when used memory > 'maxmemory'.",
    "psycopg2.errors.OutOfMemory: out of memory",
    "org.postgresql.util.PSQLException: ERROR: out of memory",
    "requests.exceptions.HTTPError: 500 Server Error: java.lang.OutOfMemoryError: Java heap space for url: http://search:9200/_bulk",
    'org.springframework.web.client.HttpServerErrorException$InternalServerError: 500 : "{"message":"java.lang.OutOfMemoryError: Java heap space"}"',
    "elasticsearch.exceptions.TransportError: TransportError(500, 'out_of_memory_error', 'Java heap space')",
)
ITS_OWN_DISK = (
    "OSError: [Errno 28] No space left on device",
    "Error: ENOSPC: no space left on device, write",
    "ERROR POST /upload 500 12ms - ENOSPC: no space left on device, write",
    "ERROR failed to download http://example.com/x.tar to /tmp/x: write /tmp/x: no space left on device",
    "ERROR upload http://minio:9000/b failed: cannot buffer to /tmp/a: No space left on device",
    '2026/01/01 11:59:20 [crit] 31#31: *1 pwritev() "/var/cache/nginx/x" failed (28: No space left on device) while reading upstream, client: 10.0.0.1, server: _, request: "GET / HTTP/1.1", upstream: "http://api:8080/"',
    'ts=2026-01-01T11:59:42Z lvl=error msg="Error writing snapshot" error="error opening new segment file for wal (1): open /var/lib/influxdb/wal/1: no space left on device"',
    'level=error caller=push.go msg="push failed" status=500 err="open /loki/wal/00012: no space left on device"',
    '{"level":"error","status":500,"url":"http://files/write","error":"write /data/x: no space left on device"}',
    '{"level":"error","err":{"name":"InternalServerError","status":500,"message":"ENOSPC: no space left on device, write"}}',
    "sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) database or disk is full",
    "django.db.utils.OperationalError: database or disk is full",
    "ERROR InternalServerErrorException: ENOSPC: no space left on device, open '/app/uploads/x'",
    "requests.exceptions.ConnectionError: OSError(28, 'No space left on device') while spooling http://api:8080/x",
    'ERROR:  could not extend file "base/16384/16500": No space left on device',
)
RESOURCES = {SymptomType.DISK_PRESSURE, SymptomType.OOM_KILLED}


def symptoms(text: str) -> set[SymptomType]:
    events = find_events([LogLine(at=None, stream="stderr", text=text)], shipped())
    assert any(event.failed for event in events), text
    return {hit.signature.symptom for event in events for hit in event.hits}


def test_a_servers_answer_is_no_full_disk_or_memory_of_the_client() -> None:
    wrong = [text for text in (*OF_A_FULL_DISK, *OF_A_FULL_MEMORY) if symptoms(text) & RESOURCES]
    assert wrong == []


def test_its_own_full_disk_stays_its_own() -> None:
    assert [text for text in ITS_OWN_DISK if SymptomType.DISK_PRESSURE not in symptoms(text)] == []
    assert symptoms('Exception in thread "main" java.lang.OutOfMemoryError: Java heap space') == {
        SymptomType.OOM_KILLED
    }


def test_the_server_is_the_root_of_who_quotes_it() -> None:
    quoted = [*OF_A_FULL_DISK, *OF_A_FULL_MEMORY]
    wrong = [text for text in quoted if "//localhost" not in text and _root_of_the_only_dependency(text) != "store"]
    assert wrong == []


def _root_of_the_only_dependency(text: str) -> str | None:
    line_of_client = text
    for host in ("tsdb", "loki", "files", "search"):
        line_of_client = line_of_client.replace(f"//{host}:", "//store:").replace(f"={host}:", "=store:")
    return roots(service("client", line_of_client, needs="store"), service("store"))["client"]


def test_of_several_servers_the_named_one_is_the_root() -> None:
    for text, server in ((OF_A_FULL_DISK[0], "tsdb"), (OF_A_FULL_DISK[3], "tsdb"), (OF_A_FULL_DISK[8], "files")):
        found = roots(service("client", text, needs="tsdb files"), service("tsdb"), service("files"))
        assert found == {"client": server}


def test_who_asks_the_client_joins_too() -> None:
    full = 'ts=1 lvl=error msg="Error writing snapshot" error="open /var/lib/influxdb/wal/1: no space left on device"'
    panel = service("panel", "urllib.error.HTTPError: HTTP Error 500: Internal Server Error", needs="logger")
    logger = service("logger", OF_A_FULL_DISK[1], needs="influxdb")
    shipper = service("shipper", OF_A_FULL_DISK[0].replace("tsdb", "influxdb"), needs="influxdb")
    found = roots(service("influxdb", full), logger, shipper, panel)
    assert found == follow("influxdb", "logger", "shipper", "panel")


def made_anew(name: str, **facts: Any) -> ContainerFacts:
    """A service that was recreated shortly before its clients begin to fail."""
    before = lifecycle(exits=(ended(0, at=ago(46), requested=True),))
    return service(name, **{"created_at": ago(45), "started_at": ago(44), "lifecycle": before, **facts})


SIGN_FAILED = (
    "2026/01/01 11:59:20 signer: sign failed: Error making API request.",
    "",
    "URL: PUT http://vault:8200/v1/transit/sign/documents",
    "Code: 503. Errors:",
    "",
    "* Vault is sealed",
)
NOT_READ = (
    "2026-01-01 11:59:20 ERROR billing: could not read secret",
    "Traceback (most recent call last):",
    '  File "/app/billing/secrets.py", line 19, in read',
    '    return client.secrets.kv.v2.read_secret_version(path="billing/stripe")',
    "hvac.exceptions.VaultDown: Vault is sealed, on get http://vault:8200/v1/secret/data/billing/stripe",
)


class TestAServerThatRunsAndDoesNotServe:
    """It says so at once, long before its own health check does."""

    @pytest.mark.parametrize("needs", ["vault", "vault db", ""])
    def test_a_sealed_vault_is_the_root_of_its_clients(self, needs: str) -> None:
        clients = service("signer", *SIGN_FAILED, needs=needs), service("billing", *NOT_READ, needs=needs)
        found = roots(service("vault"), service("db"), *clients)
        assert found == {"signer": "vault", "billing": "vault"}

    @pytest.mark.parametrize(
        ("server", "text"),
        [
            ("consul", "ERROR agent: Unexpected response code: 500 (No cluster leader)"),
            (
                "es",
                "elasticsearch.exceptions.TransportError: TransportError(503, 'master_not_discovered_exception', None)",
            ),
            ("redis", "redis.exceptions.ClusterDownError: CLUSTERDOWN The cluster is down"),
            ("redis", "ReplyError: MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."),
            ("etcd", "ERROR etcdserver: no leader"),
            (
                "minio",
                "S3Error: code: XMinioServerNotInitialized, message: Server not initialized yet, please try again.",
            ),
            ("vault", "ERROR VaultError: Vault is not initialized"),
        ],
    )
    def test_so_is_any_server_that_says_that_it_cannot_serve(self, server: str, text: str) -> None:
        found = roots(service(server), service("db"), service("api", text, needs=f"{server} db"))
        assert found == {"api": server}

    def test_its_own_lines_about_itself_blame_nobody(self) -> None:
        assert roots(service("vault", "2026-01-01T11:59:20.530Z [INFO]  core: vault is sealed")) == {}


class TestAnErrorThatNoSignatureKnows:
    """Where it names the address of a server that was changed or started just before, that is why."""

    ODD: tuple[str, ...] = (
        "2026-01-01 11:59:20 ERROR quotes: no rates",
        "Traceback (most recent call last):",
        '  File "/app/rates.py", line 7, in load',
        "    return Rates.parse(answer)",
        "rates.errors.SchemaError: field 'bid' is missing, on get http://feed:8080/v2/rates",
    )

    def test_the_server_that_was_made_anew_is_the_root(self) -> None:
        found = judged(made_anew("feed"), service("web", *self.ODD), service("shop", *self.ODD, needs="feed"))
        assert {name: one.root for name, one in found.items()} == {
            "feed": None,
            **dict.fromkeys(("web", "shop"), "shop-feed-1"),
        }
        assert found["web"].likely_causes[0].id == "dependency_changed"

    def test_so_is_one_that_was_restarted(self) -> None:
        past = lifecycle(exits=(ended(0, at=ago(46), requested=True),))
        restarted = service("feed", started_at=ago(44), lifecycle=past)
        assert roots(restarted, service("web", *self.ODD)) == {"web": "feed"}

    def test_nor_is_the_restart_told_where_both_were_started(self) -> None:
        past = lifecycle(exits=(ended(0, at=ago(46), requested=True),))
        restarted = service("feed", started_at=ago(44), lifecycle=past)
        assert roots(restarted, service("web", *self.ODD, started_at=ago(43), lifecycle=past)) == {"web": None}

    def test_but_not_one_that_runs_as_before(self) -> None:
        assert roots(service("feed"), service("web", *self.ODD)) == {"web": None}

    def test_nor_one_that_was_changed_after_the_first_failure(self) -> None:
        assert roots(made_anew("feed", created_at=ago(5), started_at=ago(4)), service("web", *self.ODD)) == {
            "web": None
        }

    def test_nor_where_the_client_was_made_later(self) -> None:
        web = service("web", *self.ODD, created_at=ago(43), started_at=ago(42))
        assert roots(made_anew("feed"), web) == {"web": None}

    def test_nor_the_link_of_an_error_that_worked_with_another_server(self) -> None:
        two = (*self.ODD[:-1], "ValueError: bad")
        assert roots(made_anew("feed"), service("web", *two)) == {"web": None}


def test_an_indented_log_of_a_program_that_marks_its_entries() -> None:
    """Next.js indents every line: the failure belongs to no line before it."""
    trace = (
        " ⨯ AxiosError: Request failed with status code 502",
        "    at settle (/app/node_modules/axios/dist/node/axios.cjs:2019:12)",
        "    at async CartPage (/app/.next/server/app/cart/page.js:1:4211) {",
        '  code: "ERR_BAD_RESPONSE",',
        '  config: { method: "get", url: "http://proxy/api/cart" },',
        "}",
        " GET /cart 500 in 54ms",
    )
    before = ("   ▲ Next.js 14.2.13", " ✓ Ready in 412ms", *(f" GET /cart 200 in {at}ms" for at in range(30, 40)))
    said = (
        *(line(text, at=ago(seconds=400 - at)) for at, text in enumerate(before)),
        *(line(text, at=ago(40)) for text in trace),
    )
    nginx = (
        "2026/01/01 11:59:20 [error] 31#31: *1 connect() failed (111: Connection refused) while connecting to upstream, "
        'client: 172.18.0.1, server: , request: "GET / HTTP/1.1", upstream: "http://api:8080/", host: "shop"'
    )
    shop = service("storefront", logs=logs(*said), needs="proxy")
    found = roots(made_anew("api"), service("proxy", nginx, needs="api"), shop)
    assert found == {"storefront": "api", "proxy": "api"}
