"""Promise: what repeats itself is counted, and nothing of it is lost or told that was not so."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bcon_exporter.memory import Repetitions, close_all, fold_repetitions, share_out
from bcon_exporter.memory.repetitions import ROWS_OF_A_DAY, ROWS_OF_AN_HOUR
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import ORDINARY, JournalKind
from bcon_exporter.model.repetitions import fold_loops, read_repetition, spread_repetitions
from tests.factories import NOON
from tests.table_rows import table

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def entry(at: datetime, text: str = "became unhealthy", **fields: Any) -> JournalEntry:
    return JournalEntry(**{"at": at, "kind": JournalKind.HEALTH, "container": "api", "text": text, **fields})


def every(step: timedelta, count: int, *, since: datetime = NOON, **fields: Any) -> list[JournalEntry]:
    return [entry(since + number * step, **fields) for number in range(count)]


def fold_all(entries: Iterable[JournalEntry], state: Repetitions | None = None) -> tuple[Repetitions, list[str]]:
    """Fold entries in one by one, each when it happens."""
    state, rows = state or Repetitions(), list[JournalEntry]()
    for told in entries:
        state, more = fold_repetitions(state, [told], told.at)
        rows += more
    return state, [row.text for row in rows]


def count_times(rows: Iterable[JournalEntry]) -> int:
    return sum(read.times if (read := read_repetition(row)) else 1 for row in rows)


@pytest.mark.parametrize("beyond", [0, 1, 2, 400])
def test_of_each_kind_the_first_of_an_hour_are_told_and_the_rest_is_one_row(beyond: int) -> None:
    state, texts = fold_all(every(timedelta(seconds=5), ROWS_OF_AN_HOUR + beyond))
    assert texts == ["became unhealthy"] * ROWS_OF_AN_HOUR
    _, rows = fold_repetitions(state, [], NOON + HOUR + MINUTE)
    last = NOON + timedelta(seconds=5) * (ROWS_OF_AN_HOUR + beyond - 1)
    assert [row.at for row in rows] == [last] * bool(beyond)
    if beyond == 400:
        assert [row.text for row in rows] == ["became unhealthy 400 times, 12:00 to 12:34 UTC"]


def test_the_hour_that_goes_on_is_no_row_until_it_is_over() -> None:
    state, _ = fold_all(every(MINUTE, 30))
    for now, expected in ((NOON + HOUR + timedelta(seconds=15), 0), (NOON + HOUR + timedelta(seconds=16), 1)):
        assert len(fold_repetitions(state, [], now)[1]) == expected
    assert [row.text for row in state.rows()] == ["became unhealthy 20 times, 12:10 to 12:29 UTC"]


def test_what_goes_on_is_one_row_an_hour_and_after_a_quiet_hour_it_is_told_again() -> None:
    state, texts = fold_all(every(MINUTE, 180))
    assert texts[ROWS_OF_AN_HOUR:] == [
        "became unhealthy 50 times, 12:10 to 12:59 UTC",
        "became unhealthy 60 times, 13:00 to 13:59 UTC",
    ]
    for quiet in (15, 16, 17):
        state, _ = fold_repetitions(state, [], NOON + quiet * HOUR)
    assert fold_all(every(MINUTE, 3, since=NOON + 18 * HOUR), state)[1] == ["became unhealthy"] * 3


def test_a_subject_has_so_many_rows_a_day_of_whatever_kind() -> None:
    midnight = NOON - 12 * HOUR
    by_hour = [entry(midnight + number * MINUTE, f"finding_{number // 60} found") for number in range(24 * 60)]
    state, texts = fold_all(by_hour)
    assert len([text for text in texts if " times, " not in text]) == ROWS_OF_A_DAY < 24 * ROWS_OF_AN_HOUR
    assert len(texts) == ROWS_OF_A_DAY + 23, "and one for each hour that is over"
    assert fold_all([entry(midnight + 23 * HOUR, container="web")], state)[1][-1:] == ["became unhealthy"]
    assert fold_all([entry(midnight + 25 * HOUR)], state)[1][-1:] == ["became unhealthy"], "the next day"


@pytest.mark.parametrize("kind", sorted(set(JournalKind) - ORDINARY))
def test_incidents_changes_deployments_and_notes_are_told_each_time(kind: JournalKind) -> None:
    assert len(fold_all(every(timedelta(seconds=1), 300, kind=kind))[1]) == 300


def test_what_somebody_asked_for_is_no_repetition_of_what_came_by_itself() -> None:
    texts = (
        "stopped on request, exit code 0", "ended by itself after 3 s, exit code 0",
        "crashed after 3 s, exit code 1", "killed for want of memory after 3 s, exit code 137",
    )  # fmt: skip
    happened = [
        entry(NOON + number * MINUTE / 4, text, kind=JournalKind.STOP) for number in range(15) for text in texts
    ]
    starts = [
        entry(NOON + number * MINUTE / 4, "started", kind=JournalKind.START, data={"by_policy": True} if policy else {})
        for number in range(15)
        for policy in (True, False)
    ]
    state, _ = fold_all([*happened, *starts])
    assert sorted((row.text.partition(" 5 times")[0], bool(row.data.get("by_policy"))) for row in state.rows()) == [
        ("crashed", False), ("ended by itself", False), ("killed for want of memory", False), ("started", False),
        ("started", True), ("stopped on request", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("codes", "expected", "data"),
    [
        ((1,), ", exit code 1", {"exit_code": 1}),
        ((1, 3), ", exit codes 1, 3", {"exit_codes": [1, 3]}),
        ((1, 2, 3, 4), ", 4 different exit codes", {"exit_codes": [1, 2, 3, 4]}),
    ],
)
def test_exit_codes_are_kept(codes: tuple[int, ...], expected: str, data: dict[str, object]) -> None:
    crashes = [
        entry(
            NOON + number * MINUTE / 2,
            f"crashed after {number} s, exit code {codes[number % len(codes)]}",
            kind=JournalKind.CRASH,
            data={"exit_code": codes[number % len(codes)], "image": "app:1"},
        )
        for number in range(ROWS_OF_AN_HOUR + 40)
    ]
    (row,) = fold_all(crashes)[0].rows()
    assert row.text == f"crashed 40 times, 12:05 to 12:24 UTC{expected}"
    assert row.data.items() >= {"image": "app:1", "times": 40, **data}.items()


@pytest.mark.parametrize("step", [timedelta(days=-2000), timedelta(hours=-3), timedelta(days=2000)])
def test_a_clock_that_leaps_costs_no_count(step: timedelta) -> None:
    before, after = every(MINUTE, 30), every(MINUTE, 30, since=NOON + step)
    state, rows = Repetitions(), list[JournalEntry]()
    for told in (*before, *after):
        state, more = fold_repetitions(state, [told], told.at)
        rows += more
    state, more = fold_repetitions(state, [], after[-1].at + 2 * HOUR)
    assert count_times([*rows, *more]) == 60
    assert not list(state.rows()), "nothing is held until a clock of old comes there"


@given(st.lists(st.tuples(st.integers(0, 300), st.sampled_from(["api", "web"]), st.booleans()), max_size=200))
@settings(max_examples=60, deadline=None)
def test_whatever_comes_in_comes_out_once(happened: list[tuple[int, str, bool]]) -> None:
    state, rows = Repetitions(), list[JournalEntry]()
    for minute, name, is_well in happened:
        at = NOON + minute * MINUTE
        told = entry(at, "healthy again" if is_well else "became unhealthy", container=name)
        state, more = fold_repetitions(state, [told], NOON + minute * MINUTE)
        rows += more
    for name in ("api", "web"):
        own = [row for row in (*rows, *close_all(state)[1]) if row.container == name]
        assert count_times(own) == sum(other == name for _, other, _ in happened)
        joined = fold_loops(sorted(own, key=lambda row: row.at, reverse=True))
        assert count_times(joined) == count_times(own)


def test_far_too_many_kinds_are_not_remembered_and_not_lost() -> None:
    state, rows = Repetitions(), list[JournalEntry]()
    for part in range(9):
        names = [f"job-{number}" for number in range(part * 5000, part * 5000 + 5000)]
        state, more = fold_repetitions(state, [entry(NOON, container=name) for name in names], NOON)
        rows += more
    assert len(rows) == 45_000
    assert len(state.tallies) <= 20_000
    assert len(state.days) <= 20_000


def test_hours_that_follow_one_another_are_shown_as_one_row() -> None:
    state, more = Repetitions(), list[JournalEntry]()
    for told in every(MINUTE, 26 * 60):
        state, new = fold_repetitions(state, [told], told.at)
        more += new
    rows = [*more, *close_all(state)[1]]
    (joined,) = fold_loops(sorted(rows, key=lambda row: row.at, reverse=True))
    assert joined.text == "became unhealthy 1,560 times, 2026-01-01 12:00 to 2026-01-02 13:59 UTC"


CRASH: dict[str, Any] = {"kind": JournalKind.CRASH, "text": "crashed after 2 s, exit code 1", "data": {"exit_code": 1}}
LOOP = every(MINUTE, 43, **CRASH)
LATER = NOON + 5 * HOUR
NEW_IMAGE = entry(NOON + 20.5 * MINUTE, "another image", kind=JournalKind.IMAGE_CHANGE)


@table(
    ("entries", "texts"),
    [
        (LOOP, ["crashed 43 times, 12:00 to 12:42 UTC, exit code 1"]),
        (LOOP[:2], ["crashed after 2 s, exit code 1"] * 2),
        (LOOP[:3], ["crashed 3 times, 12:00 to 12:02 UTC, exit code 1"]),
        # what comes each hour, some minutes late, is one loop; what comes twice a day is none
        (every(HOUR * 1.1, 4, **CRASH), ["crashed 4 times, 12:00 to 15:18 UTC, exit code 1"]),
        (every(12 * HOUR, 3, **CRASH), ["crashed after 2 s, exit code 1"] * 3),
        # another container, another time, what somebody did: told apart
        (
            [*LOOP[:4], *every(MINUTE, 3, since=LATER, container="web", **CRASH)],
            ["crashed 3 times, 17:00 to 17:02 UTC, exit code 1", "crashed 4 times, 12:00 to 12:03 UTC, exit code 1"],
        ),
        (
            every(MINUTE, 3, kind=JournalKind.DEPLOYMENT, text="succeeded"),
            ["succeeded"] * 3,
        ),
        # a loop that goes on with another image is another one
        (
            [*LOOP, NEW_IMAGE],
            [
                "crashed 22 times, 12:21 to 12:42 UTC, exit code 1",
                "another image",
                "crashed 21 times, 12:00 to 12:20 UTC, exit code 1",
            ],
        ),
        (
            [*LOOP, NEW_IMAGE.model_copy(update={"container": "web"})],
            ["crashed 43 times, 12:00 to 12:42 UTC, exit code 1", "another image"],
        ),
    ],
)
def test_a_loop_is_shown_as_one_row(entries: list[JournalEntry], texts: list[str]) -> None:
    rows = fold_loops(sorted(entries, key=lambda row: row.at, reverse=True))
    assert [row.text for row in rows] == texts
    assert count_times(rows) == len(entries)


def test_hours_with_a_quiet_time_between_are_not_shown_as_one() -> None:
    rows = list[JournalEntry]()
    for hours in (0, 5):
        state, _ = fold_all(every(MINUTE, 30, since=NOON + hours * HOUR))
        rows += state.rows()
    assert len(fold_loops(reversed(rows))) == 2


def test_evidence_of_a_repetition_is_when_it_began_and_when_it_ended() -> None:
    (row,) = fold_all(every(MINUTE, 30))[0].rows()
    assert [told.at for told in spread_repetitions([row])] == [NOON + 29 * MINUTE, NOON + 10 * MINUTE]
    assert list(spread_repetitions([entry(NOON)])) == [entry(NOON)]


@pytest.mark.parametrize(
    ("wanted", "room", "expected"),
    [
        ({"a": 5, "b": 5}, 10, {"a": 5, "b": 5}),
        ({"noisy": 1000, "quiet": 90}, 200, {"noisy": 110, "quiet": 90}),
        ({"a": 1000, "b": 1000, "quiet": 3}, 103, {"a": 50, "b": 50, "quiet": 3}),
        ({"a": 7, "b": 7}, 0, {"a": 0, "b": 0}),
        ({"a": 1, "b": 1, "c": 1}, 2, {"a": 1, "b": 1, "c": 0}),
        ({}, 5, {}),
    ],
)
def test_whoever_has_little_keeps_all_of_it(wanted: dict[str, int], room: int, expected: dict[str, int]) -> None:
    assert share_out(wanted, room) == expected
