"""oom_killed has three sources and one inference, and tells the main process from a child."""

from typing import Any

import pytest

from bcon_exporter.diagnosis.rules.oom_killed import RULE
from bcon_exporter.model.facts import ContainerFacts, Limits
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, severity, symptom
from tests.factories import ago, container, ended, exited, lifecycle, logs, looping, usage

LIMITED = Limits(memory_bytes=32 * 2**20)


def killed(**exit_facts: Any) -> ContainerFacts:
    """Ended with 137 under a limit a minute ago."""
    return exited(137, limits=LIMITED, exit_facts=ended(137, **exit_facts))


def test_the_flag_of_an_ended_container_is_critical() -> None:
    assert severity(RULE, exited(137, oom_killed=True)) is Severity.CRITICAL


def test_the_event_alone_is_critical_although_the_flag_is_false() -> None:
    assert severity(RULE, killed(oom=True)) is Severity.CRITICAL


def test_exit_137_with_a_limit_and_no_kill_is_probable() -> None:
    found = symptom(RULE, killed())

    assert found.severity is Severity.CRITICAL
    assert 0.5 < found.confidence < 1


def test_a_last_use_near_the_limit_raises_the_confidence() -> None:
    far = symptom(RULE, killed()).confidence
    near = symptom(RULE, killed().model_copy(update={"last_usage": usage(memory_ratio=0.95)})).confidence

    assert near > far


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(killed(killed=True), id="docker-kill"),
        pytest.param(killed(requested=True, forced=True), id="stop-that-needed-force"),
        pytest.param(exited(137), id="no-memory-limit"),
        pytest.param(exited(1, limits=LIMITED), id="another-code"),
    ],
)
def test_137_alone_proves_nothing(facts: ContainerFacts) -> None:
    assert severity(RULE, facts) is None


def test_an_event_while_it_runs_on_is_a_child_and_an_error() -> None:
    assert severity(RULE, container(lifecycle=lifecycle(oom_kills=(ago(60),)))) is Severity.ERROR


@pytest.mark.parametrize(("seconds", "expected"), [(599, Severity.ERROR), (600, Severity.ERROR), (601, None)])
def test_a_killed_child_counts_as_long_as_a_log_line(seconds: float, expected: Severity | None) -> None:
    assert severity(RULE, container(lifecycle=lifecycle(oom_kills=(ago(seconds),)))) is expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(120, Severity.CRITICAL), (121, Severity.WARNING), (600, Severity.WARNING), (601, Severity.INFO), (3601, None)],
)
def test_one_that_was_started_again_fades_to_history(seconds: float, expected: Severity | None) -> None:
    end = ended(137, at=ago(seconds), oom=True)
    facts = container(started_at=ago(seconds - 1), lifecycle=lifecycle(exits=(end,), oom_kills=(end.at,)))

    assert severity(RULE, facts) is expected


def test_a_loop_of_kills_stays_critical() -> None:
    past = looping(every_seconds=200, exit_code=137)
    past = past.model_copy(update={"exits": tuple(end.model_copy(update={"oom": True}) for end in past.exits)})

    assert severity(RULE, container(started_at=ago(199), lifecycle=past)) is Severity.CRITICAL


def test_a_managed_heap_is_an_error() -> None:
    facts = container(logs=logs('Exception in thread "main" java.lang.OutOfMemoryError: Java heap space'))

    assert severity(RULE, facts) is Severity.ERROR


def test_an_old_kill_that_nothing_wants_running_is_history() -> None:
    assert severity(RULE, exited(137, oom_killed=True, seconds_ago=90_000)) is Severity.INFO


def test_is_not_evaluated_without_flag() -> None:
    assert isinstance(ask(RULE, exited(137, oom_killed=None)), NotEvaluated)
