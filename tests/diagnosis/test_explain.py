"""explain counts, dates, shows and interprets what a pattern finds, and refuses what is no pattern."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.diagnosis import Surroundings, explain
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.model.log_reports import ErrorExplanation
from bcon_exporter.model.thresholds import Thresholds
from tests.diagnosis.judging import shipped
from tests.factories import ago, compose, container, ended, exited, lifecycle, line, logs, network, snapshot
from tests.table_rows import table

SECOND = timedelta(seconds=1)
LINES = logs(
    line("starting", at=ago(50)),
    line("ERROR dial tcp 172.18.0.3:5432: connect: connection refused", at=ago(40)),
    line("retrying", at=ago(30)),
    line("ERROR dial tcp 172.18.0.3:5432: connect: connection refused", at=ago(20)),
    line("giving up", at=ago(10)),
)


def test_counts_dates_and_interprets() -> None:
    found = explain(container(logs=LINES), "Connection Refused", 1, shipped())

    assert found.occurrences == 2
    assert (found.first_seen, found.last_seen) == (ago(40), ago(20))
    assert found.lines_searched == 5
    assert "in 1 form." in found.explanation
    assert found.causes[0].peer == "172.18.0.3"
    assert found.actions
    assert all(suggestion.command is None for suggestion in found.actions)


def test_shows_samples_with_context() -> None:
    sample = explain(container(logs=LINES), "refused", 1, shipped()).samples[0]

    assert sample.lines == ("starting", LINES.lines[1].text, "retrying")
    assert sample.lines[sample.match_index] == LINES.lines[1].text


def test_context_ends_with_the_log() -> None:
    sample = explain(container(logs=LINES), "giving up", 50, shipped()).samples[0]

    assert len(sample.lines) == 5
    assert sample.match_index == 4


def test_shows_the_five_newest() -> None:
    many = logs(*(f"no {n} left" for n in range(9)))
    samples = explain(container(logs=many), "left", 0, shipped()).samples

    assert [sample.lines[0] for sample in samples] == [f"no {n} left" for n in range(4, 9)]


def test_a_literal_is_no_expression() -> None:
    odd = container(logs=logs("cost is 5$ (net)", "cost is 55"))

    assert explain(odd, "5$ (", 0, shipped()).occurrences == 1
    assert explain(odd, "re:is 5+$", 0, shipped()).occurrences == 1


def test_the_trace_around_a_line_is_interpreted_too() -> None:
    trace = logs("Traceback (most recent call last):", '  File "a.py"', "ModuleNotFoundError: No module named 'flask'")

    assert explain(container(logs=trace), "a.py", 0, shipped()).causes[0].id == "dependency_not_installed"


@pytest.mark.parametrize("pattern", ["re:(", "re:", "re:(?=x)", "re:" + "a" * 257, "re:(a{1,1000}){1,50}", ""])
def test_a_bad_pattern_is_refused_with_its_field(pattern: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        explain(container(logs=LINES), pattern, 1, shipped())

    assert caught.value.details["errors"][0]["field"] == "error_pattern"  # type: ignore[index]  # details are objects


def test_no_occurrence_and_no_log_are_told_apart() -> None:
    unread = container(logs=None, unread={"logs": "the driver none keeps none"})

    assert "does not occur in the 5 lines" in explain(container(logs=LINES), "absent", 1, shipped()).explanation
    assert "the driver none keeps none" in explain(unread, "absent", 1, shipped()).explanation


@given(st.text(min_size=1, max_size=40), st.lists(st.text(max_size=60), max_size=5))
def test_never_raises_on_literal_text(pattern: str, texts: list[str]) -> None:
    if pattern.startswith("re:"):
        return
    found = explain(container(logs=logs(*texts)), pattern, 2, shipped())

    assert found.occurrences <= len(texts)


REFUSED = "ERROR dial tcp db:5432: connect: connection refused"
UNKNOWN_NAME = "ERROR lookup cache: no such host"


def history_of(*said: str, well: bool = True) -> list[bool]:
    """Whether each refused connection is history: what the first run said, `|` for its end, then the present one."""
    lines = [line(text, at=ago(seconds=100 - 10 * place)) for place, text in enumerate(said) if text != "|"]
    end = ago(seconds=100 - 10 * said.index("|")) if "|" in said else None
    facts = container(logs=logs(*lines), started_at=ago(seconds=95) if end is None else end + SECOND, finished_at=end)
    found = explain(facts, "refused", 0, shipped(), well=well)
    assert found.history_occurrences == sum(sample.history for sample in found.samples)
    return [sample.history for sample in found.samples]


def test_what_stands_before_the_last_start_is_history() -> None:
    assert history_of(REFUSED, "|", "ready", REFUSED) == [True, False]
    assert history_of(REFUSED, "|", "ready") == [True]


def test_before_a_start_that_goes_no_better_it_is_current() -> None:
    assert history_of(REFUSED, "|", "ready", well=False) == [False]


def test_what_was_retried_with_success_is_history() -> None:
    assert history_of(f"{REFUSED}, retrying", f"{REFUSED}, retrying", "connected to db:5432") == [True, True]
    assert history_of(f"{REFUSED}, retrying", "connected to db:5432", REFUSED) == [True, False]


def test_causes_of_now_stand_first_and_those_that_are_over_are_marked() -> None:
    facts = container(
        logs=logs(line(UNKNOWN_NAME, at=ago(90)), line(REFUSED, at=ago(40))), started_at=ago(59), finished_at=ago(60)
    )
    found = explain(facts, "ERROR", 0, shipped(), well=True)
    marks = [cause.history for cause in found.causes]
    assert marks == sorted(marks)
    history = {cause.id: cause.history for cause in found.causes}
    assert history["name_unknown"]
    assert not history["peer_not_listening"]
    assert "1 of these is history" in found.explanation


def test_a_cause_of_both_is_one_of_now() -> None:
    facts = container(
        logs=logs(line(REFUSED, at=ago(90)), line(REFUSED, at=ago(40))), started_at=ago(59), finished_at=ago(60)
    )
    found = explain(facts, "refused", 0, shipped(), well=True)
    assert not any(cause.history for cause in found.causes)
    assert (found.occurrences, found.history_occurrences) == (2, 1)


def test_where_all_is_history_the_advice_is_still_given() -> None:
    facts = container(logs=logs(line(REFUSED, at=ago(90))), started_at=ago(59), finished_at=ago(60))
    found = explain(facts, "refused", 0, shipped(), well=True)
    assert all(cause.history for cause in found.causes)
    assert found.actions
    assert "All of it is history" in found.explanation


def test_a_failed_connection_is_followed_to_the_container_at_its_other_end() -> None:
    db = exited(137, seconds_ago=45, name="shop-db-1", compose=compose("db"), networks=(network(aliases=("db",)),))
    asking = container(logs=logs("ERROR connect to db:5432: connection refused", at=ago(20)), networks=(network(),))
    surroundings = Surroundings(snapshot(asking, db), Thresholds())

    found = explain(asking, "refused", 1, shipped(), surroundings=surroundings)

    assert (found.causes[0].id, found.causes[0].peer) == ("dependency_down", "shop-db-1")
    assert "shop-db-1" in found.actions[0].action


def _words(*, seconds_before_end: float, after: int = 0, **facts: Any) -> ErrorExplanation:
    lines = (
        line("starting", at=ago(70)),
        line("Zork: no such frobnicator", at=ago(60 + seconds_before_end)),
        *(line(f"bye {number}", at=ago(60)) for number in range(after)),
    )
    ended_one = exited(9, seconds_ago=60, logs=logs(*lines), **facts)
    return explain(ended_one, "Zork", 0, shipped(), surroundings=Surroundings(snapshot(ended_one), Thresholds()))


def test_a_line_right_before_a_failed_end_is_explained_by_the_end() -> None:
    found = _words(seconds_before_end=1)

    assert found.causes[0].id == "program_error"
    assert found.causes[0].says == "Zork: no such frobnicator"
    assert "very words" in found.actions[0].action
    assert "ended with code 9, 1 s after it" in found.explanation
    assert "no error" not in found.explanation


@table(
    ("before", "after", "explained"),
    [(5.0, 0, True), (5.1, 0, False), (1.0, 4, True), (1.0, 5, False)],
)
def test_only_last_words_are_explained_by_the_end(before: float, after: int, *, explained: bool) -> None:
    assert bool(_words(seconds_before_end=before, after=after).causes) is explained


def test_an_end_that_somebody_asked_for_explains_no_line() -> None:
    end = ended(9, at=ago(60), requested=True)
    assert _words(seconds_before_end=1, exit_facts=end).causes == ()


def test_a_line_before_the_crash_of_a_container_that_runs_again_is_explained_too() -> None:
    crash = ended(9, at=ago(60))
    facts = container(
        started_at=ago(59),
        restart_policy="always",
        lifecycle=lifecycle(exits=(crash,), restarts=(ago(59),)),
        logs=logs(line("Zork: no such frobnicator", at=ago(61)), line("starting", at=ago(58))),
    )
    found = explain(facts, "Zork", 0, shipped(), surroundings=Surroundings(snapshot(facts), Thresholds()))
    assert [cause.id for cause in found.causes] == ["program_error"]
