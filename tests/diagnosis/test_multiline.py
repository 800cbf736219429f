"""A stack trace is one event, from whichever of its lines it is found."""

import pytest

from bcon_exporter.diagnosis.multiline import event_bounds, unwrapped
from tests.factories import logs
from tests.table_rows import table

PYTHON = (
    "[ERROR] worker failed",
    "Traceback (most recent call last):",
    '  File "/app/a.py", line 3, in <module>',
    "    connect()",
    "ConnectionRefusedError: [Errno 111] Connection refused",
)
JAVA = (
    "12:00:00 ERROR [main] request failed",
    "java.lang.IllegalStateException: no",
    "\tat a.B.c(B.java:1)",
    "Caused by: java.net.ConnectException: Connection refused",
    "\t... 12 more",
)
GO = ("panic: nil map", "", "goroutine 1 [running]:", "main.main()", "\t/app/main.go:7 +0x1d", "exit status 2")
NODE = ("Error: connect ECONNREFUSED 127.0.0.1:6379", "    at TCP.after (node:net:1)", "  errno: -111,", "}")


@pytest.mark.parametrize("trace", [PYTHON, JAVA, GO, NODE], ids=["python", "java", "go", "node"])
def test_every_line_of_a_trace_finds_the_same_bounds(trace: tuple[str, ...]) -> None:
    lines = logs("INFO before", *trace, "INFO after").lines

    assert {event_bounds(lines, index) for index in range(1, len(trace) + 1)} == {(1, len(trace) + 1)}


@pytest.mark.parametrize(("level", "is_one"), [("DEBUG", True), ("INFO", False), ("ERROR", True)])
def test_an_exception_below_a_line_belongs_to_it_where_loggers_write_it_so(level: str, is_one: bool) -> None:
    exception = ("java.util.concurrent.CancellationException: superseded", "\tat a.B.c(B.java:1)")
    lines = logs(f"12:00:00 {level} [pool-2] Loader : origin asked", *exception, "12:00:00 INFO served").lines

    assert event_bounds(lines, 1) == ((0, 3) if is_one else (1, 3))


@pytest.mark.parametrize(
    ("head", "is_one"),
    [("Unexpected exception during request", True), ("Channel closed", True), ("Starting the shop", False)],
)
def test_an_exception_below_an_info_line_belongs_to_it_where_the_line_tells_of_one(head: str, is_one: bool) -> None:
    trace = ("java.io.IOException: forcibly closed by the remote host", "\tat a.B.c(B.java:1)")
    lines = logs(f"12:00:00 INFO [nio-1] {head}; id = 7", *trace).lines

    assert event_bounds(lines, 2) == ((0, 3) if is_one else (1, 3))


@table(
    ("last", "is_one"),
    [
        ("requests.exceptions.ReadTimeout: HTTPConnectionPool(host='api', port=80): Read timed out.", True),
        ("socket.timeout: timed out", True),
        ("psycopg2.errors.DuplicateColumn: column exists", True),
        ("NoRoute: to the shop", True),
        ("django.http.response.Http404", True),
        ("ERROR: next record", False),
        ("INFO:root:fetched 25 rows", False),
        ("Starting the shop again", False),
    ],
)
def test_what_frames_of_python_led_to_belongs_to_them_whatever_its_name_ends_with(last: str, is_one: bool) -> None:
    frames = ('  File "/app/main.py", line 33, in fetch', "    r = get(URL)", "        ^^^^^^^^")
    lines = logs("ERROR:root:fetch failed", "Traceback (most recent call last):", *frames, last, "INFO after").lines

    assert event_bounds(lines, 0) == (0, 6 if is_one else 5)


def test_a_class_below_an_indented_line_that_is_no_frame_is_a_record_of_its_own() -> None:
    lines = logs("Listening on", "  127.0.0.1", "com.example.Main: served").lines

    assert event_bounds(lines, 2) == (2, 3)


def test_lines_of_their_own_stay_apart() -> None:
    lines = logs("ERROR one", "ERROR two", " WARN  three", "four").lines

    assert [event_bounds(lines, index) for index in range(4)] == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_an_endless_trace_is_bounded() -> None:
    lines = logs("Error: deep", *["    at f (a.js:1)"] * 5000).lines
    start, end = event_bounds(lines, 2500)

    assert end - start <= 400


def test_what_npm_says_at_an_end_is_one_event() -> None:
    lines = logs("npm ERR! path /app", "npm ERR! signal SIGTERM", "npm ERR! command sh -c node", "INFO x").lines

    assert event_bounds(lines, 1) == (0, 3)


def test_a_message_is_unwrapped_only_where_the_place_in_the_source_stands_behind_it() -> None:
    assert unwrapped(["ERROR    no   a.py:91", "  module"]) == "ERROR    no module"
    assert unwrapped(["ERROR    no   a.py:91"]) is None
    assert unwrapped(["ERROR no such module in 12", "  module"]) is None
