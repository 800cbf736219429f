"""What 90 days of a busy host take on disk, and how long questions about them take.

`python -m bench.journal` writes, with the daemon's own keeper, 60 containers in twelve projects of which each is
deployed four times a week, 48 cron runs and 20 crashes a day, probes that fail now and then, and six failures a day
with 4 KiB of evidence each. It prints rows, megabytes of the file, and milliseconds of each question: the median and
the 95th percentile of 100.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bcon_exporter.incidents import FoldedIncidents
from bcon_exporter.journal import EntryFilter, IncidentFilter
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.incidents import EndedBy, Incident, IncidentChange, IncidentMember, IncidentRoot
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from tests.factories import NOON
from tests.journal.keepers import open_keeper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import JsonValue

    from bcon_exporter.journal import MemoryKeeper

DAYS = 90
PROJECTS = tuple(f"project{n}" for n in range(12))
SERVICES = ("web", "api", "db", "cache", "worker")
DEPLOYMENTS_A_DAY = len(PROJECTS) * 4 // 7
CRON_RUNS, CRASHES, FLAPS, SYMPTOMS, DIFFERENCES, INCIDENTS = 48, 20, 30, 40, 5, 6
QUESTIONS = 100
DAY = timedelta(days=1)
LINE = "2026-01-01T12:00:00Z ERROR could not connect to server: Connection refused (10.0.0.{}:5432), attempt {} of 100"


class Host:
    """Says what happens on a day."""

    def __init__(self) -> None:
        self._random = random.Random(7)

    def day(self, begins: datetime) -> list[JournalEntry]:
        """All entries of a day, in their order."""
        return sorted(self._entries(begins), key=lambda entry: entry.at)

    def _entries(self, begins: datetime) -> Iterator[JournalEntry]:
        for _ in range(DEPLOYMENTS_A_DAY):
            yield from self._deployment(begins)
        for _ in range(CRON_RUNS):
            at = self._moment(begins)
            yield self._entry(JournalKind.START, at, "backup", "cron", "backup-cron-run-1", "started")
            yield self._entry(
                JournalKind.STOP, at + timedelta(seconds=9), "backup", "cron", "backup-cron-run-1", "ended, exit code 0"
            )
        for count, first, second in (
            (CRASHES, (JournalKind.CRASH, "crashed, exit code 1"), (JournalKind.START, "started")),
            (FLAPS, (JournalKind.HEALTH, "unhealthy: its check failed 3 times"), (JournalKind.HEALTH, "healthy")),
            (
                SYMPTOMS,
                (JournalKind.SYMPTOM_ON, "network_error began"),
                (JournalKind.SYMPTOM_OFF, "network_error is over"),
            ),
            (DIFFERENCES, (JournalKind.DRIFT_ON, "image differs"), (JournalKind.DRIFT_OFF, "image no longer differs")),
        ):
            for _ in range(count):
                project, service, at = (
                    self._random.choice(PROJECTS),
                    self._random.choice(SERVICES),
                    self._moment(begins),
                )
                for after, (kind, text) in ((0, first), (60, second)):
                    when = at + timedelta(seconds=after)
                    yield self._entry(kind, when, project, service, f"{project}-{service}-1", text)

    def _deployment(self, begins: datetime) -> Iterator[JournalEntry]:
        project, at = self._random.choice(PROJECTS), self._moment(begins)
        for service in SERVICES[:3]:
            name = f"{project}-{service}-1"
            number = self._random.randrange(1000)
            for kind, text in (
                (JournalKind.STOP, "stopped on request, exit code 0"),
                (JournalKind.REMOVE, "removed"),
                (JournalKind.START, "started"),
                (JournalKind.IMAGE_CHANGE, f"another image: {service}:1.{number}, before {service}:1.{number - 1}"),
                (JournalKind.CONFIG_CHANGE, "environment: RELEASE changed"),
            ):
                yield self._entry(kind, at, project, service, name, text)
        yield self._entry(JournalKind.DEPLOYMENT, at, project, None, None, "deployment succeeded: 5 services run")

    def _entry(
        self, kind: JournalKind, at: datetime, project: str, service: str | None, name: str | None, text: str
    ) -> JournalEntry:
        data: dict[str, JsonValue] = {"exit_code": 1, "image": "sha256:" + "0" * 64}
        return JournalEntry(at=at, kind=kind, project=project, service=service, container=name, text=text, data=data)

    def _moment(self, begins: datetime) -> datetime:
        return begins + timedelta(seconds=self._random.uniform(0, 86000))

    def failures(self, begins: datetime) -> tuple[Incident, ...]:
        """The failures of a day."""
        return tuple(self._failure(begins, number) for number in range(INCIDENTS))

    def _failure(self, begins: datetime, number: int) -> Incident:
        project, at = self._random.choice(PROJECTS), self._moment(begins)
        names = [f"{project}-{service}-1" for service in ("db", "api", "web")]
        change = IncidentChange(
            kind=JournalKind.IMAGE_CHANGE,
            at=at,
            seconds_before=60,
            project=project,
            text="another image: db:2, before db:1",
        )
        return Incident(
            id=f"{begins:%Y-%m-%d}-{names[0]}-oom_killed-{number + 1}",
            started_at=at,
            ended_at=at + timedelta(minutes=20),
            severity=Severity.CRITICAL,
            root=IncidentRoot(container=names[0], project=project, service="db", code="oom_killed"),
            title=f"{names[0]} was killed for want of memory; {names[1]} and {names[2]} suffer from it",
            members=tuple(
                IncidentMember(
                    container=name, project=project, service=None, role="suffers" if place else "root", since=at
                )
                for place, name in enumerate(names)
            ),
            changes=(change,) * 5,
            evidence=tuple(LINE.format(number, line) for line in range(36)),
            ended_by=EndedBy.BY_ITSELF,
        )


def fill(keeper: MemoryKeeper, host: Host) -> int:
    """Write all days; return the number of entries."""
    count = 0
    for number in range(DAYS):
        begins = NOON - (DAYS - number) * DAY
        entries, over = host.day(begins), host.failures(begins)
        count += len(entries)
        for start in range(0, len(entries), 40):  # a scan's transaction holds few
            part = tuple(entries[start : start + 40])
            ended, over = over[:1], over[1:]

            def fold(
                state: object, part: tuple[JournalEntry, ...] = part, ended: tuple[Incident, ...] = ended
            ) -> FoldedIncidents:
                return FoldedIncidents(state, ended, part)  # type: ignore[arg-type]  # as it was

            keeper.fold_incidents(fold, part[-1].at)
    return count


def read_page(keeper: MemoryKeeper, wanted: EntryFilter) -> tuple[list[JournalEntry], int]:
    """Return what a page of the history shows: the newest entries, and how many there are in all."""
    return keeper.find_entries(wanted, 100), keeper.count_entries(wanted)


def time_of(ask: Callable[[], object]) -> tuple[float, float]:
    """Median and 95th percentile, in milliseconds."""
    taken = []
    for _ in range(QUESTIONS):
        began = time.perf_counter()
        ask()
        taken.append(1000 * (time.perf_counter() - began))
    return statistics.median(taken), statistics.quantiles(taken, n=20)[-1]


def main() -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        path = Path(folder) / "state.db"
        keeper = open_keeper(path, now=NOON)
        entries = fill(keeper, Host())
        keeper.close()
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        print(f"{DAYS} days: {entries:,} entries, {DAYS * INCIDENTS} incidents, {size / 1e6:.1f} MB")
        with closing(open_keeper(path, now=NOON)) as keeper:
            year, week, day = NOON - DAYS * DAY, NOON - 7 * DAY, NOON - DAY
            questions: dict[str, Callable[[], object]] = {
                "a container's last day": lambda: read_page(keeper, EntryFilter(day, NOON, "project3-db-1")),
                "a project's last week": lambda: read_page(keeper, EntryFilter(week, NOON, "project3")),
                "a container, 90 days": lambda: read_page(keeper, EntryFilter(year, NOON, "project3-db-1")),
                "all crashes, 90 days": lambda: read_page(keeper, EntryFilter(year, NOON, None, (JournalKind.CRASH,))),
                "words, 90 days": lambda: read_page(keeper, EntryFilter(year, NOON, None, (), "image before")),
                "everything, 90 days": lambda: read_page(keeper, EntryFilter(year, NOON)),
                "incidents of a week": lambda: keeper.find_ended_incidents(IncidentFilter(week)),
            }
            for question, ask in questions.items():
                median, high = time_of(ask)
                print(f"{question:24} {median:7.1f} ms {high:7.1f} ms")


if __name__ == "__main__":
    main()
