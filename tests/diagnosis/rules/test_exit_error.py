"""exit_error tells crashes from stops, one-shots, shutdowns and history."""

from typing import Any

import pytest

from bcon_exporter.diagnosis.rules.exit_error import RULE
from bcon_exporter.diagnosis.rules.oom_killed import RULE as OOM_RULE
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, Limits
from bcon_exporter.model.findings import NotEvaluated, Severity
from bcon_exporter.model.lifecycle import LifecycleFacts
from tests.diagnosis.judging import ask, diagnose, severity, symptom
from tests.factories import NOON, ago, container, ended, exited, lifecycle, logs, looping
from tests.table_rows import table

DAY = 86_400


@table("code", [1, 3, 126, 127, 137, 139, 143, 255])
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


@table(
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


UNSEEN = lifecycle(observed_since=NOON)


def unseen(code: int, **facts: Any) -> ContainerFacts:
    """Ended a minute ago, before anybody watched."""
    return exited(code, **{"lifecycle": UNSEEN, **facts})


class TestWithoutHistory:
    """Without events nobody knows who ended it: its code, age and limit, and the engine's start have to tell."""

    @table(
        ("code", "expected"),
        [
            (0, None),
            (1, Severity.ERROR), (127, Severity.ERROR), (129, Severity.ERROR), (138, Severity.ERROR),
            (130, Severity.INFO), (143, Severity.INFO),
            (137, Severity.WARNING),
            (139, Severity.ERROR), (255, Severity.ERROR),
        ],
    )  # fmt: skip
    @table("past", [None, UNSEEN])
    def test_the_code_decides(self, code: int, expected: Severity | None, past: LifecycleFacts | None) -> None:
        assert severity(RULE, exited(code, lifecycle=past)) is expected

    @pytest.mark.parametrize(("age", "expected"), [(DAY, Severity.WARNING), (DAY + 1, Severity.INFO)])
    def test_sigkill_of_nobody_knows_whom_is_a_warning_for_a_day(self, age: float, expected: Severity) -> None:
        assert severity(RULE, unseen(137, seconds_ago=age)) is expected

    @pytest.mark.parametrize("policy", ["no", "always", "unless-stopped", "on-failure"])
    def test_sigkill_is_never_certified_whatever_the_policy(self, policy: str) -> None:
        found = symptom(RULE, unseen(137, restart_policy=policy))

        assert found.severity is Severity.WARNING
        assert "it is not known whether somebody asked for it" in found.description

    def test_sigkill_below_a_limit_is_probably_out_of_memory(self) -> None:
        limited = unseen(137, limits=Limits(memory_bytes=2**26))
        report = diagnose(limited)

        assert report.status == "warning"
        assert "probably out of memory: its limit is 64 MiB" in report.summary
        assert report.likely_causes[0].id == "memory_limit_too_low"
        assert "oom_killed" in {one.symptom.value for one in report.not_evaluated}

    @pytest.mark.parametrize("facts", [{}, {"limits": Limits(memory_bytes=2**26), "restart_policy": "always"}])
    def test_where_the_kernel_cannot_have_been_it_is_not_said(self, facts: dict[str, Any]) -> None:
        """After an OOM kill the engine starts again what its policy wants running."""
        report = diagnose(unseen(137, **facts))

        assert "out of memory" not in report.summary
        assert report.not_evaluated == ()

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
    ("on-failure:²", 9, False),
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


def test_the_crash_of_the_predecessor_is_over_while_only_the_second_of_the_successors_making_is_known() -> None:
    """The list tells it without fractions; on a busy engine inspect comes a scan later."""
    past = lifecycle(exits=(ended(1, at=ago(9.7)),), restarts=(ago(11), ago(10.4)))
    listed = container(created_at=ago(10), started_at=None, lifecycle=past, unread={"started_at": "no answer in 2 s"})

    assert severity(RULE, listed) is None


@table("code", [0, 137, 143])
@table(("after_crash", "policy", "down"), [
    (True, "no", True), (False, "no", True), (True, "always", False),
])  # fmt: skip
def test_what_went_down_with_the_engine_is_not_healthy(code: int, after_crash: bool, policy: str, down: bool) -> None:
    end = ended(code, shutdown=True, after_crash=after_crash)
    report = diagnose(exited(code, exit_facts=end, restart_policy=policy))

    assert report.status == ("warning" if down else "healthy")
    assert ("was not started again: it has no restart policy" in report.summary) is down


class TestUsedUpRestarts:
    """A container that has used up `on-failure:N` is down for good: no time makes it better."""

    @table("minutes", [1, 25, 3 * 24 * 60])
    @table("granted", [1, 2, 3])
    def test_it_stays_critical_once_seen(self, granted: int, minutes: float) -> None:
        past = looping(granted)
        end = ended(3, at=ago(minutes=minutes))
        seen = past.model_copy(update={"exits": (end,), "restarts": ()})
        facts = exited(3, exit_facts=end, restart_policy=f"on-failure:{granted}", restart_count=granted, lifecycle=seen)
        report = diagnose(facts)

        assert report.status == "critical"
        assert {one.severity for one in report.symptoms} == {Severity.CRITICAL}
        assert [one.type.value for one in report.symptoms] == ["restart_loop", "exit_error"][granted < 3 :]
        assert "it stays down" in report.symptoms[-1].description

    @pytest.mark.parametrize(
        ("age_at_first_sight", "watched", "expected"),
        [
            (DAY, 0, Severity.CRITICAL), (DAY + 1, 0, Severity.WARNING),
            (DAY, 9 * DAY, Severity.CRITICAL), (DAY + 1, 9 * DAY, Severity.WARNING),
        ],
    )  # fmt: skip
    def test_at_first_sight_its_age_decides(
        self, age_at_first_sight: float, watched: float, expected: Severity
    ) -> None:
        past = lifecycle(observed_since=ago(watched))
        facts = exited(
            3, seconds_ago=age_at_first_sight + watched, restart_policy="on-failure:2", restart_count=2, lifecycle=past
        )

        assert severity(RULE, facts) is expected

    @pytest.mark.parametrize(
        "facts",
        [
            exited(0, restart_policy="on-failure:2", restart_count=2),
            exited(143, exit_facts=ended(143, requested=True), restart_policy="on-failure:2", restart_count=2),
            container(restart_policy="on-failure:2", restart_count=2),
        ],
    )
    def test_one_that_is_done_was_stopped_or_runs_is_not_down_for_good(self, facts: ContainerFacts) -> None:
        assert diagnose(facts).status == "healthy"


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        (exited(0, seconds_ago=600), "api: healthy, exited with code 0 10 min ago."),
        (exited(143, exit_facts=ended(143, requested=True)), "api: healthy, exited with code 143 (SIGTERM) 60 s ago."),
        (exited(1), "It exited with code 1, 60 s ago"),
        (exited(137, oom_killed=True), "api: critical, exited with code 137 (SIGKILL) 60 s ago — oom_killed:"),
    ],
)
def test_the_summary_of_an_ended_container_names_its_code_and_how_long_ago(facts: ContainerFacts, told: str) -> None:
    assert told in diagnose(facts).summary


def test_without_history_the_code_of_its_own_stop_signal_was_most_likely_asked_for() -> None:
    by_hup = exited(129, stop_signal="SIGHUP", lifecycle=None)

    assert severity(RULE, by_hup) is Severity.INFO
    assert severity(RULE, exited(129, stop_signal="SIGTERM", lifecycle=None)) is Severity.ERROR


@pytest.mark.parametrize("code", [1, 137])
def test_of_an_end_a_moment_ago_nobody_knows_yet_who_asked_for_it(code: int) -> None:
    """The engine lists it as ended before it tells of the end."""

    def verdict(seconds: float) -> object:
        return ask(RULE, container(state=ContainerState.EXITED, exit_code=code, finished_at=ago(seconds)))

    assert [isinstance(verdict(seconds), NotEvaluated) for seconds in (-1.9, 0, 1.9, 2, -2)] == [True] * 3 + [False] * 2
    told = lifecycle(exits=(ended(code, at=ago(1)),))
    assert severity(RULE, exited(code, finished_at=ago(1), lifecycle=told)) is Severity.ERROR


@table(
    ("facts", "cause"),
    [
        (exited(255), "program_error"),
        (exited(255, exit_facts=ended(255, shutdown=True), restart_policy="always"), None),
        (exited(255, lifecycle=None), "host_or_engine_stopped"),
    ],
)
def test_255_is_the_programs_own_where_the_engine_told_of_it_when_it_came(
    facts: ContainerFacts, cause: str | None
) -> None:
    told = [found.id for found in diagnose(facts).likely_causes]
    assert told[:1] == ([cause] if cause else [])


@pytest.mark.parametrize(
    ("started", "restarts", "kind"),
    [
        (600, (), "unknown"),
        (61, (), "unknown"),
        (60, (), "told"),
        (600, (ago(60),), "told"),
        (600, (ago(61),), "unknown"),
        (70, (), "told"),
    ],
)
def test_one_that_ended_while_the_host_was_read_is_not_said_to_run_again(
    started: float, restarts: tuple[Any, ...], kind: str
) -> None:
    """The engine lists it as running, and its end is told right after that."""
    lived = started - 60 if kind == "unknown" else 300.0
    past = lifecycle(exits=(ended(7, at=ago(60), lifetime_seconds=lived),), restarts=restarts)
    verdict = ask(RULE, container(started_at=ago(started), lifecycle=past))
    assert ("unknown" if isinstance(verdict, NotEvaluated) else "told") == kind
    end = ended(137, at=ago(60), oom=True, lifetime_seconds=lived)
    oom = lifecycle(exits=(end,), restarts=restarts, oom_kills=())
    assert (severity(OOM_RULE, container(started_at=ago(started), lifecycle=oom)) is not None) == (kind == "told")
