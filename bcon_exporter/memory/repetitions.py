"""Folds what repeats itself: of each kind a container has a few rows an hour, and one that counts the rest.

A pure step: state and entries in, state and rows out. What is counted of an hour that goes on is in the state; it
becomes a row once the hour is over.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import NamedTuple

from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import ORDINARY
from bcon_exporter.model.repetitions import (
    Repeated,
    Repetition,
    count_once,
    fold_entry,
    name_repeated,
    read_repetition,
)

ROWS_OF_AN_HOUR = 10
"""So often a kind is told each time; a loop of restarts is plain to see by then, and so is who began it."""
ROWS_OF_A_DAY = 200
"""So many rows of ordinary things that are told each time one container, service or project has a day."""
HOUR = timedelta(hours=1)
_SETTLED_AFTER = timedelta(seconds=15)
"""What happened at the end of an hour is told by the scan after it."""
TALLIES_AT_MOST = 20_000


class Subject(NamedTuple):
    """Whose rows are counted together: a container's, else a service's or a project's; all None for the host."""

    project: str | None
    service: str | None
    container: str | None


@dataclass(frozen=True, slots=True)
class Tally:
    """How often something has come in an hour.

    Attributes:
        hour: When the hour began.
        rows: So many have rows of their own.
        newest, counted: The last of those that have none yet, and how many these are; None while there are none.
        goes_on: It was counted in the hour before, so all of this one is.
    """

    hour: datetime
    rows: int = 0
    newest: JournalEntry | None = None
    counted: Repetition | None = None
    goes_on: bool = False

    def row(self) -> JournalEntry | None:
        """Return the row that stands for what is counted; None for nothing."""
        return None if self.newest is None or self.counted is None else fold_entry(self.newest, self.counted)


@dataclass(frozen=True, slots=True)
class Repetitions:
    """What the journal counts of the hours that go on.

    Attributes:
        tallies: By what repeats itself.
        days: By subject: a day, and how many rows of it told something each time.
    """

    tallies: Mapping[Repeated, Tally] = field(default_factory=dict)
    days: Mapping[Subject, tuple[date, int]] = field(default_factory=dict)

    def rows(self) -> Iterator[JournalEntry]:
        """Yield the rows that would be written if all hours ended now."""
        for tally in self.tallies.values():
            row = tally.row()
            if row is not None:
                yield row


def fold_repetitions(
    state: Repetitions, entries: Iterable[JournalEntry], now: datetime
) -> tuple[Repetitions, list[JournalEntry]]:
    """Return the state, and the rows to write: of hours that are over, and of entries that are told each by itself."""
    state, rows = close_hours(state, now)
    entries = list(entries)
    if not entries:
        return state, rows
    tallies, days = dict(state.tallies), dict(state.days)
    for entry in entries:
        if entry.kind not in ORDINARY or read_repetition(entry) is not None:
            rows.append(entry)
            continue
        repeated, hour = name_repeated(entry), _hour_of(entry.at)
        tally = tallies.get(repeated)
        if tally is None:
            tally = Tally(hour)
        elif tally.hour < hour:
            rows += [row for row in (tally.row(),) if row is not None]
            tally = Tally(hour, goes_on=tally.counted is not None and hour - tally.hour == HOUR)
        subject, day = Subject(*repeated[:3]), entry.at.date()
        known_day, told = days.get(subject, (day, 0))
        told = told if known_day == day else 0
        if tally.counted is None and not tally.goes_on and tally.rows < ROWS_OF_AN_HOUR and told < ROWS_OF_A_DAY:
            rows.append(entry)
            tallies[repeated] = Tally(tally.hour, tally.rows + 1)
            days[subject] = day, told + 1
        else:
            tallies[repeated] = _count(tally, entry)
    return _bound(Repetitions(tallies, days), rows)


def close_hours(state: Repetitions, now: datetime) -> tuple[Repetitions, list[JournalEntry]]:
    """Return the state without the hours that are over, and their rows; also those that a clock ahead has begun."""
    over = {repeated: tally for repeated, tally in state.tallies.items() if _is_over(tally, now)}
    if not over:
        return state, []
    kept: dict[Repeated, Tally] = {}
    for repeated, tally in state.tallies.items():
        following = Tally(tally.hour + HOUR, goes_on=True)
        if repeated not in over:
            kept[repeated] = tally
        elif tally.counted is not None and not _is_over(following, now):
            kept[repeated] = following
    yesterday = now.date() - timedelta(days=1)
    days = {subject: told for subject, told in state.days.items() if told[0] >= yesterday}
    return Repetitions(kept, days), [row for tally in over.values() if (row := tally.row()) is not None]


def _is_over(tally: Tally, now: datetime) -> bool:
    return tally.hour + HOUR + _SETTLED_AFTER < now or tally.hour > now + HOUR


def close_all(state: Repetitions) -> tuple[Repetitions, list[JournalEntry]]:
    """Return the state with nothing left to write, and the rows of all that was counted."""
    tallies = {
        repeated: tally if tally.counted is None else replace(tally, newest=None, counted=None, goes_on=True)
        for repeated, tally in state.tallies.items()
    }
    return replace(state, tallies=tallies), sorted(state.rows(), key=lambda row: row.at)


def _count(tally: Tally, entry: JournalEntry) -> Tally:
    once = count_once(entry)
    if tally.newest is None or tally.counted is None:
        return Tally(tally.hour, tally.rows, entry, once, tally.goes_on)
    newest = entry if entry.at >= tally.newest.at else tally.newest
    return Tally(tally.hour, tally.rows, newest, tally.counted.joined(once), tally.goes_on)


def _hour_of(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _bound(state: Repetitions, rows: list[JournalEntry]) -> tuple[Repetitions, list[JournalEntry]]:
    """Forget what was told each time where too much is known; then write down what was counted."""
    if len(state.tallies) <= TALLIES_AT_MOST and len(state.days) <= TALLIES_AT_MOST:
        return state, rows
    counted = {repeated: tally for repeated, tally in state.tallies.items() if tally.counted is not None}
    if len(counted) > TALLIES_AT_MOST:
        return Repetitions(), [*rows, *Repetitions(counted).rows()]
    return Repetitions(counted, dict(list(state.days.items())[-TALLIES_AT_MOST:])), rows
