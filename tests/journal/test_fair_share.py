"""Promise: whatever a container does, however often, the history of the others stays, and what it did is counted."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bcon_exporter.incidents import FoldedIncidents
from bcon_exporter.journal import EntryFilter, MemoryKeeper
from bcon_exporter.journal.entry_rows import ROOM_IN_FILE, Present, Room, find_excess, insert_entries, prune_entries
from bcon_exporter.journal.event_rows import EVENTS_IN_ALL, find_beyond, prune_events
from bcon_exporter.journal.incident_rows import INCIDENTS_IN_ALL, find_crowding, insert_incidents, prune_incidents
from bcon_exporter.journal.schema import schema_statements, to_micros
from bcon_exporter.memory.timeline import EVENTS_PER_IDENTITY, HEALTH_EVENTS_PER_IDENTITY
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.incidents import EndedBy, Incident, IncidentRoot
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import ORDINARY, JournalKind
from bcon_exporter.model.repetitions import read_repetition
from tests.factories import NOON, ago, compose
from tests.journal.keepers import batch, container, crash_loop, event, open_keeper, past_of, scan

SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NOISY = tuple(f"noisy-{number}" for number in range(10))


def tell(keeper: MemoryKeeper, entries: Iterable[JournalEntry], now: datetime) -> None:
    """Let a scan end with entries."""
    keeper.fold_incidents(lambda state: FoldedIncidents(state, (), tuple(entries)), now)


def entry(at: datetime, name: str | None = "api", **fields: Any) -> JournalEntry:
    return JournalEntry(
        **{"at": at, "kind": JournalKind.HEALTH, "container": name, "text": "became unhealthy", **fields}
    )


def read(keeper: MemoryKeeper, **wanted: Any) -> list[JournalEntry]:
    """Oldest first."""
    asked = EntryFilter(**{"since": ago(days=400), "until": NOON + 400 * DAY, **wanted})
    return list(reversed(keeper.find_entries(asked, 100_000)))


def count_times(entries: Iterable[JournalEntry]) -> int:
    return sum(repetition.times if (repetition := read_repetition(one)) else 1 for one in entries)


@pytest.mark.promise("F21")
def test_beside_ten_whose_health_flips_for_a_month_one_that_crashes_once_a_day_keeps_all_its_rows() -> None:
    """Without a state file, where the least room is: 86,400 flips, and 20,000 rows for all."""
    keeper = open_keeper(now=NOON)
    names = (*NOISY, "quiet")
    seen = [container(name=name) for name in names]
    crashes = 0
    for hour in range(30 * 24):
        now = NOON + hour * HOUR
        flips = [entry(now - (12 - number) * MINUTE, name) for name in NOISY for number in range(12)]
        if hour % 24 == 5:
            crashes += 1
            flips.append(entry(now - SECOND, "quiet", kind=JournalKind.CRASH, text="crashed after 1 day, exit code 1"))
        tell(keeper, flips, now)
        if hour % 2 == 0:  # larger steps are mistrusted
            scan(keeper, *seen, now=now)
    rows = read(keeper)
    assert sum(row.container == "quiet" for row in rows) == crashes == 30
    assert len(rows) < 20_000
    by_name = Counter(row.container for row in rows)
    assert all(by_name[name] <= 500 + 26 for name in NOISY), "those of an hour that was not pruned yet"


def test_what_flips_for_hours_is_one_row_an_hour_and_all_of_it_is_counted(tmp_path: Path) -> None:
    """By events of the engine, as they come."""
    keeper = open_keeper(tmp_path / "state.db", now=NOON)
    keeper.add_events(batch(event(NOON, "start"), event(NOON, "start", "web")), NOON)
    sent = Counter[str]()
    for number in range(3 * 60):
        now = NOON + number * MINUTE
        flips = [
            event(now + second * SECOND, "health_status", health="unhealthy" if second % 2 else "healthy")
            for second in range(1, 51)
        ]
        sent.update(str(flip.health) for flip in flips)
        keeper.add_events(batch(*flips, since=now), now + MINUTE)
        scan(keeper, container(), container(name="web"), now=now + MINUTE)
    rows = [row for row in read(keeper, name="api") if row.kind is JournalKind.HEALTH]
    assert count_times(row for row in rows if row.text.startswith("became")) == sent["unhealthy"] == 3 * 60 * 25
    assert count_times(row for row in rows if row.text.startswith("healthy")) == sent["healthy"]
    assert len(rows) <= 2 * (10 + 3 + 1)
    keeper.close()
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        assert connection.execute("SELECT count(*) FROM memory WHERE key GLOB 'repeated/*'").fetchone() == (0,)
        ((stored,),) = connection.execute("SELECT count(*) FROM journal WHERE kind = 'health'")
    assert stored == len(rows), "at exit all of it is written"


def test_a_kill_in_the_open_hour_loses_no_count_and_a_command_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    keeper = open_keeper(path, now=NOON)
    keeper.add_events(batch(), NOON)
    for number in range(40):
        tell(keeper, [entry(NOON + number * MINUTE)], NOON + number * MINUTE)
    command = open_keeper(path, now=NOON + HOUR, read_only=True)
    assert count_times(read(command)) == count_times(read(keeper)) == 40
    again = open_keeper(path, now=NOON + HOUR)  # the first was never closed
    assert [row.text for row in read(again)][-1] == "became unhealthy 30 times, 12:10 to 12:39 UTC"
    for number in range(40, 70):
        tell(again, [entry(NOON + number * MINUTE)], NOON + number * MINUTE)
    tell(again, [entry(NOON + 3 * HOUR, "web")], NOON + 3 * HOUR)
    assert [row.text for row in read(again, name="api")][10:] == [
        "became unhealthy 50 times, 12:10 to 12:59 UTC",
        "became unhealthy 10 times, 13:00 to 13:09 UTC",
    ]


def test_a_restart_of_the_exporter_gives_no_new_day(tmp_path: Path) -> None:
    for run in range(60):
        keeper = open_keeper(tmp_path / "state.db", now=NOON)
        keeper.add_events(batch(), NOON)
        tell(keeper, [entry(NOON + run * SECOND, text=f"finding_{n % 2} found") for n in range(12)], NOON)
        keeper.close()
    rows = read(open_keeper(tmp_path / "state.db", now=NOON))
    assert count_times(rows) == 60 * 12
    assert sum(read_repetition(row) is None for row in rows) <= 200 + 12


def test_the_open_hour_is_found_as_what_is_stored_is(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db", now=NOON)
    keeper.add_events(batch(), NOON)
    told = [entry(NOON + number * MINUTE, data={"exit_code": 1}, project="shop", service="web") for number in range(40)]
    others = [entry(NOON + number * MINUTE, f"other-{number}") for number in range(0, 40, 2)]
    tell(keeper, [*told, *others], NOON + 40 * MINUTE)
    questions: tuple[tuple[dict[str, Any], int], ...] = (
        ({"name": "shop"}, 11), ({"name": "web"}, 11), ({"name": "api"}, 11), ({"name": "ap"}, 0),
        ({"kinds": (JournalKind.HEALTH,)}, 31), ({"kinds": (JournalKind.CRASH,)}, 0),
        ({"words": "unhealthy times"}, 1), ({"words": "UNHEALTHY"}, 31), ({"words": "health"}, 0),
        ({"words": "exit code"}, 1), ({"words": "code-exit"}, 0), ({"since": NOON + 39 * MINUTE}, 1),
        ({"until": NOON + 39 * MINUTE}, 30),
    )  # fmt: skip
    for wanted, expected in questions:
        asked = EntryFilter(**{"since": ago(days=1), "until": NOON + DAY, **wanted})
        assert (len(keeper.find_entries(asked, 1000)), keeper.count_entries(asked)) == (expected, expected), wanted
    everything = EntryFilter(ago(days=1), NOON + DAY)
    whole = keeper.find_entries(everything, 1000)
    for size in (1, 4, 7):
        pages = [keeper.find_entries(everything, size, offset) for offset in range(0, len(whole), size)]
        assert [one for page in pages for one in page] == whole, size


def test_a_loop_of_restarts_loses_no_end_that_health_would_push_out(tmp_path: Path) -> None:
    """The engine's events: a check that flips pushes out neither starts nor ends, nor what others did."""
    path = tmp_path / "state.db"
    keeper = open_keeper(path, now=NOON)
    keeper.add_events(batch(*crash_loop(20, last=NOON)), NOON)
    for number in range(10):
        now = NOON + number * MINUTE
        flips = (
            event(now + n * SECOND / 10, "health_status", health="unhealthy" if n % 2 else "healthy")
            for n in range(1, 500)
        )
        keeper.add_events(batch(*flips, since=now), now + MINUTE)
        scan(keeper, container(restart_count=20), now=now + MINUTE)
    lifecycle = past_of(keeper, container(restart_count=20), NOON + 11 * MINUTE)
    assert (len(lifecycle.restarts), lifecycle.restarts_total) == (20, 20)
    with closing(sqlite3.connect(path)) as connection:
        counts = dict(connection.execute("SELECT action, count(*) FROM events GROUP BY action"))
    assert counts == {"die": 20, "start": 20, "health_status": HEALTH_EVENTS_PER_IDENTITY}
    again = open_keeper(path, now=NOON + HOUR)
    scan(again, container(restart_count=20), now=NOON + HOUR)
    assert len(next(iter(again.memory.pasts.values())).events) == 40 + HEALTH_EVENTS_PER_IDENTITY < EVENTS_PER_IDENTITY


def test_that_more_came_between_two_scans_than_is_kept_is_told() -> None:
    keeper = open_keeper(now=NOON)
    keeper.add_events(batch(), NOON)
    for count, expected in ((HEALTH_EVENTS_PER_IDENTITY, 0), (HEALTH_EVENTS_PER_IDENTITY + 3, 1)):
        now = NOON + expected * HOUR
        flips = [
            event(now + n * SECOND, "health_status", health="unhealthy" if n % 2 else "healthy") for n in range(count)
        ]
        keeper.add_events(batch(*flips, since=now), now + HOUR / 2)
        scan(keeper, container(), now=now + HOUR / 2)
        gaps = read(keeper, kinds=(JournalKind.GAP,))
        assert [gap.data["lost_events"] for gap in gaps] == [3] * expected


# -- who goes first where it is full ---------------------------------------------------------------------------------


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in schema_statements():
            connection.execute(statement)
        yield connection


def run(connection: sqlite3.Connection, *statements: tuple[str, Any]) -> None:
    for sql, rows in statements:
        connection.executemany(sql, rows)


def query_of(connection: sqlite3.Connection) -> Any:
    return lambda sql, parameters: connection.execute(sql, parameters).fetchall()


SMALL = Room(in_all=200, of_one=50, of_removed=60)


def prune(connection: sqlite3.Connection, present: Present, room: Room = SMALL) -> None:
    run(connection, *prune_entries(NOON, find_excess(query_of(connection), present, room)))


HERE = Present(("api", "web", "quiet"), ("shop/web",), ("shop",))


@pytest.mark.promise("F21")
@pytest.mark.parametrize(
    ("flood", "kept"),
    [
        (lambda n: entry(ago(n), "api"), 50),
        (lambda n: entry(ago(n), "api", kind=JournalKind.START, data={"by_policy": True}), 50),
        (lambda n: entry(ago(n), "api", kind=JournalKind.INCIDENT_OPEN), 50),
        (lambda n: entry(ago(n), f"job-{n}", kind=JournalKind.REMOVE), 60),
        (lambda n: entry(ago(n), f"shop-web-run-{n}", project="shop", service="web"), 50),
        (lambda n: entry(ago(n), f"ci-{n}", project=f"ci-{n}", service="job"), 60),
        (lambda n: entry(ago(n), None, project="shop", kind=JournalKind.DEPLOYMENT), 50),
        (lambda n: entry(ago(n), None, project=f"ci-{n}", kind=JournalKind.DEPLOYMENT), 60),
        (lambda n: entry(ago(n), None, kind=JournalKind.GAP), 50),
        (lambda n: entry(ago(n), None, kind=JournalKind.NOTE, data={"by": "tool"}), 50),
        (lambda n: entry(ago(n), "web", kind=JournalKind.NOTE, data={"by": "person"}), 50),
    ],
    ids=[
        "health", "restarts", "incidents", "jobs that remove themselves", "runs of a service", "projects of an hour",
        "deployments", "deployments of projects that are gone", "gaps", "notes of agents", "notes of people",
    ],
)  # fmt: skip
def test_what_floods_the_journal_has_its_own_room_and_its_oldest_go(
    database: sqlite3.Connection, flood: Any, kept: int
) -> None:
    lasting = [
        entry(ago(days=40), "quiet", kind=kind, text="of the quiet one")
        for kind in (*sorted(ORDINARY), JournalKind.INCIDENT_OPEN, JournalKind.CONFIG_CHANGE, JournalKind.DEPLOYMENT)
    ]
    run(database, insert_entries(lasting, ""), insert_entries([flood(n) for n in reversed(range(1000))], ""))
    prune(database, HERE)
    quiet = database.execute("SELECT count(*) FROM journal WHERE text = 'of the quiet one'").fetchone()
    assert quiet == (len(lasting),)
    times = [at for (at,) in database.execute("SELECT at FROM journal WHERE text != 'of the quiet one'")]
    assert sorted(times) == [to_micros(ago(n)) for n in reversed(range(kept))]


@pytest.mark.promise("F21")
def test_ordinary_rows_go_before_those_of_incidents_and_changes(database: sqlite3.Connection) -> None:
    names = [f"noisy-{number}" for number in range(20)]
    kinds = (JournalKind.HEALTH, JournalKind.INCIDENT_OPEN)
    rows = [entry(ago(n), name, kind=kind) for n in range(50) for name in names for kind in kinds]
    rows += [entry(ago(days=1), "quiet", kind=kind) for kind in kinds]
    run(database, insert_entries(rows, ""))
    prune(database, Present((*names, "quiet"), (), ()), Room(400, 50, 50))
    counts = dict(database.execute("SELECT kind, count(*) FROM journal GROUP BY kind").fetchall())
    assert counts == {"health": 200, "incident_open": 200}
    assert database.execute("SELECT count(*) FROM journal WHERE container = 'quiet'").fetchone() == (2,)


def test_nothing_goes_where_there_is_room(database: sqlite3.Connection) -> None:
    run(database, insert_entries([entry(ago(n), "api") for n in range(50)], ""))
    assert find_excess(query_of(database), HERE, SMALL) == []
    run(database, insert_entries([entry(ago(n), "api") for n in range(51)], ""))
    assert [(one.owner, one.rows) for one in find_excess(query_of(database), HERE, SMALL)] == [("container/api", 51)]


def test_a_file_that_an_earlier_version_filled_becomes_smaller_by_and_by(database: sqlite3.Connection) -> None:
    run(database, insert_entries([entry(ago(n), "api") for n in range(12_000)], ""))
    for left in (2_000, 50):
        prune(database, HERE)
        assert database.execute("SELECT count(*) FROM journal").fetchone() == (left,)


@pytest.mark.promise("F21")
def test_events_of_loops_leave_those_of_others(database: sqlite3.Connection) -> None:
    rows = [(f"loop-{n}", f"id-{n}", at, "start", "", "", 0) for n in range(210) for at in range(1, 1001)]
    rows += [("quiet", "id", at, "die", "1", "", 0) for at in range(1, 91)]
    rows += [(f"gone-{n}", f"gone-{n}", n, "start", "", "", 0) for n in range(500)]
    run(database, ("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows))
    present = {"quiet", *(f"loop-{n}" for n in range(210))}
    run(database, *prune_events(ago(days=40_000), find_beyond(query_of(database), present)))
    counts = dict(database.execute("SELECT identity, count(*) FROM events GROUP BY identity").fetchall())
    assert counts["quiet"] == 90
    assert sum(counts.values()) == EVENTS_IN_ALL
    assert max(counts.values()) - min(counts[f"loop-{n}"] for n in range(210)) <= 1
    (oldest,) = database.execute("SELECT min(at) FROM events WHERE identity = 'loop-3'").fetchone()
    assert oldest == 1001 - counts["loop-3"]


def test_events_of_those_that_are_gone_go_first_the_least_recent_before_all(database: sqlite3.Connection) -> None:
    rows = [(f"gone-{n}", "id", n * 1000 + k, "start", "", "", 0) for n in range(201) for k in range(1000)]
    rows += [("quiet", "id", 1, "die", "1", "", 0)]
    run(database, ("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows))
    assert find_beyond(query_of(database), {"quiet"}) == {"gone-1": 1, "gone-0": 1000}


@pytest.mark.promise("F21")
def test_a_root_whose_incidents_never_stop_leaves_those_of_others(database: sqlite3.Connection) -> None:
    def incident(number: int, name: str) -> Incident:
        root = IncidentRoot(container=name, project=None, service=None, code="restart_loop")
        return Incident(
            id=f"{name}-{number}", title="", severity=Severity.ERROR, started_at=ago(number), ended_at=ago(number),
            root=root, members=(), ended_by=EndedBy.BY_ITSELF,
        )  # fmt: skip

    noisy = (incident(number, "noisy") for number in range(INCIDENTS_IN_ALL))
    quiet = (incident(10**6 + number, "quiet") for number in range(5))
    run(database, insert_incidents([*noisy, *quiet]))
    run(database, *prune_incidents(NOON, find_crowding(query_of(database))))
    counts = dict(database.execute("SELECT root, count(*) FROM incidents GROUP BY root").fetchall())
    assert counts == {"noisy": INCIDENTS_IN_ALL - 5, "quiet": 5}
    assert database.execute("SELECT count(*) FROM incidents WHERE id = 'noisy-0'").fetchone() == (1,)


def test_a_job_that_fails_each_minute_pushes_out_no_failed_run_of_another() -> None:
    keeper = open_keeper(now=NOON)
    for name, runs in (("backup", 1), ("noisy", 80)):
        for number in range(runs):
            at = ago(7000 - 60 * number)
            steps = (event(at, "start", name), event(at + SECOND, "die", name, exit_code=1))
            keeper.add_events(batch(*steps, event(at + SECOND, "destroy", name)), at + MINUTE)
            scan(keeper, now=at + MINUTE)
    assert Counter(run.name for run in scan(keeper, now=NOON).failed_runs) == {"noisy": 49, "backup": 1}


def test_failed_runs_outlive_the_exporter_though_their_rows_were_folded(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db", now=NOON)
    for number in range(30):
        at = ago(1800 - 60 * number)
        steps = (event(at, "start", "job"), event(at + SECOND, "die", "job", exit_code=1))
        keeper.add_events(batch(*steps, event(at + SECOND, "destroy", "job")), at + MINUTE)
        scan(keeper, now=at + MINUTE)
    before = scan(keeper, now=NOON + MINUTE).failed_runs
    assert len(before) == 30
    again = open_keeper(tmp_path / "state.db", now=NOON + MINUTE)
    assert scan(again, now=NOON + MINUTE).failed_runs == before


def test_the_room_of_one_holds_a_loop_of_ninety_days() -> None:
    """A row an hour for the starts, one for the ends, and those of the first hour."""
    assert ROOM_IN_FILE.of_one > 90 * 24 * 2 + 2 * 10


def seen_in_shop(name: str) -> ContainerFacts:
    return container(name=name, compose=compose("web", "shop"))


def test_who_is_there_is_known_by_name_service_and_project(tmp_path: Path) -> None:
    """Of a service that is there the rows of earlier containers are not those of one that is gone for good."""
    path = tmp_path / "state.db"
    keeper = open_keeper(path, now=NOON)
    keeper.add_events(batch(), NOON)
    tell(keeper, [entry(ago(n), f"gone-{n}") for n in range(21_000)], NOON)
    tell(keeper, [entry(ago(n), "shop-web-1", project="shop", service="web", code=str(n)) for n in range(150)], NOON)
    for hour in range(6):  # so long a clock must have gone on before anything is deleted by it
        scan(keeper, seen_in_shop("shop-web-2"), now=NOON + hour * HOUR)
    assert len(read(keeper, name="shop")) == 150
    assert sum(row.container != "shop-web-1" for row in read(keeper)) == ROOM_IN_FILE.of_removed
