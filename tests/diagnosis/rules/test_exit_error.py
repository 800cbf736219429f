"""exit_error tells crashes from stops, one-shots, shutdowns and history."""

import pytest

from bcon_exporter.diagnosis.rules.exit_error import RULE
from bcon_exporter.model.facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, diagnose, severity, symptom
from tests.factories import NOON, ago, container, ended, exited, lifecycle, logs, looping

DAY = 86_400


@pytest.mark.parametrize("code", [1, 3, 126, 127, 137, 139, 143, 255])
def test_a_failed_end_that_nobody_asked_for_is_an_error(code: int) -> None:
    assert severity(RULE, exited(code)) is Severity.ERROR


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(exited(0), id="one-shot-done"),
        pytest.param(exited(143, exit_facts=ended(143, requested=True)), id="requested-stop"),
        pytest.param(exited(1, exit_facts=ended(1, requested=True)), id="requested-stop-with-odd-code"),
        pytest.param(exited(255, exit_facts=ended(255, shutdown=True)), id="engine-shutdown"),
        pytest.param(container(), id="running"),
    ],
)
def test_other_ends_are_none(facts: ContainerFacts) -> None:
    assert severity(RULE, facts) is None


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        (1, "program_error"), (77, "program_error"), (129, "ended_by_signal"), (138, "ended_by_signal"),
        (152, "cpu_time_exhausted"), (159, "system_call_refused"), (189, "program_error"), (200, "program_error"),
    ],
)  # fmt: skip
def test_a_code_above_128_is_a_signals(code: int, cause: str) -> None:
    assert [one.id for one in diagnose(exited(code)).likely_causes] == [cause]


def test_a_requested_stop_that_needed_force_is_history() -> None:
    facts = exited(137, exit_facts=ended(137, requested=True, forced=True))

    assert severity(RULE, facts) is Severity.INFO


@pytest.mark.parametrize(
    ("age", "policy", "expected"),
    [
        (DAY - 1, "no", Severity.ERROR),
        (DAY, "no", Severity.ERROR),
        (DAY + 1, "no", Severity.INFO),
        (DAY + 1, "on-failure", Severity.ERROR),
    ],
)
def test_ages_only_where_nothing_wants_it_running(age: float, policy: str, expected: Severity) -> None:
    assert severity(RULE, exited(1, seconds_ago=age, restart_policy=policy)) is expected


def test_a_looping_container_is_told_between_two_runs() -> None:
    assert severity(RULE, container(started_at=ago(2), lifecycle=looping())) is Severity.ERROR
    assert severity(RULE, container(state=ContainerState.RESTARTING, exit_code=1)) is Severity.ERROR


@pytest.mark.parametrize(("seconds", "expected"), [(119, Severity.WARNING), (120, Severity.WARNING), (121, None)])
def test_one_crash_since_which_it_runs_is_a_warning_for_a_while(seconds: float, expected: Severity | None) -> None:
    facts = container(started_at=ago(seconds - 1), lifecycle=lifecycle(exits=(ended(1, at=ago(seconds)),)))

    assert severity(RULE, facts) is expected


def test_quotes_the_last_lines_and_the_signal() -> None:
    found = symptom(RULE, exited(139, logs=logs("loading", "Segmentation fault")))

    assert "139 (SIGSEGV)" in found.description
    assert found.evidence[-1] == "Segmentation fault"


class TestWithoutHistory:
    """Without events nobody knows who ended it; codes that a stop leaves too are not judged."""

    @pytest.mark.parametrize("code", [137, 143, 255])
    def test_a_code_like_that_of_a_stop_is_not_evaluated(self, code: int) -> None:
        assert isinstance(ask(RULE, exited(code, lifecycle=None)), NotEvaluated)

    def test_an_ordinary_code_is_an_error_with_less_confidence(self) -> None:
        found = symptom(RULE, exited(1, lifecycle=None))

        assert found.severity is Severity.ERROR
        assert found.confidence < 1

    def test_a_policy_that_would_have_restarted_it_means_stopped_by_hand(self) -> None:
        assert severity(RULE, exited(1, lifecycle=None, restart_policy="always")) is Severity.INFO

    @pytest.mark.parametrize("code", [1, 137, 255])
    def test_months_old_ends_are_history(self, code: int) -> None:
        assert severity(RULE, exited(code, lifecycle=None, seconds_ago=90 * DAY)) is Severity.INFO


def test_is_not_evaluated_without_an_exit_code() -> None:
    assert isinstance(ask(RULE, exited(1).model_copy(update={"exit_code": None})), NotEvaluated)


def causes(facts: ContainerFacts) -> list[str]:
    return [cause.id for cause in diagnose(facts).likely_causes]


def test_what_was_killed_to_be_removed_and_is_dead_was_asked_for() -> None:
    said = "driver overlay2 failed to remove root filesystem: operation not permitted"
    facts = exited(137, state=ContainerState.DEAD, exit_facts=ended(137, killed=True), error=said)
    report = diagnose(facts)

    assert [(one.type, one.severity) for one in report.symptoms] == [(RULE.type, Severity.WARNING)]
    assert report.symptoms[0].evidence == (f"the engine says: {said}",)
    assert [cause.id for cause in report.likely_causes] == ["removal_failed"]


def test_a_dead_container_is_a_warning_whatever_its_code() -> None:
    facts = exited(0, state=ContainerState.DEAD)

    assert severity(RULE, facts) is Severity.WARNING
    assert causes(facts)[0] == "removal_failed"
    assert severity(RULE, exited(1, state=ContainerState.DEAD)) is Severity.ERROR


@pytest.mark.parametrize(("policy", "count", "expected"), [
    ("on-failure:3", 3, True), ("on-failure:3", 2, False), ("on-failure", 9, False), ("always", 9, False),
])  # fmt: skip
def test_an_engine_that_gave_up_is_told(policy: str, count: int, expected: bool) -> None:
    assert ("restarts_used_up" in causes(exited(3, restart_policy=policy, restart_count=count))) is expected


def test_a_log_that_nobody_can_read_is_not_recommended_for_reading() -> None:
    unreadable = exited(1, logs=None, log_driver="none", unread={"logs": "the log driver none cannot be read"})

    actions = [one.action for one in diagnose(unreadable).suggestions]

    assert not any(action.startswith("Read the last lines") for action in actions)
    assert any("log driver that can be read" in action for action in actions)


def test_what_nobody_watched_is_history_after_a_day_whatever_the_policy() -> None:
    for age, expected in ((DAY, Severity.ERROR), (DAY + 1, Severity.INFO)):
        facts = exited(1, seconds_ago=age, restart_policy="on-failure:3", lifecycle=lifecycle(observed_since=NOON))
        assert severity(RULE, facts) is expected


def test_the_crash_of_a_container_that_was_replaced_is_over() -> None:
    past = lifecycle(exits=(ended(1, at=ago(20)),))

    assert severity(RULE, container(created_at=ago(10), started_at=ago(10), lifecycle=past)) is None
    assert severity(RULE, container(started_at=ago(10), lifecycle=past)) is Severity.WARNING


def test_without_history_the_code_of_its_own_stop_signal_says_nothing_for_sure() -> None:
    by_hup = exited(129, stop_signal="SIGHUP", lifecycle=None)

    assert isinstance(ask(RULE, by_hup), NotEvaluated)
    assert severity(RULE, exited(129, stop_signal="SIGTERM", lifecycle=None)) is Severity.ERROR
