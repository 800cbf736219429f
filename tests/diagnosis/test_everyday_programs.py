# ruff: noqa: E501 -- lines as programs write them
"""What the programs of an ordinary host write: what is no failure, how grave one is, and what it comes from."""

import pytest

from bcon_exporter.diagnosis.log_events import LogEvent, find_events
from bcon_exporter.model.container_facts import LogLine
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.signatures import Level
from tests.diagnosis.judging import diagnose, shipped
from tests.factories import container, exited, logs, network
from tests.table_rows import table


def events(*texts: str) -> list[LogEvent]:
    lines = [LogLine(at=None, stream="stderr", text=text) for text in texts]
    return list(find_events(lines, shipped()))


def failed(*texts: str) -> list[LogEvent]:
    return [event for event in events(*texts) if event.failed]


def first_cause(*texts: str) -> str:
    return diagnose(container(logs=logs(*texts))).likely_causes[0].id


def symptoms(*texts: str) -> dict[str, str]:
    found = diagnose(container(logs=logs(*texts))).symptoms
    return {str(one.type): str(one.severity) for one in found if one.severity != "info"}


@table(
    ("cause", "text"),
    [
        ("capability_missing", "nginx: [emerg] bind() to 0.0.0.0:80 failed (13: Permission denied)"),
        ("capability_missing", "Error: listen EACCES: permission denied 0.0.0.0:443"),
        ("capability_missing", "2026/03/01 10:00:00 listen tcp :80: bind: permission denied"),
        ("capability_missing", "(13)Permission denied: AH00072: make_sock: could not bind to address 0.0.0.0:443"),
        ("capability_missing", "[ALERT] (1) : Starting frontend web: cannot bind socket (Permission denied) [0.0.0.0:80]"),
        ("capability_missing", "dnsmasq: failed to create listening socket for port 53: Permission denied"),
        ("capability_missing", "PermissionError: [Errno 13] error while attempting to bind on address ('0.0.0.0', 80): permission denied"),
        ("capability_missing", "Permission denied - bind(2) for \"0.0.0.0\" port 80 (Errno::EACCES)"),
        ("capability_missing", "java.net.SocketException: Permission denied (Bind failed)"),
        ("default_user_is_local", "2026-03-01 10:00:00.000 [error] <0.9.0> PLAIN login refused: user 'guest' can only connect via localhost"),
        ("default_user_is_local", "[error] <0.9.0> HTTP access denied: user 'guest' - User can only log in via localhost"),
        ("wrong_credentials", "[error] <0.9.0> PLAIN login refused: user 'shop' - invalid credentials"),
        ("declared_nowhere", "WARN [Consumer clientId=c-1] Error while fetching metadata : {payments=UNKNOWN_TOPIC_OR_PARTITION}"),
        ("declared_nowhere", "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: Topic payments not present in metadata: This server does not host this topic-partition."),
        ("declared_nowhere", "ERROR channel exception: NOT_FOUND - no queue 'mails' in vhost '/'"),
        ("declared_nowhere", "ERROR: index_not_found_exception: no such index [products]"),
        ("migration_not_run", 'ERROR:  column "discount" does not exist at character 8'),
        ("unclean_shutdown", "sqlite3.DatabaseError: database disk image is malformed"),
        ("unclean_shutdown", "[ERROR] [MY-012224] [InnoDB] Database page corruption on disk or a failed file read of page [page id: space=5, page number=3]."),
        ("unclean_shutdown", 'ERROR:  invalid page in block 14 of relation base/16384/16390'),
        ("unclean_shutdown", "PANIC:  could not locate a valid checkpoint record"),
        ("unclean_shutdown", "rocksdb: Corruption: block checksum mismatch: stored = 1, computed = 2"),
        ("unclean_shutdown", "SqliteError: file is not a database (code: 'SQLITE_NOTADB')"),
        ("unclean_shutdown", "org.apache.lucene.index.CorruptIndexException: checksum failed (hardware problem?)"),
        ("version_changed", "FATAL:  database files are incompatible with server"),
        ("version_changed", "[ERROR] [MY-014060] [Server] Invalid MySQL server downgrade: Cannot downgrade from 80400 to 80039."),
        ("version_changed", "# Can't handle RDB format version 12"),
        ("version_changed", "ERROR UPGRADE PROBLEM: Found an invalid featureCompatibilityVersion document (ERROR: BadValue)"),
        ("version_changed", "java.lang.IllegalStateException: cannot upgrade a node from version [6.8.0] directly to version [8.15.0]"),
        ("version_changed", "Error: Can't start Nextcloud because the version of the data (29.0.4.1) is higher than the docker image version (28.0.1.1) and downgrading is not supported."),
        ("crlf_line_endings", "env: 'python3\\r': No such file or directory"),
        ("crlf_line_endings", "/entrypoint.sh: line 2: $'\\r': command not found"),
        ("crlf_line_endings", "bash: ./run.sh: /bin/bash^M: bad interpreter: No such file or directory"),
        ("interpreter_missing", "env: 'python3': No such file or directory"),
        ("disk_quota_exceeded", "ERROR upload failed: googleapi: Error 403: The user has exceeded their Drive storage quota, storageQuotaExceeded"),
        ("disk_quota_exceeded", "ERROR : put a.tar: 507 Insufficient Storage"),
        ("disk_quota_exceeded", "ERROR S3: Bucket quota exceeded (XMinioAdminBucketQuotaExceeded)"),
        ("disk_quota_exceeded", "b2: Cannot upload files, storage cap exceeded. See the Caps & Alerts page"),
        ("pids_limit_reached", 'java.io.IOException: Cannot run program "/usr/bin/convert": error=11, Resource temporarily unavailable'),
        ("command_not_in_image", 'java.io.IOException: Cannot run program "/usr/bin/convert": error=2, No such file or directory'),
    ],
)  # fmt: skip
def test_the_likeliest_cause(cause: str, text: str) -> None:
    assert first_cause(text) == cause


@table(
    "texts",
    [
        ("panic: runtime error: index out of range [5] with length 3", "", "goroutine 1 [running]:", "main.main()", "\t/app/main.go:12 +0x1d"),
        ("panic: runtime error: invalid memory address or nil pointer dereference", "[signal SIGSEGV: segmentation violation code=0x1 addr=0x8 pc=0x4a2f31]", "", "goroutine 7 [running]:", "main.run(0x0)", "\t/app/run.go:8 +0x2a"),
        ('Exception in thread "main" java.lang.NullPointerException: Cannot invoke "Order.id()" because "order" is null', "\tat shop.Main.main(Main.java:8)"),
        ("Unhandled exception. System.NullReferenceException: Object reference not set to an instance of an object.", "   at Shop.Program.Main() in /src/Program.cs:line 9"),
        ("Traceback (most recent call last):", '  File "/app/a.py", line 3, in <module>', "AttributeError: 'NoneType' object has no attribute 'id'"),
        ("TypeError: Cannot read properties of undefined (reading 'id')", "    at Object.<anonymous> (/app/index.js:3:9)"),
        ("thread 'main' panicked at src/main.rs:4:9:", "called `Option::unwrap()` on a `None` value"),
        ("PHP Fatal error:  Uncaught Error: Call to a member function total() on null in /srv/Cart.php:7",),
        ("NoMethodError (undefined method `total' for nil:NilClass):",),
    ],
)  # fmt: skip
def test_a_bug_of_the_program_is_named_as_that(texts: tuple[str, ...]) -> None:
    assert first_cause(*texts) == "program_bug"


def test_a_crash_in_native_code_is_none() -> None:
    assert first_cause("Segmentation fault (core dumped)") == "native_crash"
    cgo = (
        "fatal error: unexpected signal during runtime execution",
        "[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x7f1]",
    )
    assert first_cause(*cgo) == "native_crash"  # fmt: skip


def test_a_bug_that_follows_from_a_lost_connection_is_not_told() -> None:
    lost = "ERROR could not connect to db:5432: Connection refused"

    report = diagnose(container(logs=logs(lost, "TypeError: Cannot read properties of null (reading 'query')")))

    assert "program_bug" not in {cause.id for cause in report.likely_causes}


@pytest.mark.parametrize(
    "text",
    [
        "2026/03/01 10:00:00 [error] 7#7: *3 upstream timed out (110: Operation timed out) while reading response header from upstream, client: 10.0.0.9, server: shop, request: \"GET /a HTTP/1.1\", upstream: \"http://172.18.0.4:80/a\"",
        "2026/03/01 10:00:00 [error] 7#7: *3 upstream timed out (110: Connection timed out) while reading upstream, client: 10.0.0.9, server: shop",
        "[proxy_fcgi:error] [pid 9] (70007)The timeout specified has expired: [client 10.0.0.9:5000] AH01075: Error dispatching request to : (polling)",
        "[proxy_http:error] [pid 9] (70007)The timeout specified has expired: [client 10.0.0.9:5000] AH01102: error reading status line from remote server app:8080",
        '{"level":"error","logger":"http.log.error","msg":"net/http: timeout awaiting response headers","request":{"remote_ip":"10.0.0.9","method":"GET","uri":"/a"},"status":504}',
    ],
)  # fmt: skip
def test_an_upstream_that_answers_late_is_slow_and_no_more(text: str) -> None:
    assert symptoms(*[text] * 3) == {"slow_response": "warning"}
    late = '10.0.0.9 - - [01/Mar/2026:10:00:00 +0000] "GET /a HTTP/1.1" 504 167 "-" "curl"'
    assert symptoms(*[text, late] * 3) == {"slow_response": "warning"}
    broken = late.replace(" 504 ", " 500 ")
    assert symptoms(*[text, broken] * 3) == {"slow_response": "warning", "log_error": "error"}


def test_an_upstream_that_cannot_be_reached_is_a_matter_of_the_network() -> None:
    text = '2026/03/01 10:00:00 [error] 7#7: *3 upstream timed out (110: Operation timed out) while connecting to upstream, client: 10.0.0.9, upstream: "http://172.18.0.4:80/a"'

    assert symptoms(*[text] * 3)["network_error"] == "error"


@table(
    "text",
    [
        "[10:00:00] [WRN] [31] Slow HTTP Response from http://media.lan/Users/1/Views to 10.0.0.9 in 0:00:02.1173 with Status Code 200",
        "WARN slow response: GET /orders took 4210 ms",
        '{"level":"warn","msg":"apply request took too long","took":"1.204s","expected-duration":"100ms"}',
        "2026-03-01 10:00:00 WARNING (MainThread) [homeassistant.helpers.entity] Update of sensor.nas is taking over 10 seconds",
        "WARNING:asyncio:Executing <Task pending name='Task-3'> took 2.314 seconds",
        "2026-03-01T10:00:00Z 0 [Note] InnoDB: page_cleaner: 1000ms intended loop took 5012ms. The settings might not be optimal.",
        "WARN HikariPool-1 - Thread starvation or clock leap detected (housekeeper delta=1m2s).",
        "[ERROR] slow transaction of 8123 ms",
    ],
)
def test_what_calls_itself_slow_is_slow(text: str) -> None:
    assert symptoms(*[text] * 3).get("slow_response") == "warning"


def test_a_worker_that_was_ended_because_it_took_too_long_is_an_error() -> None:
    assert failed("[2026-03-01 10:00:00 +0000] [7] [CRITICAL] WORKER TIMEOUT (pid:12)") != []


def test_a_slow_log_that_is_only_set_up_is_none() -> None:
    assert symptoms("INFO slow response log enabled, threshold 500 ms", "INFO slow requests: 0") == {}


@pytest.mark.parametrize("level", ["DEBUG", "WARNING"])
def test_a_trace_below_a_record_has_its_level(level: str) -> None:
    record = f"2026-03-01 10:00:00,318 {level} app.cache Exception while reading key 'a'."
    trace = (
        "Traceback (most recent call last):",
        '  File "/app/c.py", line 8, in get',
        "    raise KeyError(key)",
        "KeyError: 'a'",
    )

    assert failed(record, *trace, "2026-03-01 10:00:01,000 INFO app.web GET / 200") == []
    assert len(failed(record, *trace)) == 1  # the program may have ended with it
    assert len(failed(record.replace(level, "ERROR"), *trace, "2026-03-01 10:00:01,000 INFO app.web GET / 200")) == 1  # fmt: skip


def test_a_trace_that_follows_an_unrelated_line_of_information_counts() -> None:
    trace = ("Traceback (most recent call last):", '  File "/app/c.py", line 8, in get', "KeyError: 'a'")

    assert (
        len(failed("2026-03-01 10:00:00 INFO app.web started", *trace, "2026-03-01 10:00:01 INFO app.web GET /")) == 1
    )


@pytest.mark.parametrize(
    "texts",
    [
        (
            "2026-03-01T10:00:00.881Z pid=1 tid=a WARN: {\"context\":\"Job raised exception\",\"job\":{\"class\":\"ReportJob\"}}",
            "2026-03-01T10:00:00.881Z pid=1 tid=a WARN: NoMethodError: undefined method `total' for nil",
            "2026-03-01T10:00:00.881Z pid=1 tid=a WARN: /app/app/jobs/report_job.rb:9:in `perform'",
        ),
        ("2026-03-01 10:00:00 [WARN] Job ReportJob failed: ArgumentError: wrong number of arguments, will be retried",) * 3,
    ],
)  # fmt: skip
def test_a_job_that_fails_in_lines_of_level_warning_is_a_warning(texts: tuple[str, ...]) -> None:
    assert symptoms(*texts * 3) == {"log_error": "warning"}


REDIS = "1:M 01 Mar 2026 10:00:00.301 "


def test_redis_knows_no_level_worse_than_warning() -> None:
    assert symptoms(*[f"{REDIS}# Failed opening the temp RDB file temp-9.rdb (in server root dir /data) for saving: Permission denied", f"{REDIS}# Background saving error"] * 3) == {"log_error": "error"}  # fmt: skip
    assert symptoms(f"{REDIS}# Fatal error loading the DB, check server logs. Exiting.") == {"log_error": "error"}
    assert symptoms(f"{REDIS}# WARNING Memory overcommit must be enabled! Without it, a background save may fail") == {}
    assert (
        symptoms(f"{REDIS}# WARNING: The TCP backlog setting of 511 cannot be enforced because somaxconn is 128.") == {}
    )
    assert symptoms(f"{REDIS}# Server initialized", f"{REDIS}* Ready to accept connections") == {}


@pytest.mark.parametrize(
    "texts",
    [
        ("2026-03-01T10:00:00Z WARN Try 1 of 3: bad response status code 503, retrying in 5s", "INFO address of a.example.org changed", "INFO record updated, last failure: never"),
        ("WARN upload failed (attempt 2/5): 502 Bad Gateway", "INFO chunk 7 queued", "INFO chunk 8 queued", "INFO chunk 9 queued"),
        ("2026/03/01 10:00:00 ERROR : docs/a.odt: Failed to copy: can't copy - source file is being updated", "2026/03/01 10:00:00 ERROR : Attempt 1/3 failed with 1 errors and: can't copy - source file is being updated", "2026/03/01 10:00:09 ERROR : Attempt 2/3 succeeded", "Transferred: 12 / 12, 100%"),
        ("ERROR backup: repository busy, attempt 1 of 4 failed", "INFO backup: attempt 2 of 4 succeeded"),
        ("  [✗] Time synchronisation is currently unavailable", "  [✓] Time synchronisation is now available", "  [i] Starting the resolver"),
        ("Mar  1 10:00:00 mail postfix/smtp[9]: connect to mx1.example.org[198.51.100.7]:25: Connection timed out", "Mar  1 10:00:31 mail postfix/smtp[9]: 4C2F1A: to=<failed-orders@example.org>, relay=mx2.example.org[198.51.100.8]:25, dsn=2.0.0, status=sent (250 2.0.0 Ok)"),
        ("2026-03-01 10:00:00 1tQ9 mx1.example.org [198.51.100.7] Connection timed out", "2026-03-01 10:00:31 1tQ9 => errors@example.org R=dnslookup T=remote_smtp H=mx2.example.org [198.51.100.8] C=\"250 OK\"", "2026-03-01 10:00:31 1tQ9 Completed"),
    ],
)  # fmt: skip
def test_a_failure_after_which_the_next_try_succeeded_is_over(texts: tuple[str, ...]) -> None:
    assert failed(*texts) == []
    assert diagnose(container(logs=logs(*texts))).status == "healthy"


@pytest.mark.parametrize(
    "texts",
    [
        ("WARN upload failed (attempt 5/5): 502 Bad Gateway", "INFO chunk 7 queued", "INFO chunk 8 queued", "INFO chunk 9 queued"),
        ("ERROR : Attempt 1/3 failed with 1 errors and: can't copy", "ERROR : Attempt 2/3 failed with 1 errors and: can't copy", "ERROR : Attempt 3/3 failed with 1 errors and: can't copy"),
        ("WARN upload failed (attempt 2/5): 502 Bad Gateway", "INFO chunk 7 queued"),
        ("  [✗] Time synchronisation is currently unavailable", "  [i] Starting the resolver"),
        ("Mar  1 10:00:00 mail postfix/smtp[9]: connect to mx1.example.org[198.51.100.7]:25: Connection timed out", "Mar  1 10:00:31 mail postfix/smtp[9]: 4C2F1A: to=<a@example.org>, relay=none, status=deferred (connect to mx1.example.org[198.51.100.7]:25: Connection timed out)"),
    ],
)  # fmt: skip
def test_but_not_one_whose_tries_all_failed(texts: tuple[str, ...]) -> None:
    assert failed(*texts) != []


TRY = "WARN upload failed (attempt 2/5): 502 Bad Gateway"
LAST_TRY = TRY.replace("2/5", "5/5")
GOES_ON = ("INFO chunk 7 queued", "INFO chunk 8 queued")


def test_all_tries_before_the_one_that_succeeded_are_over() -> None:
    tries = [TRY.replace("2/5", f"{number}/5") for number in range(1, 6)]

    assert failed(*tries[:4], *GOES_ON) == []
    assert [event.text for event in failed(*tries, *GOES_ON)] == tries
    assert [event.text for event in failed(TRY, LAST_TRY, TRY, *GOES_ON)] == [TRY, LAST_TRY]
    assert [event.text for event in failed(LAST_TRY, TRY, TRY, *GOES_ON)] == [LAST_TRY]


def test_a_try_before_the_program_gave_up_is_not_over() -> None:
    assert [event.text for event in failed(TRY, *GOES_ON, "ERROR upload: giving up", *GOES_ON)] == [
        TRY,
        "ERROR upload: giving up",
    ]


def test_a_try_before_a_failure_of_something_else_is_over() -> None:
    other = "ERROR thumbnail of a.odt failed"

    assert [event.text for event in failed(TRY, *GOES_ON, other, *GOES_ON)] == [other]


@pytest.mark.parametrize(
    "text",
    [
        "Mar  1 10:00:00 dnsmasq[301]: reply fatal-crash.example.org is NXDOMAIN",
        "Mar  1 10:00:00 dnsmasq[301]: cached panic.example.org is NODATA-IPv6",
        "Mar  1 10:00:00 dnsmasq[301]: query[A] error-reports.example.org from 10.0.0.9",
        "Mar  1 10:00:00 dnsmasq[301]: gravity blocked failed-logins.example.org is 0.0.0.0",
    ],
)
def test_the_names_that_a_resolver_is_asked_for_are_no_failures(text: str) -> None:
    assert events(text) == []


def test_of_chained_exceptions_the_one_that_names_the_server_tells_whom_it_is_about() -> None:
    server = container(name="cache", networks=(network(aliases=["cache"]),))
    trace = (
        "Traceback (most recent call last):",
        '  File "/usr/lib/python3/redis/connection.py", line 277, in connect',
        "ConnectionRefusedError: [Errno 111] Connection refused",
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        "Traceback (most recent call last):",
        '  File "/app/a.py", line 9, in count',
        "redis.exceptions.ConnectionError: Error 111 connecting to cache:6379. Connection refused.",
    )

    report = diagnose(container(name="web", networks=(network(),), logs=logs(*trace)), server)

    assert report.likely_causes[0].peer == "cache"


def test_of_chained_exceptions_the_first_that_names_a_server_stands_for_all() -> None:
    chained = (
        "Traceback (most recent call last):",
        '  File "/usr/lib/python3/redis/connection.py", line 277, in connect',
        "redis.exceptions.ConnectionError: Error 111 connecting to cache:6379. Connection refused.",
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        "Traceback (most recent call last):",
        '  File "/app/a.py", line 9, in count',
        "redis.exceptions.ConnectionError: Error 111 connecting to spare:6379. Connection refused.",
    )

    assert [hit.peer for event in events(*chained) for hit in event.hits] == ["cache:6379"]


def test_a_container_that_could_fork_no_more_and_ended_with_it() -> None:
    said = ("sh: can't fork: Resource temporarily unavailable",)

    found = {one.type: one for one in diagnose(exited(2, logs=logs(*said * 2))).symptoms}

    assert "shows 2 failed process starts, " in found[SymptomType.PIDS_LIMIT].description


def test_levels_of_these_lines() -> None:
    assert [event.level for event in events(f"{REDIS}# Background saving error")] == [Level.ERROR]
