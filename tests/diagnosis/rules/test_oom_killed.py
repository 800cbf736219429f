"""oom_killed has three sources and one inference, and tells the main process from a child."""

from typing import Any

import pytest

from bcon_exporter.diagnosis.rules.oom_killed import RULE
from bcon_exporter.model.container_facts import ContainerFacts, Limits, MemoryGrowth
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, diagnose, severity, symptom
from tests.factories import ago, container, ended, exited, lifecycle, logs, looping, usage
from tests.table_rows import table

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


@pytest.mark.parametrize("oom_killed", [None, True])
def test_of_a_kill_a_moment_ago_nobody_knows_yet_whether_the_container_outlived_it(oom_killed: bool | None) -> None:
    """The kernel tells of it before the engine tells of the end."""
    kills = (ago(0.5), ago(-0.5))
    assert ask(RULE, container(oom_killed=oom_killed, lifecycle=lifecycle(oom_kills=kills))) is None
    assert severity(RULE, container(lifecycle=lifecycle(oom_kills=(ago(1.5), *kills)))) is Severity.ERROR


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


class TestConfidence:
    """Each sign makes it as sure as it is known to be."""

    @table(
        ("facts", "expected"),
        [
            pytest.param(exited(137, oom_killed=True, exit_facts=ended(137, oom=True)), 1.0, id="flag-and-event"),
            pytest.param(exited(137, oom_killed=True), 0.98, id="flag"),
            pytest.param(killed(oom=True), 0.97, id="event"),
            pytest.param(container(lifecycle=lifecycle(oom_kills=(ago(60),))), 0.97, id="event-of-a-child"),
            pytest.param(container(oom_killed=True), 0.9, id="flag-of-a-child"),
            pytest.param(killed(), 0.7, id="exit-137-under-a-limit"),
            pytest.param(killed().model_copy(update={"last_usage": usage(memory_ratio=0.79)}), 0.7, id="used-79"),
            pytest.param(killed().model_copy(update={"last_usage": usage(memory_ratio=0.80)}), 0.85, id="used-80"),
            pytest.param(
                killed().model_copy(update={"lifecycle": lifecycle(exits=(ended(137),), complete=False)}),
                0.5,
                id="with-a-gap-in-what-is-known",
            ),
        ],
    )
    def test_of_each_sign(self, facts: ContainerFacts, expected: float) -> None:
        assert symptom(RULE, facts).confidence == expected


class TestItRunsAgain:
    """A kill that flag and event both missed is inferred after the restart too."""

    def back(self, **exit_facts: Any) -> ContainerFacts:
        end = ended(137, at=ago(60), **exit_facts)
        return container(started_at=ago(59), limits=LIMITED, lifecycle=lifecycle(exits=(end,)))

    def test_is_told_by_inference(self) -> None:
        found = symptom(RULE, self.back())

        assert found.severity is Severity.CRITICAL
        assert "probably" in found.description
        assert found.confidence < 1

    def test_not_after_a_kill_through_the_engine(self) -> None:
        assert severity(RULE, self.back(killed=True)) is None


class TestOtherEnds:
    """A kill of one process is not always what ended the container."""

    def test_a_stop_on_request_after_a_kill_of_a_child_is_history(self) -> None:
        facts = exited(143, oom_killed=True, exit_facts=ended(143, requested=True))

        found = symptom(RULE, facts)

        assert found.severity is Severity.INFO
        assert "before it was stopped" in found.description

    def test_an_end_with_another_code_is_of_a_child_and_critical(self) -> None:
        found = symptom(RULE, exited(1, oom_killed=True))

        assert found.severity is Severity.CRITICAL
        assert "one of its processes" in found.description
        assert found.confidence < 0.98

    def test_an_end_with_0_is_done_all_the_same(self) -> None:
        assert severity(RULE, exited(0, oom_killed=True)) is Severity.ERROR


class TestAdvice:
    """What follows depends on who ran out of memory, and how fast."""

    def causes(self, facts: ContainerFacts) -> list[str]:
        return [cause.id for cause in diagnose(facts).likely_causes]

    def test_a_kill_under_a_limit_blames_the_limit_and_nobody_outside(self) -> None:
        found = self.causes(killed(oom=True))

        assert found[0] == "memory_limit_too_low"
        assert "killed_from_outside" not in found

    def test_a_managed_heap_is_no_matter_of_the_containers_limit(self) -> None:
        report = diagnose(exited(1, logs=logs("java.lang.OutOfMemoryError: Java heap space", at=ago(61))))

        assert report.likely_causes[0].id == "heap_too_small"
        assert all("memory limit above" not in one.action for one in report.suggestions)

    def test_runs_of_hours_look_like_a_leak(self) -> None:
        ends = tuple(ended(137, at=ago(hours=hours), oom=True, lifetime_seconds=4 * 3600.0) for hours in (9, 5, 1))
        facts = exited(137, limits=LIMITED, exit_facts=ends[-1], lifecycle=lifecycle(exits=ends))

        assert self.causes(facts)[0] == "memory_leak"

    @pytest.mark.parametrize(("lived", "top"), [(3599.0, "memory_limit_too_low"), (3600.0, "memory_leak")])
    def test_from_an_hour_on(self, lived: float, top: str) -> None:
        ends = tuple(ended(137, at=ago(hours=hours), oom=True, lifetime_seconds=lived) for hours in (3, 1))
        facts = exited(137, limits=LIMITED, exit_facts=ends[-1], lifecycle=lifecycle(exits=ends))

        assert self.causes(facts)[0] == top

    def test_without_a_limit_it_is_the_host(self) -> None:
        assert self.causes(exited(137, exit_facts=ended(137, oom=True)))[0] == "host_memory_exhausted"

    def test_the_suggestion_has_this_containers_numbers(self) -> None:
        kills = (ago(minutes=50), ago(minutes=20), ago(60))
        facts = exited(
            137,
            limits=Limits(memory_bytes=64 * 2**20),
            last_usage=usage(memory_usage_bytes=61 * 2**20, memory_limit_bytes=64 * 2**20),
            lifecycle=lifecycle(exits=(ended(137, oom=True),), oom_kills=(ago(hours=2), *kills)),
        )

        (raise_it,) = [one for one in diagnose(facts).suggestions if "memory limit above" in one.action]

        assert raise_it.rationale == "Limit 64 MiB, working set 61 MiB, 3 OOM kills in the last hour."


def test_a_working_set_that_grew_over_its_life_is_a_leak_before_a_limit() -> None:
    growth = MemoryGrowth(from_bytes=64 * 2**20, to_bytes=256 * 2**20, seconds=3600)
    killed = exited(137, exit_facts=ended(137, oom=True, lifetime_seconds=3700), memory_growth=growth)
    limited = killed.model_copy(update={"limits": Limits(memory_bytes=256 * 2**20), "oom_killed": True})
    report = diagnose(limited)

    assert [cause.id for cause in report.likely_causes[:2]] == ["memory_leak", "memory_limit_too_low"]
    assert "grew steadily over 60 min, from 64 MiB to 256 MiB" in report.likely_causes[0].description
    assert "puts the next kill off" in report.suggestions[0].action
