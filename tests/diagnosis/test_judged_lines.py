# ruff: noqa: E501 -- lines as programs write them
"""Lines that were judged wrongly by 0.1.0: what is no failure, what is one, and which."""

import pytest

from bcon_exporter.diagnosis.log_events import LogEvent, find_events
from bcon_exporter.model.container_facts import HealthStatus, LogLine
from bcon_exporter.model.findings import SymptomType
from tests.diagnosis.judging import diagnose, shipped
from tests.factories import container, health, logs
from tests.table_rows import table

WARNED = "2026-03-01T10:00:00.000Z  WARN 1 --- [nio-1] c.e.s.Orders : could not refresh the cache"
STALE = ("java.lang.IllegalStateException: cache is stale", "\tat c.e.s.Cache.get(Cache.java:12)")
PYTHON = ("Traceback (most recent call last):", '  File "a.py", line 3, in f', "ValueError: stale")


def failed(*texts: str) -> list[LogEvent]:
    lines = [LogLine(at=None, stream="stderr", text=text) for text in texts]
    return [event for event in find_events(lines, shipped()) if event.failed]


def signatures(*texts: str) -> set[str]:
    return {hit.signature.id for event in failed(*texts) for hit in event.hits}


@table(
    "text",
    [
        "critical=0 warning=0 ok=12",
        "CRITICAL: 0 WARNING: 0",
        "errors: 0, warnings: 0, critical: 0",
        "Critical: 0, High: 0, Medium: 2",
        "[ok] 12 checks, CRITICAL 0, WARNING 1",
        "ERROR 0 | WARN 0 | OK 12",
        "FATAL=0 ERROR=0 WARN=0",
        "summary - errors (0) failures (0)",
        "2026-03-01 10:00:00 ERROR [nio-1] SSL handshake error from client 203.0.113.9: no shared cipher",
        "ERROR: tls: client offered only unsupported versions: [301]",
        "ERROR TLS handshake with 203.0.113.9:51234 failed: EOF",
        "ERROR mosquitto: OpenSSL Error[0]: error:0A000416:SSL routines::sslv3 alert certificate unknown",
        "[2026-03-01 10:00:00.123 53/T100] WARNING: Connection error (8.8.8.8#53): failed to send TCP(read_write) packet "
        "(Connection prematurely closed by remote server)",
    ],
)
def test_no_failure_of_the_container(text: str) -> None:
    assert failed(text) == []


@pytest.mark.parametrize(
    "text",
    ["critical=1 warning=0 ok=11", "CRITICAL: 2 WARNING: 0", "ERROR TLS handshake with db:5432 failed: EOF"],
)
def test_but_these_are(text: str) -> None:
    assert len(failed(text)) == 1


@pytest.mark.parametrize("between", [(), ("",)])
def test_a_trace_below_a_warning_has_its_level(between: tuple[str, ...]) -> None:
    assert failed(WARNED, *between, *STALE) == []
    assert len(failed(WARNED.replace(" WARN", "ERROR"), *between, *STALE)) == 1


def test_so_has_a_python_trace_if_the_program_goes_on() -> None:
    warned = "2026-03-01 10:00:00 WARNING shop: could not refresh"

    assert failed(warned, *PYTHON, "2026-03-01 10:00:01 INFO shop: order 7 stored") == []
    assert len(failed(warned, *PYTHON)) == 1


def test_many_good_lines_end_a_failure_of_the_start() -> None:
    failure = "ERROR config: could not reach the license server: connection refused"
    good = [f"GET /a/{number} 200 3ms" for number in range(150)]

    assert failed(failure, *good) == []
    assert len(failed(failure, *good[:2])) == 1
    assert len(failed("ERROR theme: not loaded", *(f"tick {number}" for number in range(150)))) == 0
    assert len(failed(*(f"tick {number}" for number in range(150)), "ERROR theme: not loaded")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "10:00:01 INFO db not available, trying again in 5 seconds",
        "Postgres is unavailable - sleeping",
        "INFO Dependency queue:5672 is unavailable - sleeping",
        '{"level":"info","msg":"database is not reachable yet, will retry"}',
        "waiting for db to become available...",
    ],
)
def test_what_never_becomes_available_is_a_failure_though_told_as_information(text: str) -> None:
    assert signatures(*[text] * 6) == {"net_not_available"}
    assert failed(*[text] * 2) == []
    assert failed(*[text] * 6, "INFO connected to db") == []


@pytest.mark.parametrize(
    "text",
    ["Readiness probe failing: cache not ready", '{"level":"info","msg":"Readiness probe failing: db not ready"}'],
)
def test_a_program_that_says_it_is_not_ready(text: str) -> None:
    assert signatures(text) == {"readiness_failing"}


def test_what_its_own_health_check_provokes_is_no_failure() -> None:
    denied = "[Warning] Access denied for user 'root'@'localhost' (using password: NO)"
    lines = logs(*[denied] * 5)

    assert diagnose(container(logs=lines, health=health())).status == "healthy"
    assert diagnose(container(logs=lines)).status != "healthy"
    assert diagnose(container(logs=lines, health=health(HealthStatus.UNHEALTHY))).status == "error"


@table(
    ("signature", "text"),
    [
        ("missing_template", "ERROR job 17: template missing: invoice.html"),
        ("acme_challenge", "Certbot failed to authenticate some domains (authenticator: webroot)."),
        (
            "acme_rate_limit",
            "ERROR acme: error: 429 :: urn:ietf:params:acme:error:rateLimited :: too many certificates",
        ),
        ("backup_locked", "Failed to create/acquire the lock /repo/lock (timeout)."),
        ("backup_locked", "Fatal: unable to create lock in backend: repository is already locked by PID 12"),
        ("backup_repository", "Repository /repo does not exist."),
        ("backup_repository", "Fatal: unable to open repository at sftp:nas:/backup: unable to start the sftp session"),
        ("smart_home_setup", "ERROR (MainThread) [homeassistant.setup] Setup failed for mqtt: Integration failed."),
        ("radio_adapter", "[2026-03-01 10:00:00] error:  z2m: Error while opening serialport 'Error: cannot open'"),
        ("stream_input", "Error opening input file rtsp://cam/stream."),
        ("codec_missing", "Error opening output files: Encoder not found"),
        (
            "missing_module",
            "[Nest] 1  - ERROR [ExceptionHandler] Nest can't resolve dependencies of the OrdersService (?).",
        ),
        ("maintenance_mode", "Nextcloud is in maintenance mode, no apps are loaded."),
        ("data_folder_invalid", "Your data directory is invalid"),
        ("auth_postgres", "FATAL:  28P01: Passwort-Authentifizierung"),
        (
            "auth_mysql",
            "ERROR 1045 (28000): Zugriff verweigert für Benutzer 'shop'@'172.18.0.5' (verwendetes Passwort: JA)",
        ),
        ("connections_exhausted", "FATAL:  tut mir leid, schon zu viele Verbindungen"),
        ("connections_exhausted", "FATAL:  lo siento, ya tenemos demasiados clientes"),
        ("peer_starting", "FATAL:  le système de bases de données se lance"),
        ("missing_table", "FATAL:  la base de datos «shop» no existe"),
        (
            "disk_full",
            "FEHLER:  konnte Datei »base/1« nicht erweitern: Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
        ),
    ],
)
def test_which_failure_it_is(signature: str, text: str) -> None:
    assert signatures(text) == {signature}


def test_a_mount_that_is_read_only_by_configuration_decides() -> None:
    report = diagnose(container(logs=logs("OSError: [Errno 30] Read-only file system: '/data/x'")))

    assert SymptomType.DISK_PRESSURE not in {one.type for one in report.symptoms}
