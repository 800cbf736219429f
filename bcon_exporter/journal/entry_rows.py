"""Entries of the journal in the state file: written once, found by whom they are about, kind, time and words."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from typing import Any, NamedTuple

from bcon_exporter.journal.event_rows import Query, Statement
from bcon_exporter.journal.schema import from_micros, to_micros
from bcon_exporter.memory import Subject, share_out
from bcon_exporter.model.journal import HISTORY_KEPT, JournalEntry
from bcon_exporter.model.journal_kinds import ORDINARY, JournalKind


class Room(NamedTuple):
    """How many rows the journal may have.

    Attributes:
        in_all: Of all.
        of_one: Of one subject ordinary ones, and again as many of incidents, changes and deployments; of notes, those
            of people and those of agents.
        of_removed: The same of all containers together that are not there any more and belong to no service that is.
    """

    in_all: int
    of_one: int
    of_removed: int


ROOM_IN_FILE = Room(200_000, 5_000, 20_000)
ROOM_WITHOUT_FILE = Room(20_000, 500, 2_000)
"""Where no state file is wanted: ten megabytes of memory."""
PRUNED_AT_ONCE = 10_000
"""An hour: a file that an earlier version has filled becomes smaller by and by, and no scan waits for it."""

_COLUMNS = "at, kind, host, project, service, container, code, severity, text, data"


class EntryFilter(NamedTuple):
    """Which entries are wanted.

    Attributes:
        since, until: `since` ≤ time < `until`.
        name: A container, service or project; None takes all, also those about none.
        kinds: Any of these; empty takes all.
        words: All of these stand in the text; empty takes all.
    """

    since: datetime
    until: datetime
    name: str | None = None
    kinds: tuple[JournalKind, ...] = ()
    words: str = ""


def insert_entries(entries: Iterable[JournalEntry], host: str) -> Statement:
    """Return the statement that adds entries; `host` is the engine they were seen on."""
    rows = [
        (
            to_micros(entry.at), entry.kind, entry.host or host, entry.project, entry.service, entry.container,
            entry.code, entry.severity, entry.text, json.dumps(entry.data),
        )
        for entry in entries
    ]  # fmt: skip
    return f"INSERT INTO journal ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows  # noqa: S608 -- our own


def find_entries(query: Query, wanted: EntryFilter, limit: int, offset: int = 0) -> list[JournalEntry]:
    """Return entries, newest first."""
    where, parameters = _where(wanted)
    rows = query(
        f"SELECT {_COLUMNS} FROM journal WHERE {where} ORDER BY at DESC, id DESC LIMIT ? OFFSET ?",  # noqa: S608
        [*parameters, limit, offset],
    )
    return [_from_row(row) for row in rows]


def find_newest_of_projects(query: Query, kind: JournalKind, since: datetime) -> list[JournalEntry]:
    """Return the newest entry of a kind of each project."""
    rows = query(
        f"SELECT {_COLUMNS} FROM journal WHERE id IN"  # noqa: S608 -- our own
        " (SELECT max(id) FROM journal WHERE kind = ? AND at >= ? GROUP BY project)",
        (kind, to_micros(since)),
    )
    return [_from_row(row) for row in rows]


def count_entries(query: Query, wanted: EntryFilter) -> int:
    """Return how many entries there are."""
    where, parameters = _where(wanted)
    rows = query(f"SELECT count(*) FROM journal WHERE {where}", parameters)  # noqa: S608 -- words of our own
    return int(rows[0][0]) if rows else 0


def _where(wanted: EntryFilter) -> tuple[str, list[Any]]:
    conditions = ["at >= ?", "at < ?"]
    parameters: list[Any] = [to_micros(wanted.since), to_micros(wanted.until)]
    if wanted.name is not None:
        conditions.append("(container = ? OR service = ? OR project = ?)")
        parameters += [wanted.name] * 3
    if wanted.kinds:
        conditions.append(f"kind IN ({','.join('?' * len(wanted.kinds))})")
        parameters += wanted.kinds
    printable = "".join(char if char.isprintable() and char != '"' else " " for char in wanted.words)
    words = [f'"{word}"' for word in printable.split()]
    if words:
        conditions.append("id IN (SELECT rowid FROM journal_words WHERE journal_words MATCH ?)")
        parameters.append(" ".join(words))
    return " AND ".join(conditions), parameters


def _from_row(row: tuple[Any, ...]) -> JournalEntry:
    at, kind, host, project, service, container, code, severity, text, data = row
    return JournalEntry(
        at=from_micros(at),
        kind=JournalKind(kind),
        host=host,
        project=project,
        service=service,
        container=container,
        code=code,
        severity=severity,
        text=text,
        data=json.loads(data),
    )


def takes_entry(wanted: EntryFilter, entry: JournalEntry) -> bool:
    """Return whether an entry that is not stored is wanted: the words stand in its text as SQLite would find them."""
    is_named = wanted.name is None or wanted.name in (entry.container, entry.service, entry.project)
    is_within = wanted.since <= entry.at < wanted.until and (not wanted.kinds or entry.kind in wanted.kinds)
    if not is_named or not is_within:
        return False
    text = " ".join(["", *_tokens(entry.text), ""])
    return all(f" {' '.join(_tokens(word))} " in text for word in wanted.words.split())


def _tokens(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text.casefold()).split()


def count_of_day(query: Query, now: datetime) -> dict[Subject, tuple[date, int]]:
    """Return how many ordinary rows each subject has of today."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    rows = query(
        f"SELECT project, service, container, count(*) FROM journal WHERE at >= ? AND kind IN ({_ORDINARY})"  # noqa: S608
        " GROUP BY project, service, container",
        (to_micros(midnight),),
    )
    return {Subject(*names): (midnight.date(), count) for *names, count in rows}


_ORDINARY = ", ".join(f"'{kind}'" for kind in sorted(ORDINARY))
_OWNER = (
    "CASE WHEN kind = 'note' THEN 'note/' || (coalesce(json_extract(data, '$.by'), '') = 'tool')"
    " WHEN container IN (SELECT value FROM json_each(?)) THEN 'container/' || container"
    " WHEN project || '/' || service IN (SELECT value FROM json_each(?)) THEN 'service/' || project || '/' || service"
    " WHEN container IS NOT NULL OR service IS NOT NULL THEN 'removed'"
    " WHEN project IN (SELECT value FROM json_each(?)) THEN 'project/' || project"
    " WHEN project IS NOT NULL THEN 'removed' ELSE 'host' END"
)
"""Whose room a row takes."""


class Present(NamedTuple):
    """Who is there now; whatever else rows tell of shares one room.

    Attributes:
        services: Each as project/service.
    """

    containers: tuple[str, ...]
    services: tuple[str, ...]
    projects: tuple[str, ...]

    @property
    def lists(self) -> tuple[str, ...]:
        """Return them as JSON."""
        return tuple(map(json.dumps, self))


class Excess(NamedTuple):
    """So many of the oldest rows of one owner are to go."""

    owner: str
    is_ordinary: bool
    rows: int
    present: Present


def find_excess(query: Query, present: Present, room: Room) -> list[Excess]:
    """Return whose rows are too many. Ordinary ones go before those of incidents, changes and deployments."""
    ((total,),) = query("SELECT count(*) FROM journal", ()) or [(0,)]
    if total <= min(room.of_one, room.of_removed):
        return []
    rows = query(
        f"SELECT {_OWNER}, kind IN ({_ORDINARY}), count(*) FROM journal GROUP BY 1, 2",  # noqa: S608 -- words of our own
        present.lists,
    )
    counts: dict[bool, dict[str, int]] = {False: {}, True: {}}
    for owner, is_ordinary, count in rows:
        counts[bool(is_ordinary)][owner] = count
    lasting = _share(counts[False], room.in_all // 2, room)
    ordinary = _share(counts[True], room.in_all - sum(lasting.values()), room)
    excess, left = [], PRUNED_AT_ONCE
    for is_ordinary, shares in ((True, ordinary), (False, lasting)):
        for owner, share in shares.items():
            count = min(counts[is_ordinary][owner] - share, left)
            if count > 0:
                excess.append(Excess(owner, is_ordinary, count, present))
                left -= count
    return excess


def _share(counts: Mapping[str, int], in_all: int, room: Room) -> dict[str, int]:
    caps = {owner: room.of_removed if owner == "removed" else room.of_one for owner in counts}
    return share_out({owner: min(count, caps[owner]) for owner, count in counts.items()}, in_all)


def prune_entries(now: datetime, excess: Collection[Excess]) -> tuple[Statement, ...]:
    """Return the statements that drop entries of long ago, and the oldest of those that have too many."""
    rows = [(*beyond.present.lists, beyond.owner, beyond.is_ordinary, beyond.rows) for beyond in excess]
    return (
        ("DELETE FROM journal WHERE at < ?", [(to_micros(now - HISTORY_KEPT),)]),
        (
            f"DELETE FROM journal WHERE id IN (SELECT id FROM journal WHERE {_OWNER} = ?"  # noqa: S608 -- our own
            f" AND (kind IN ({_ORDINARY})) = ? ORDER BY id LIMIT ?)",
            rows,
        ),
    )
