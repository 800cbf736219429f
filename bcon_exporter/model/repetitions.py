"""Rows of the journal that stand for many: one for each hour and kind of what repeats itself; for people one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import ORDINARY, JournalKind

if TYPE_CHECKING:
    from pydantic import JsonValue

_JOINED_WITHIN = timedelta(minutes=90)
"""What comes every hour, give or take some minutes, is one loop."""
_LOOP_FROM = 3
_NEW_SETUP = frozenset({JournalKind.IMAGE_CHANGE, JournalKind.CONFIG_CHANGE})
"""A loop that goes on after one of these is another one: the change is what somebody looks for between the two."""
_CODES_SHOWN = 3


class Repeated(NamedTuple):
    """What repeats itself: entries that differ in time and numbers only.

    Attributes:
        phrase: Their text without what differs: "crashed".
        by_policy: The restart policy did it, and no person.
    """

    project: str | None
    service: str | None
    container: str | None
    kind: JournalKind
    code: str | None
    phrase: str
    by_policy: bool


class Repetition(NamedTuple):
    """How often something was repeated.

    Attributes:
        first_at, last_at: Of the first and the last time.
        exit_codes: With which an end came, lowest first.
    """

    times: int
    first_at: datetime
    last_at: datetime
    exit_codes: tuple[int, ...] = ()

    def joined(self, other: "Repetition") -> "Repetition":
        """Return both as one."""
        return Repetition(
            self.times + other.times,
            min(self.first_at, other.first_at),
            max(self.last_at, other.last_at),
            tuple(sorted({*self.exit_codes, *other.exit_codes})),
        )


def name_repeated(entry: JournalEntry) -> Repeated:
    """Return what would be repeated if the entry came again."""
    phrase = entry.data.get("phrase")
    if not isinstance(phrase, str):
        phrase = entry.text.partition(", exit code ")[0].partition(" after ")[0]
    by_policy = bool(entry.data.get("by_policy"))
    return Repeated(entry.project, entry.service, entry.container, entry.kind, entry.code, phrase, by_policy)


def count_once(entry: JournalEntry) -> Repetition:
    """Return an entry that stands for itself as a repetition of one time."""
    code = entry.data.get("exit_code")
    return Repetition(1, entry.at, entry.at, (code,) if isinstance(code, int) else ())


def fold_entry(newest: JournalEntry, repetition: Repetition) -> JournalEntry:
    """Return the row that stands for a repetition: dated by the last time, with the fields that all have in common.

    Args:
        newest: The last of what was repeated; a row that stands for itself alone stays as it is.
        repetition: How often it was.
    """
    if repetition.times == 1:
        return newest
    phrase, codes = name_repeated(newest).phrase, repetition.exit_codes
    data: dict[str, JsonValue] = {name: value for name, value in newest.data.items() if name != "exit_code"}
    if len(codes) == 1:
        data["exit_code"] = codes[0]
    elif codes:
        data["exit_codes"] = list(codes)
    data |= {"phrase": phrase, "times": repetition.times, "first_at": repetition.first_at.isoformat()}
    text = f"{phrase} {repetition.times:,} times, {_show_period(repetition)}{_show_codes(codes)}"
    return newest.model_copy(update={"at": repetition.last_at, "text": text, "data": data})


def read_repetition(entry: JournalEntry) -> Repetition | None:
    """Return what a row of `fold_entry` stands for; None where it stands for itself."""
    times, first_at = entry.data.get("times"), entry.data.get("first_at")
    if not isinstance(times, int) or not isinstance(first_at, str):
        return None
    try:
        began = datetime.fromisoformat(first_at)
    except ValueError:
        return None
    codes = entry.data.get("exit_codes")
    listed = codes if isinstance(codes, list) else [entry.data.get("exit_code")]
    return Repetition(times, began, entry.at, tuple(code for code in listed if isinstance(code, int)))


def spread_repetitions(entries: Iterable[JournalEntry]) -> Iterator[JournalEntry]:
    """Yield entries, a repetition both as it ended and as it began: both are known to have happened then."""
    for entry in entries:
        yield entry
        repetition = read_repetition(entry)
        if repetition is not None and repetition.first_at != entry.at:
            yield entry.model_copy(update={"at": repetition.first_at})


def fold_loops(entries: Iterable[JournalEntry]) -> list[JournalEntry]:
    """Return entries, newest first, with what came three times and more, again and again, as one row at its end.

    Folded is what containers bring about by themselves, with at most 90 minutes between two times.
    """
    loops: list[_Loop] = []
    going_on: dict[Repeated, _Loop] = {}
    for entry in entries:
        if entry.kind in _NEW_SETUP:
            going_on = {key: loop for key, loop in going_on.items() if not _is_same_subject(key, entry)}
        repetition = read_repetition(entry) or count_once(entry)
        repeated = name_repeated(entry)
        loop = going_on.get(repeated)
        if loop is not None and loop.counted.first_at - repetition.last_at <= _JOINED_WITHIN:
            loop.entries.append(entry)
            loop.counted = loop.counted.joined(repetition)
            continue
        loop = _Loop([entry], repetition)
        loops.append(loop)
        if entry.kind in ORDINARY:
            going_on[repeated] = loop
    rows = [row for loop in loops for row in loop.rows()]
    return sorted(rows, key=lambda row: row.at, reverse=True)


@dataclass
class _Loop:
    entries: list[JournalEntry]
    counted: Repetition

    def rows(self) -> list[JournalEntry]:
        """Return one row; each by itself of what came too seldom."""
        if len(self.entries) == 1 or self.counted.times < _LOOP_FROM:
            return self.entries
        return [fold_entry(self.entries[0], self.counted)]


def _is_same_subject(repeated: Repeated, entry: JournalEntry) -> bool:
    if entry.service is None:
        return repeated.container == entry.container
    return (repeated.project, repeated.service) == (entry.project, entry.service)


def _show_period(repetition: Repetition) -> str:
    first, last = repetition.first_at, repetition.last_at
    if first.date() == last.date():
        return f"{first:%H:%M} to {last:%H:%M} UTC"
    return f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC"


def _show_codes(codes: tuple[int, ...]) -> str:
    if len(codes) > _CODES_SHOWN:
        return f", {len(codes)} different exit codes"
    if not codes:
        return ""
    return f", exit code {codes[0]}" if len(codes) == 1 else f", exit codes {', '.join(map(str, codes))}"
