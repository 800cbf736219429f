"""Promise: whoever fills a store loses their own entries; docs/stores.md says which, with the caps of the code."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest

from bcon_exporter import token_buckets
from bcon_exporter.agents import kept_pages
from bcon_exporter.callers import CALLER
from bcon_exporter.errors import RateLimitedError
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.journal.entry_rows import ROOM_IN_FILE
from bcon_exporter.journal.event_rows import EVENTS_IN_ALL
from bcon_exporter.journal.incident_rows import INCIDENTS_IN_ALL
from bcon_exporter.journal.schema import schema_statements
from bcon_exporter.journal.tool_costs import COSTS_IN_ALL, find_costly, prune_costs
from bcon_exporter.memory import EVENTS_PER_IDENTITY, FAILED_RUNS_FOR, join_notes, repetitions, timeline
from bcon_exporter.memory.journal_entries import FAILED_RUNS_AT_MOST
from bcon_exporter.model.notes import (
    NOTES_AT_MOST,
    PENDING_AT_MOST,
    PENDING_OF_ONE,
    NewNoteInput,
    NoteBook,
    NoteInput,
    WriteMemoryInput,
)
from bcon_exporter.model.quiet import QuietInput
from bcon_exporter.model.tool_inputs import Nothing
from bcon_exporter.outputs.pages import views
from bcon_exporter.tools import change_rates, running_watches
from bcon_exporter.tools.notes import add_note_of_person, approve, list_notes, write_memory
from bcon_exporter.tools.quiet import QUIETS_AT_MOST, begin_quiet
from tests.agents.recorded import make_context as make_recorded_context
from tests.agents.recorded import make_host
from tests.agents.test_kept_pages import Face
from tests.factories import NOON, container, snapshot
from tests.left_open import close_later
from tests.outputs.scenes import make_context, scan_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bcon_exporter.tools import Context

STORES = (Path(__file__).parents[2] / "docs" / "stores.md").read_text()
MINUTE = timedelta(minutes=1)

CAPS = {
    "notes that people wrote or approved": (NOTES_AT_MOST,),
    "notes that wait": (PENDING_OF_ONE, PENDING_AT_MOST),
    "changes by agents": (change_rates.AGENT_CHANGES_AT_ONCE, round(1 / change_rates.AGENT_CHANGES_PER_SECOND)),
    "changes by people: notes, quiets, acknowledgements": (
        change_rates.PERSON_CHANGES_AT_ONCE,
        round(1 / change_rates.PERSON_CHANGES_PER_SECOND),
    ),
    "quiets": (QUIETS_AT_MOST,),
    "acknowledgements": (1,),
    "watches that run": (running_watches.MOST_WATCHES_OF_ONE, running_watches.MOST_WATCHES),
    "what ended watches have seen": (running_watches.MOST_KEPT, running_watches.KEPT_FOR // MINUTE),
    "lists that are read on": (
        kept_pages.MOST_LISTS,
        kept_pages.MOST_BYTES // 1024,
        int(kept_pages.KEPT_SECONDS // 60),
    ),
    "ledger of tool calls": (COSTS_IN_ALL, 32),
    "rows on notes, quiets and acknowledgements in the journal": (ROOM_IN_FILE.of_one,),
    "ordinary rows of the journal": ROOM_IN_FILE[1:] + ROOM_IN_FILE[:1],
    "rows of incidents, changes and deployments": (*ROOM_IN_FILE[1:], ROOM_IN_FILE.in_all // 2),
    "events": (EVENTS_PER_IDENTITY, timeline.HEALTH_EVENTS_PER_IDENTITY, EVENTS_IN_ALL),
    "incidents that are over": (INCIDENTS_IN_ALL,),
    "failed runs that removed themselves": (FAILED_RUNS_AT_MOST, FAILED_RUNS_FOR // timedelta(hours=1)),
    "what repeats itself in this hour": (repetitions.TALLIES_AT_MOST,),
    "clients that limits count": (token_buckets.CLIENTS_MAX,),
}


def test_the_page_names_each_store_and_its_cap_as_the_code_has_it() -> None:
    rows = [line.strip("| ").split(" | ") for line in STORES.splitlines() if line.startswith("| ")][1:]
    told = {
        name: tuple(int(digits.replace(",", "")) for digits in re.findall(r"[0-9][0-9,]*", cap))
        for name, _, cap, _ in rows
    }
    assert told == CAPS


@dataclass
class Time:
    """Both clocks."""

    passed: float = 0.0


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def context(time: Time) -> Context:
    """A daemon's context after a scan of many containers."""
    keeper = close_later(MemoryKeeper.open(None, retention_seconds=32 * 86400, now=NOON))
    host = snapshot(*(container(name=f"c{number}") for number in range(70)))
    made = make_context(host, memory=keeper, now=lambda: NOON + timedelta(seconds=time.passed))
    made.scans.publish_diagnosis(scan_of(host))
    return replace(made, monotonic=lambda: time.passed)


@pytest.fixture(autouse=True)
def nobody() -> Iterator[None]:
    token = CALLER.set("")
    yield
    CALLER.reset(token)


def write(context: Context, text: str, caller: str = "agent") -> str:
    CALLER.set(caller)
    return write_memory(context, WriteMemoryInput(text=text, dry_run=False)).id or ""


def add(context: Context, text: str, caller: str = "person") -> str:
    CALLER.set(caller)
    return add_note_of_person(context, NewNoteInput(text=text)).id or ""


def pending(context: Context) -> Counter[str]:
    book = context.memory.memory.notes
    return Counter(book.callers[note.id] for note in book.pending)


@pytest.mark.promise("F22")
def test_an_agent_that_writes_without_end_locks_nobody_out_of_notes(context: Context, time: Time) -> None:
    """And what people wrote, approved and other agents said stays; its own oldest go."""
    mine, of_another = add(context, "mine"), write(context, "of another one", "other agent")
    approved = write(context, "approved", "agent")
    approve(context, NoteInput(note_id=approved))
    refused = 0
    for number in range(700):
        time.passed += 30
        try:
            write(context, f"flood {number}")
        except RateLimitedError:
            refused += 1
    assert refused > 300
    assert pending(context) == {"agent": PENDING_OF_ONE, "other agent": 1}
    kept = {note.id for note in context.memory.memory.notes.notes}
    assert {mine, of_another, approved} <= kept
    assert add(context, "mine too")
    assert write(context, "another word", "other agent")
    report = list_notes(context, Nothing())
    assert report.displaced == 700 - refused - PENDING_OF_ONE
    assert views.read_overview(context, None, {}).pending == (PENDING_OF_ONE + 2, report.displaced)


@pytest.mark.promise("F22")
def test_many_agents_together_push_out_those_that_have_most(context: Context) -> None:
    write(context, "the only one of a quiet agent", "quiet")
    for number in range(PENDING_AT_MOST):
        write(context, f"flood {number}", f"noisy {number % 10}")
    for number in range(50):
        write(context, f"more {number}", f"noisy {number % 10}")
    assert pending(context)["quiet"] == 1
    assert pending(context).total() == PENDING_AT_MOST


def test_the_room_of_notes_that_wait_is_kept_where_a_file_comes_back(context: Context) -> None:
    for number in range(PENDING_OF_ONE):
        write(context, f"word {number}")
    book = context.memory.memory.notes
    later = tuple(note.model_copy(update={"text": f"later {note.text}"}) for note in book.notes)
    joined = join_notes(book, book.model_copy(update={"notes": later}))
    assert len(joined.pending) == PENDING_OF_ONE
    assert [note.text for note in joined.notes] == [f"later word {number}" for number in range(PENDING_OF_ONE)]


def test_who_wrote_a_note_is_kept_beside_the_notes_that_0_2_0_reads(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    keeper = close_later(MemoryKeeper.open(path, retention_seconds=32 * 86400, now=NOON))
    made = make_context(snapshot(), memory=keeper, now=lambda: NOON)
    for number in range(PENDING_OF_ONE + 2):
        try:
            write(made, f"word {number}")
        except RateLimitedError:
            write(made, f"word {number}", "other agent")
    keeper.close()
    with closing(sqlite3.connect(path)) as connection:
        ((stored,),) = connection.execute("SELECT value FROM memory WHERE key = 'notes'")
    assert set(NoteBook.model_validate_json(stored).model_dump()) == {"notes", "next_number"}
    assert "callers" not in stored
    again = close_later(MemoryKeeper.open(path, retention_seconds=32 * 86400, now=NOON))
    assert again.memory.notes.callers == keeper.memory.notes.callers
    assert Counter(again.memory.notes.callers.values()) == {"agent": PENDING_OF_ONE, "other agent": 2}


@pytest.mark.promise("F22")
def test_one_person_is_limited_and_takes_nothing_from_another(context: Context, time: Time) -> None:
    def mute(name: str, caller: str) -> None:
        CALLER.set(caller)
        begin_quiet(context, QuietInput(name=name, duration="1h"))

    mute("c69", "quiet")
    for number in range(change_rates.PERSON_CHANGES_AT_ONCE):
        mute(f"c{number % 60}", "noisy")
    with pytest.raises(RateLimitedError):
        mute("c61", "noisy")
    assert add(context, "of another person", "other")
    time.passed += 5
    mute("c61", "noisy")
    assert "c69" in {quiet.name for quiet in context.memory.memory.quiets}
    write(context, "an agent's", "noisy")


@dataclass
class Run:
    """A watch."""

    ended: Event = field(default_factory=Event)
    ended_at: datetime | None = None
    changes: int = 0
    was_told: bool = False


@pytest.mark.promise("F22")
def test_who_starts_watches_leaves_places_for_others_and_results_of_others_stay() -> None:
    watches = running_watches.Watches()

    def start(key: str, caller: str) -> Run:
        CALLER.set(caller)
        made: Run = watches.join(key, Run(), lambda: None, NOON, 0)
        return made

    for number in range(running_watches.MOST_WATCHES_OF_ONE):
        start(f"noisy {number}", "noisy")
    with pytest.raises(RateLimitedError, match="2 watches of yours"):
        start("noisy too", "noisy")
    quiet = start("quiet", "quiet")
    start("another", "another")
    with pytest.raises(RateLimitedError, match="4 watches are running"):
        start("a fifth", "a fifth")
    quiet.ended_at = NOON
    quiet.ended.set()
    for number in range(3 * running_watches.MOST_KEPT):
        run = start(f"short {number}", f"noisy {number % 2}")
        run.ended_at = NOON + number * timedelta(seconds=1)
        run.ended.set()
    assert watches.find("quiet", NOON + MINUTE, 0) is quiet
    assert watches.find("short 0", NOON + MINUTE, 0) is None
    assert watches.find(f"short {3 * running_watches.MOST_KEPT - 1}", NOON + MINUTE, 0) is not None


@pytest.mark.promise("F22")
def test_an_agent_that_begins_many_lists_ends_none_of_another() -> None:
    asked = Face(make_recorded_context(make_host(8, 7)))
    CALLER.set("quiet")
    first = asked.ask("diagnose_all", limit=5)
    assert first["more"]["next"]
    CALLER.set("noisy")
    for number in range(kept_pages.MOST_LISTS + 1):
        asked.context = make_recorded_context(make_host(20, 6 + number))
        asked.ask("diagnose_all", limit=5)
    looks = asked.looks
    CALLER.set("quiet")
    asked.ask("diagnose_all", limit=5, **first["more"]["next"])
    assert asked.looks == looks


@pytest.mark.promise("F22")
def test_a_tool_that_is_called_without_end_pushes_no_other_out_of_the_ledger() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in schema_statements():
            connection.execute(statement)
        flood = ((at, f"id-{at}", '{"operation": "search"}') for at in range(1000, 1000 + COSTS_IN_ALL))
        connection.executemany("INSERT INTO costs VALUES (?, ?, ?)", flood)
        rare = ((at, "rare", '{"operation": "health_check"}') for at in range(5))
        connection.executemany("INSERT INTO costs VALUES (?, ?, ?)", [*rare, (7, "damaged", "no JSON")])
        costly = find_costly(lambda sql, parameters: connection.execute(sql, parameters).fetchall())
        assert costly == {"search": 6}
        for sql, rows in prune_costs(NOON - timedelta(days=40_000), costly):
            connection.executemany(sql, rows)
        assert connection.execute("SELECT min(at) FROM costs WHERE id GLOB 'id-*'").fetchone() == (1006,)
        assert connection.execute("SELECT count(*) FROM costs").fetchone() == (COSTS_IN_ALL,)
