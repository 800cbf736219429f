"""log_error judges by level, shape and recency; the word alone is nothing."""

import pytest

from bcon_exporter.diagnosis.rules.log_error import RULE
from bcon_exporter.model.container_facts import HealthStatus
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, severity, symptom
from tests.factories import ago, container, ended, exited, health, lifecycle, line, logs, probe
from tests.table_rows import table


@pytest.mark.parametrize(
    "text",
    [
        "ERROR could not save order 17",
        "level=error msg=broken",
        '{"level":"error","msg":"broken"}',
        "Error: config missing",
        "panic: runtime error: index out of range [3] with length 3",
        "FATAL: could not open file",
    ],
)
def test_errors_are_errors(text: str) -> None:
    assert severity(RULE, container(logs=logs(text))) is Severity.ERROR


@table(
    "text",
    [
        "cron: job ok, errors=0",
        "migrated 12 rows, 0 errors",
        "INFO all good, error handler registered",
        "INFO request 500 served in 3ms",
        "WARN retry 1 of 5 failed",
        'level=info msg="error page cached"',
        '{"level":"info","error":null,"msg":"done"}',
        "Last_errno: 0",
    ],
)
def test_the_word_alone_is_nothing(text: str) -> None:
    assert severity(RULE, container(logs=logs(text))) is None


def test_a_stack_trace_is_one_event() -> None:
    trace = ("Traceback (most recent call last):", '  File "a.py", line 1, in <module>', "ValueError: no")

    assert "1 error event," in symptom(RULE, container(logs=logs(*trace))).description


def test_the_same_line_many_times_is_one_piece_of_evidence() -> None:
    found = symptom(RULE, container(logs=logs(*(f"ERROR order {n} failed" for n in range(20)))))

    assert found.evidence == ("20 times: ERROR order 19 failed",)


@pytest.mark.parametrize(("count", "expected"), [(2, None), (3, Severity.ERROR)])
def test_the_number_needed_is_a_setting(count: int, expected: Severity | None) -> None:
    facts = container(logs=logs(*["ERROR no"] * count))

    assert severity(RULE, facts, log_error_count=3) is expected


def test_lost_answers_in_an_access_log_are_errors_although_they_have_no_level() -> None:
    answer = '10.20.0.7 - - [02/Mar/2026:08:15:05 +0000] "GET /api/orders HTTP/1.1" {} 171 "-" "okhttp/4.12"'

    assert severity(RULE, container(logs=logs(*[answer.format(500)] * 5))) is Severity.ERROR
    assert severity(RULE, container(logs=logs(answer.format(200), answer.format(500)))) is None


def test_what_was_said_before_a_requested_restart_is_no_news_while_the_new_start_is_not_read() -> None:
    past = lifecycle(exits=(ended(1, at=ago(5), requested=True),))
    facts = container(started_at=None, unread={"started_at": "no answer"}, lifecycle=past)

    assert severity(RULE, facts.model_copy(update={"logs": logs("ERROR no", at=ago(9))})) is None
    assert severity(RULE, facts.model_copy(update={"logs": logs("ERROR no", at=ago(2))})) is Severity.ERROR


def test_before_a_restart_since_which_it_runs_well_it_is_a_warning() -> None:
    past = lifecycle(exits=(ended(1, at=ago(61)),))
    quiet = container(started_at=ago(60), lifecycle=past, logs=logs("ERROR no", at=ago(62)))
    still = container(started_at=ago(60), lifecycle=past, logs=logs("ERROR no", at=ago(10)))

    assert severity(RULE, quiet) is Severity.WARNING
    assert severity(RULE, still) is Severity.ERROR


def test_the_last_words_explain_a_failed_exit_however_old_they_are() -> None:
    facts = exited(1, seconds_ago=7200, logs=logs("ERROR no", at=ago(7201)))

    assert severity(RULE, facts) is Severity.ERROR


def test_history_is_not_read_for_errors() -> None:
    assert severity(RULE, exited(1, seconds_ago=90_000, logs=None)) is None


def test_is_not_evaluated_without_logs() -> None:
    assert isinstance(ask(RULE, container(logs=None)), NotEvaluated)


@pytest.mark.parametrize(
    ("asked_ago", "expected"),
    [pytest.param(4, None, id="on-its-way-out"), pytest.param(121, Severity.ERROR, id="goes-on-all-the-same")],
)
def test_what_it_says_after_its_stop_signal_is_no_news(asked_ago: float, expected: Severity | None) -> None:
    facts = container(lifecycle=lifecycle(stopping_since=ago(asked_ago)), logs=logs("ERROR no", at=ago(asked_ago - 2)))

    assert severity(RULE, facts) is expected


def test_what_it_said_before_its_stop_signal_counts() -> None:
    facts = container(lifecycle=lifecycle(stopping_since=ago(4)), logs=logs("ERROR no", at=ago(30)))

    assert severity(RULE, facts) is Severity.ERROR


def test_a_restart_on_request_while_the_host_is_read_leaves_no_errors() -> None:
    """The list shows the earlier run, the events its end, the log its last words."""
    past = lifecycle(exits=(ended(1, at=ago(3), requested=True),))

    assert severity(RULE, container(lifecycle=past, logs=logs("ERROR no", at=ago(4)))) is None


@pytest.mark.parametrize(("ahead", "expected"), [(0, Severity.ERROR), (1, None), (60, Severity.ERROR)])
def test_what_is_said_while_the_host_is_read_counts_at_the_next_scan(ahead: float, expected: Severity | None) -> None:
    assert severity(RULE, container(logs=logs("ERROR no", at=ago(-ahead)))) is expected


PROBED_AGO = (65, 35, 5)
_ASKED = '2026-01-01 11:59:00.1 UTC [61] FATAL:  database "shop" does not exist'


@table(
    ("said_ago", "status", "is_told"),
    [
        (PROBED_AGO, HealthStatus.HEALTHY, False),
        ((*PROBED_AGO, 1), HealthStatus.HEALTHY, False),  # of a probe that is not told of yet
        ((*PROBED_AGO, 20), HealthStatus.HEALTHY, True),
        (PROBED_AGO[:2], HealthStatus.HEALTHY, True),
        (PROBED_AGO, HealthStatus.UNHEALTHY, True),
        ((), HealthStatus.HEALTHY, False),
    ],
)
def test_what_comes_with_each_passing_probe_and_else_never_is_the_probes(
    said_ago: tuple[float, ...], status: HealthStatus, *, is_told: bool
) -> None:
    probes = tuple(probe(0.1, ended_ago=seconds) for seconds in PROBED_AGO)
    said = logs(*(line(_ASKED, at=ago(seconds)) for seconds in sorted(said_ago, reverse=True)))
    facts = container(health=health(status, probes=probes), logs=said)
    assert (severity(RULE, facts) is not None) is is_told
