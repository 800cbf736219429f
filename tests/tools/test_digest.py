"""A digest tells what is new, over, flapping, drifted longest and failed; of a quiet week it is two lines."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.errors import InvalidInputError
from bcon_exporter.incidents import FoldedIncidents
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.memory import journal_deployment
from bcon_exporter.model.digest import DigestInput
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.incidents import IncidentState, TrackedIncident
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import CHANGES, JournalKind
from bcon_exporter.model.tool_inputs import GetHistoryInput
from bcon_exporter.model.verify_report import DeploymentRecord, DeploymentVerdict
from bcon_exporter.outputs.text import render_plain
from bcon_exporter.tools.digest import write_digest
from bcon_exporter.tools.exporter_status import get_history
from bcon_exporter.tools.first_seen import drift_key
from tests.factories import NOON, snapshot
from tests.incidents.test_quiet import incident
from tests.outputs.scenes import make_context

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.model.incidents import Incident
    from bcon_exporter.tools import Context

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    """A daemon's context with an empty state file."""
    keeper = MemoryKeeper.open(tmp_path / "state.db", retention_seconds=32 * 86400, now=NOON)
    yield make_context(snapshot(), memory=keeper, now=lambda: NOON)
    keeper.close()


def keep(context: Context, *incidents: Incident, entries: tuple[JournalEntry, ...] = ()) -> None:
    open_ones = tuple(TrackedIncident(incident=one, members=("x",)) for one in incidents if one.is_open)
    ended = tuple(one for one in incidents if not one.is_open)
    context.memory.fold_incidents(lambda _: FoldedIncidents(IncidentState(open=open_ones), ended, entries), NOON)


def at(days_ago: float, name: str = "db", *, lasted: timedelta | None = HOUR, **fields: Any) -> Incident:
    began = NOON - days_ago * DAY
    ended = None if lasted is None else began + lasted
    made = {"id": f"{name}-{days_ago}", "title": f"{name} failed", "started_at": began, "ended_at": ended, **fields}
    return incident(name, **made)


def test_a_quiet_week_is_two_lines(context: Context) -> None:
    keep(context, at(8))
    text = render_plain(write_digest(context, DigestInput()))
    assert [line for line in text.splitlines() if line.strip() and "No daemon" not in line] == [
        "No incident.  2025-12-25 12:00:00 UTC to 2026-01-01 12:00:00 UTC",
        "Nothing has drifted, and no deployment failed.",
    ]


def test_it_counts_what_began_ended_and_goes_on(context: Context) -> None:
    merged = at(2, "web", merged_into="db-1")
    keep(context, at(10, lasted=4 * DAY), at(1), at(3, "api", severity="error"), merged, at(9, "old", lasted=None))
    report = write_digest(context, DigestInput())
    assert (report.began, report.ended) == (2, 3)
    assert [one.id for one in report.worst] == ["db-1", "api-3"]
    assert [one.id for one in report.going_on] == ["old-9"]
    assert render_plain(report).startswith("2 new incidents, 3 closed, 1 goes on.")
    assert write_digest(context, DigestInput(since=NOON - 2 * DAY)).began == 1


@pytest.mark.parametrize(("times", "flaps"), [(2, False), (3, True)])
def test_what_fails_three_times_is_flapping(context: Context, times: int, *, flaps: bool) -> None:
    keep(context, *(at(day + 1) for day in range(times)))
    assert [(one.name, one.count) for one in write_digest(context, DigestInput()).flapping] == [("db", 3)] * flaps


def test_what_has_drifted_longest_and_failed_deployments_are_told(context: Context) -> None:
    present: dict[str, Severity | None] = {}
    for number in range(7):
        present[drift_key("shop", f"s{number}", "image_mismatch")] = Severity.WARNING
        context.memory.conclude_first_seen("drift", present, NOON - (9 - number) * DAY)
    made = {"project": "shop", "at": NOON - HOUR, "since": NOON - 2 * HOUR}
    records = (
        DeploymentRecord.model_validate({**made, "verdict": verdict, "summary": f"it was {verdict.value}"})
        for verdict in DeploymentVerdict
    )
    keep(context, entries=tuple(map(journal_deployment, records)))
    report = write_digest(context, DigestInput())
    assert [one.service for one in report.drifted] == ["s0", "s1", "s2", "s3", "s4"]
    assert [one.summary for one in report.failed_deployments] == ["it was bad"]
    assert "shop/s0: image_mismatch for 9 days" in render_plain(report)


def test_a_period_in_the_future_is_refused(context: Context) -> None:
    with pytest.raises(InvalidInputError, match="past"):
        write_digest(context, DigestInput(since=NOON + HOUR))


def test_changes_are_the_history_without_what_was_concluded(context: Context) -> None:
    keep(context, entries=tuple(JournalEntry(at=NOON - HOUR, kind=kind, text=kind.value) for kind in JournalKind))
    told = {entry.kind for entry in get_history(context, GetHistoryInput(changes=True)).entries}
    assert told == CHANGES
    assert {"image_change", "config_change", "start", "crash", "oom", "health", "drift_on", "deployment"} <= told
    assert not {"symptom_on", "incident_open", "note", "gap"} & told
    only = get_history(context, GetHistoryInput(changes=True, kind=JournalKind.CRASH)).entries
    assert [entry.kind for entry in only] == ["crash"]
    with pytest.raises(InvalidInputError, match="no change"):
        get_history(context, GetHistoryInput(changes=True, kind=JournalKind.NOTE))
