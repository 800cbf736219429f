"""restart_loop counts restarts that nobody asked for in a true window, and ends when it is quiet."""

import pytest

from bcon_exporter.diagnosis.rules.restart_loop import RULE
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.findings import NotEvaluated, Severity
from bcon_exporter.model.lifecycle import LifecycleFacts
from tests.diagnosis.judging import ask, severity, symptom
from tests.factories import ago, container, ended, exited, lifecycle, looping


def restarted(*minutes_ago: float, exit_code: int = 1) -> LifecycleFacts:
    times = tuple(ago(minutes=minutes) for minutes in minutes_ago)
    return lifecycle(restarts=times, exits=tuple(ended(exit_code, at=at) for at in times))


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        pytest.param((), None, id="never"),
        pytest.param((2, 1), None, id="too-few"),
        pytest.param((3, 2, 1), Severity.CRITICAL, id="three"),
        pytest.param((60, 2, 1), Severity.CRITICAL, id="third-on-the-edge"),
        pytest.param((60.1, 2, 1), None, id="third-too-old"),
        pytest.param((30, 20, 10), Severity.CRITICAL, id="quiet-for-ten-minutes"),
        pytest.param((30, 20, 10.1), Severity.INFO, id="quiet-for-longer"),
    ],
)
def test_counts_within_the_window(minutes: tuple[float, ...], expected: Severity | None) -> None:
    assert severity(RULE, container(lifecycle=restarted(*minutes))) is expected


def test_a_loop_that_exits_with_0_is_an_error() -> None:
    assert severity(RULE, container(lifecycle=looping(exit_code=0))) is Severity.ERROR


@pytest.mark.parametrize("state", [ContainerState.RUNNING, ContainerState.RESTARTING, ContainerState.EXITED])
def test_is_told_in_whatever_state_it_is_caught(state: ContainerState) -> None:
    facts = container(state=state, exit_code=1, finished_at=ago(1), lifecycle=looping())

    assert severity(RULE, facts) is Severity.CRITICAL


def test_a_loop_that_somebody_stopped_is_history() -> None:
    past = looping()
    stop = ended(143, at=ago(5), requested=True)
    facts = exited(143, exit_facts=stop, lifecycle=past.model_copy(update={"exits": (*past.exits, stop)}))

    assert severity(RULE, facts) is Severity.INFO


def test_restarts_by_hand_are_none() -> None:
    exits = tuple(ended(143, at=ago(60 * n), requested=True) for n in range(4, 0, -1))

    assert severity(RULE, container(lifecycle=lifecycle(exits=exits))) is None


@pytest.mark.parametrize(("created_minutes_ago", "told"), [(59, "9 times"), (61, "3 times")])
def test_a_young_containers_restarts_are_those_that_the_engine_counts(created_minutes_ago: float, told: str) -> None:
    """The ring of events may reach back over a part of a busy loop only; an older count may be of another hour."""
    facts = container(lifecycle=restarted(3, 2, 1), restart_count=9, created_at=ago(minutes=created_minutes_ago))

    assert symptom(RULE, facts).description.startswith(f"It restarted {told} within 60 min")


def test_starts_are_not_called_a_loop_before_the_restart_policy_is_known() -> None:
    unread = {"restart_policy": "the engine did not answer in time"}
    facts = container(lifecycle=looping(), restart_policy=None, unread=unread)

    assert isinstance(ask(RULE, facts), NotEvaluated)


class TestWithoutHistory:
    """The engine's own count has no times: a hint, no proof."""

    def test_a_restarting_container_with_a_high_count_is_told(self) -> None:
        facts = container(state=ContainerState.RESTARTING, exit_code=1, restart_count=5, lifecycle=None)

        found = symptom(RULE, facts)

        assert found.severity is Severity.CRITICAL
        assert found.confidence < 1

    @pytest.mark.parametrize(
        ("count", "up", "is_judged"),
        [(1, 600, False), (2, 600, False), (1, 601, True), (2, 601, True), (0, 5, True), (None, 5, False)],
    )
    def test_a_restart_or_two_just_now_may_be_the_beginning_of_a_loop(
        self, count: int | None, up: float, is_judged: bool
    ) -> None:
        facts = container(restart_policy="always", restart_count=count, lifecycle=None, started_at=ago(up))

        assert isinstance(ask(RULE, facts), NotEvaluated) is not is_judged

    def test_one_that_the_engine_does_not_start_again_makes_no_loop(self) -> None:
        facts = exited(1, restart_policy="on-failure:2", restart_count=2, lifecycle=None)

        assert severity(RULE, facts) is None

    def test_a_high_count_of_long_ago_is_no_loop(self) -> None:
        assert severity(RULE, container(restart_policy="always", restart_count=9, lifecycle=None)) is None

    def test_without_a_restart_policy_there_is_nothing_to_know(self) -> None:
        assert severity(RULE, container(restart_policy="no", restart_count=0, lifecycle=None)) is None

    @pytest.mark.parametrize(("up", "expected"), [(89, Severity.CRITICAL), (90, Severity.WARNING)])
    def test_one_that_has_come_up_for_good_is_a_warning(self, up: float, expected: Severity) -> None:
        facts = container(restart_policy="always", restart_count=4, lifecycle=None, started_at=ago(up))

        assert severity(RULE, facts) is expected


def test_one_that_the_engine_is_restarting_has_a_policy_although_it_was_not_read() -> None:
    unread = {"restart_policy": "the engine did not answer in time"}
    facts = container(state=ContainerState.RESTARTING, lifecycle=looping(), restart_policy=None, unread=unread)

    assert severity(RULE, facts) is Severity.CRITICAL


class TestRhythm:
    """The evidence says how the loop goes: how long it lives, how long the engine waits, whether it gave up."""

    def test_lifetimes_and_back_off(self) -> None:
        past = lifecycle(
            restarts=(ago(30), ago(20), ago(10)),
            exits=tuple(ended(1, at=ago(at), lifetime_seconds=2.0) for at in (30.1, 20.4, 11.6)),
        )

        evidence = symptom(RULE, container(lifecycle=past)).evidence

        assert "it lived 2 s each time" in evidence
        assert any("waited 1.6 s before the last start" in line for line in evidence)

    @pytest.mark.parametrize(
        ("lived", "words"),
        [
            ((0.1, 0.2), "it lived less than a second each time"),
            ((0.1, 3.2), "it lived at most 3 s each time"),
            ((2.1, 3.2), "it lived 2 s to 3 s each time"),
        ],
    )
    def test_lifetimes_in_words(self, lived: tuple[float, float], words: str) -> None:
        ends = tuple(ended(1, at=ago(30 - 10 * n), lifetime_seconds=one) for n, one in enumerate((*lived, lived[0])))
        past = lifecycle(restarts=(ago(29), ago(19), ago(9)), exits=ends)

        assert words in symptom(RULE, container(lifecycle=past)).evidence

    def test_an_engine_that_gave_up_waits_no_more(self) -> None:
        facts = exited(3, restart_policy="on-failure:3", restart_count=3, lifecycle=looping(3))

        evidence = symptom(RULE, facts).evidence

        assert "the engine has given up: restart policy on-failure:3" in evidence
        assert not any("waited" in line for line in evidence)


def test_a_loop_ends_with_the_container_that_is_put_in_its_place() -> None:
    replaced = container(created_at=ago(10), started_at=ago(10), lifecycle=looping())
    fails_too = container(created_at=ago(30), started_at=ago(10), lifecycle=looping(every_seconds=20))

    assert severity(RULE, replaced) is None
    assert severity(RULE, fails_too) is Severity.CRITICAL


@pytest.mark.parametrize(
    ("seen_for_minutes", "complete", "told"),
    [(61, True, "3 times"), (59, True, "at least 3 times"), (61, False, "at least 3 times")],
)
def test_what_history_did_not_see_in_full_is_a_lower_bound(seen_for_minutes: float, complete: bool, told: str) -> None:
    seen = {"observed_since": ago(minutes=seen_for_minutes), "complete": complete}
    facts = container(created_at=ago(days=9), lifecycle=restarted(3, 2, 1).model_copy(update=seen))
    assert symptom(RULE, facts).description.startswith(f"It restarted {told} within 60 min")
