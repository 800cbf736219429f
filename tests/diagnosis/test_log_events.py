"""Logs are read as events: joined, levelled, matched, counted; healthy ones cost next to nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.diagnosis.log_events import LogEvent, find_events, read_events, summarise, template_of
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.signatures import Category, Level
from tests.diagnosis.judging import shipped
from tests.factories import logs
from tests.table_rows import table


def events_of(*texts: str) -> tuple[LogEvent, ...]:
    return find_events(logs(*texts).lines, shipped())


def ids_of(*texts: str) -> list[str]:
    return [hit.signature.id for event in events_of(*texts) for hit in event.hits]


def test_a_healthy_log_has_no_events() -> None:
    assert events_of(*[f"INFO request {n} served in 3ms" for n in range(1000)]) == ()
    assert events_of() == ()


def test_a_trace_with_a_signature_is_one_event_with_its_telling_line() -> None:
    (event,) = events_of(
        "ERROR worker failed",
        "Traceback (most recent call last):",
        '  File "a.py", line 3',
        "ConnectionRefusedError: [Errno 111] Connection refused",
        "INFO next",
    )

    assert event.line_count == 4
    assert event.text == "ConnectionRefusedError: [Errno 111] Connection refused"
    assert event.shows(SymptomType.NETWORK_ERROR)
    assert event.shows(SymptomType.LOG_ERROR)


@pytest.mark.parametrize(
    ("text", "peer"),
    [
        ("dial tcp 172.18.0.3:5432: connect: connection refused", "172.18.0.3:5432"),
        ("Error: connect ECONNREFUSED 127.0.0.1:6379", "127.0.0.1:6379"),
        ('nginx: [emerg] host not found in upstream "app:3000" in /etc/nginx/conf.d/default.conf:5', "app"),
        ("wget: bad address 'db'", "db"),
        ("could not connect to db", "db"),
        ('connection to server at "db" (172.18.0.3), port 5432 failed: Connection refused', "db"),
        ("ERROR Cannot connect to amqp://shop:**@queue:5672//: [Errno 111] Connection refused.", "queue:5672"),
    ],
)
def test_the_peer_is_taken_from_the_line(text: str, peer: str) -> None:
    (event,) = events_of(text)

    assert event.hits[0].peer == peer


def test_the_more_specific_signature_explains_a_line() -> None:
    assert ids_of('ERROR:  could not resize shared memory segment "/P.1" to 8 bytes: No space left on device') == [
        "disk_shm_full"
    ]


def test_a_phrase_in_an_info_line_is_no_failure() -> None:
    assert events_of("INFO will retry when connection refused") == ()


def test_a_warning_that_shows_a_known_failure_is_a_failure() -> None:
    (event,) = events_of("WARN dial tcp 10.0.0.1:1: i/o timeout, will retry")

    assert event.level is Level.WARNING
    assert event.shows(SymptomType.NETWORK_ERROR)
    assert event.shows(SymptomType.LOG_ERROR)


def test_a_warning_of_a_nearly_full_disk_is_no_error_yet() -> None:
    (event,) = events_of("[WARN ] high disk watermark [90%] exceeded on [n1]")

    assert event.shows(SymptomType.DISK_PRESSURE)
    assert not event.shows(SymptomType.LOG_ERROR)


def test_what_was_retried_with_success_is_history() -> None:
    lines = logs("ERROR dial tcp db:5432: connect: connection refused, retrying", "INFO connected to db").lines

    assert find_events(lines, shipped()) == ()
    assert [event.recovered for event in read_events(lines, shipped())] == [True]


def test_a_failure_after_the_success_counts() -> None:
    events = events_of("INFO connected to db", "ERROR dial tcp db:5432: connect: connection refused, retrying")

    assert [event.shows(SymptomType.NETWORK_ERROR) for event in events] == [True]


RETRY = "INFO: Failed to connect to the master. Will try again: java.net.SocketTimeoutException connect timed out"


@pytest.mark.parametrize(("times", "after", "count"), [(2, (), 0), (3, (), 3), (3, ("INFO connected to it",), 0)])
def test_a_retry_that_fails_to_the_end_is_a_failure_also_as_information(
    times: int, after: tuple[str, ...], count: int
) -> None:
    assert len(events_of(*([RETRY] * times), *after)) == count


def test_a_retry_in_the_middle_of_other_information_is_none() -> None:
    assert events_of(*([RETRY] * 3), "INFO a", "INFO b", "INFO c") == ()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("failed to load the configuration: http://127.0.0.1:2379: connection refused", ["net_refused"]),
        ("ERROR Failed to load the configuration: loader: No module named 'yaml'", ["missing_python_module"]),
        ("ERROR Failed to load configuration: line 3: invalid value 7 for listen.port", ["config_syntax"]),
    ],
)
def test_the_reason_behind_the_last_colon_counts(text: str, ids: list[str]) -> None:
    assert ids_of(text) == ids


def test_a_message_that_a_terminal_logger_wrapped_is_read_whole() -> None:
    lines = (
        "           ERROR    Error importing plugin=shop, No   c_plugin.py:91",
        "                    module named 'docker'",
    )

    assert ids_of(*lines) == ["missing_python_module"]


def test_a_service_that_listens_has_not_reached_its_database_by_that() -> None:
    events = events_of("Error: connect ECONNREFUSED 172.18.0.3:5432", "Server listening on port 3000")

    assert any(event.shows(SymptomType.NETWORK_ERROR) for event in events)


def test_another_persons_wrong_password_is_no_failure_of_the_container() -> None:
    (event,) = events_of("ERROR Login failed: 'admin' (Remote IP: '203.0.113.9')")

    assert event.hits[0].signature.category is Category.AUTH_FAILURE
    assert [kind for kind in SymptomType if event.shows(kind)] == []


def test_a_consequence_is_not_told_beside_its_cause() -> None:
    events = events_of(
        "mkdir: cannot create directory '/data/x': Permission denied",
        "chown: cannot access '/data/x': No such file or directory",
    )

    assert [hit.signature.id for event in events for hit in event.hits] == ["permission_denied"]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("read tcp 172.18.0.2:45000->172.18.0.3:5432: read: connection reset by peer", ["net_reset"]),
        ("read tcp 172.18.0.2:5432->172.18.0.3:45000: read: connection reset by peer", []),
    ],
)
def test_the_ports_tell_whether_a_lost_connection_was_a_clients(text: str, ids: list[str]) -> None:
    assert ids_of(f"WARN {text}") == ids


def test_threads_that_cannot_be_created_are_no_full_heap() -> None:
    assert "heap_java" not in ids_of(
        "java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory"
    )


def test_a_client_that_went_away_in_an_info_line_with_a_trace_is_nothing() -> None:
    events = events_of(
        "12:00:00 INFO [nio-1] Unexpected exception during request; channel = 7",
        "java.io.IOException: An existing connection was forcibly closed by the remote host",
        "\tat sun.nio.ch.SocketDispatcher.read0(Native Method)",
    )

    assert not any(event.shows(kind) for event in events for kind in SymptomType)


def test_a_line_that_names_the_refused_log_in_is_no_failed_connection() -> None:
    assert ids_of("ERROR Unable to connect to the indexer: invalid API key") == ["auth_refused"]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Error: request failed with status code 401", ["auth_http"]),
        ("the page says that status code 401 is fine", []),
    ],
)
def test_what_counts_in_errors_counts_in_a_line_that_has_the_shape_of_one(text: str, ids: list[str]) -> None:
    assert ids_of(text) == ids


def test_a_disk_whose_store_refuses_writes_is_an_error() -> None:
    (event,) = events_of("flood stage disk watermark [95%] exceeded on [n1], all indices will be marked read-only")

    assert event.shows(SymptomType.DISK_PRESSURE)
    assert event.shows(SymptomType.LOG_ERROR)


@pytest.mark.parametrize(
    ("lost", "of", "failed"),
    [(1, 2, False), (2, 2, False), (3, 3, True), (3, 30, True), (3, 31, False), (5, 60, False)],
)
def test_lost_answers_count_from_three_and_a_tenth_of_the_lines_on(lost: int, of: int, failed: bool) -> None:
    answers = ['10.0.0.1 - - [x] "GET / HTTP/1.1" 200 1'] * (of - lost) + [
        '10.0.0.1 - - [x] "GET / HTTP/1.1" 502 1'
    ] * lost

    assert any(event.shows(SymptomType.LOG_ERROR) for event in events_of(*answers)) is failed


def test_events_that_differ_in_numbers_share_a_template() -> None:
    events = events_of(*(f"ERROR order {n} of customer {n * 7} failed" for n in range(30)), "ERROR no disk")
    first, second = summarise(events)

    assert (first.count, second.count) == (30, 1)
    assert template_of("2026-01-01T12:00:00Z id deadbeefcafe n 7") == "* id * n *"
    assert template_of("open /srv/a/b for bob@x failed: 'no such file' (2)") == "open * for * failed: *"


def test_a_flood_of_errors_is_bounded() -> None:
    assert len(events_of(*[f"ERROR {n}" for n in range(5000)])) <= 4000


@given(st.lists(st.text(max_size=120), max_size=20))
def test_any_text_is_read_without_raising(texts: list[str]) -> None:
    assert len(events_of(*texts)) <= len(texts)


def test_a_lone_surrogate_does_not_break_the_reading() -> None:
    assert len(events_of("ERROR \udc80 broken")) == 1


READY = "INFO Root WebApplicationContext: initialization completed in 6021 ms"
OPTIONAL = "ERROR cannot open /etc/optional.cfg: No such file or directory"


@table(
    ("lines", "failures"),
    [
        ((OPTIONAL, READY), 0),
        ((READY, OPTIONAL), 1),
        ((OPTIONAL, READY, OPTIONAL), 2),
        (("java.lang.OutOfMemoryError: Java heap space", READY), 1),
        (("FATAL no frobnicator", READY), 1),
        ((*[OPTIONAL] * 9, READY), 9),
        ((*[OPTIONAL] * 8, READY), 0),
        ((OPTIONAL, "INFO 4 workers started"), 1),
    ],
)
def test_a_few_failures_of_a_start_are_over_once_the_program_says_that_it_is_ready(
    lines: tuple[str, ...], failures: int
) -> None:
    assert sum(event.failed for event in events_of(*lines)) == failures
