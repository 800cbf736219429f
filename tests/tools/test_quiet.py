"""What people tell the daemon is kept over a restart, and told by reports, gauge and journal."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.errors import BconError, InvalidInputError, NotFoundError
from bcon_exporter.incidents import FoldedIncidents
from bcon_exporter.journal import EntryFilter, MemoryKeeper
from bcon_exporter.model.incidents import IncidentState, TrackedIncident
from bcon_exporter.model.quiet import EndQuietInput, QuietInput, parse_quiet_hours
from bcon_exporter.model.tool_inputs import AcknowledgeInput, Nothing
from bcon_exporter.tools import execute
from bcon_exporter.tools.quiet import acknowledge_incident, begin_quiet, end_quiet, find_quiet_now, list_quiet
from tests.factories import NOON, compose, container, snapshot
from tests.incidents.test_quiet import incident
from tests.left_open import close_later
from tests.outputs.scenes import make_context, scan_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.tools import Context

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
HOST = snapshot(
    container(name="shop-web-1", compose=compose("web")), container(name="job", labels={"bcon.quiet": "at night"})
)


def keeper(folder: Path) -> MemoryKeeper:
    return close_later(MemoryKeeper.open(folder / "state.db", retention_seconds=32 * 86400, now=NOON))


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    """A daemon's context after a scan, with a state file."""
    made = make_context(HOST, memory=keeper(tmp_path), now=lambda: NOON, to_local=lambda at: at)
    made.scans.publish_diagnosis(scan_of(HOST))
    yield made
    made.memory.close()


def later(context: Context, after: timedelta) -> Context:
    return replace(context, now=lambda: NOON + after)


def ask(name: str, duration: str = "1h", why: str = "") -> QuietInput:
    return QuietInput(name=name, duration=duration, why=why)


def told(context: Context) -> list[str]:
    entries = context.memory.find_entries(EntryFilter(NOON - HOUR, NOON + 9 * HOUR), 100)
    return [entry.text for entry in reversed(entries)]


def test_what_a_person_mutes_is_quiet_until_its_end_also_after_a_restart(context: Context, tmp_path: Path) -> None:
    begin_quiet(context, ask("shop", why="moving  the\x1b[31m database"))
    begin_quiet(context, ask("shop-web-1", "2h"))
    context.memory.close()
    context = replace(context, memory=keeper(tmp_path))

    (first, second) = list_quiet(context, Nothing()).quiet
    assert (first.name, first.source, first.until) == ("shop", "command", NOON + HOUR)
    assert first.why.startswith("moving the")
    assert "\x1b" not in first.why
    assert (second.name, second.until) == ("shop-web-1", NOON + 2 * HOUR)
    assert [one.name for one in list_quiet(later(context, HOUR), Nothing()).quiet] == ["shop-web-1"]
    assert find_quiet_now(later(context, HOUR)).find("shop-web-1", "shop", "web") is not None
    assert list_quiet(later(context, 2 * HOUR), Nothing()).quiet == ()
    assert told(context) == [
        "shop is quiet until 2026-01-01 13:00:00 UTC",
        "shop-web-1 is quiet until 2026-01-01 14:00:00 UTC",
    ]


def test_a_second_quiet_of_the_same_name_sets_a_new_end_and_unquiet_ends_it(context: Context) -> None:
    begin_quiet(context, ask("shop", "8h"))
    begin_quiet(later(context, MINUTE), ask("shop", "10m"))
    assert [one.until for one in list_quiet(later(context, MINUTE), Nothing()).quiet] == [NOON + 11 * MINUTE]
    end_quiet(later(context, 2 * MINUTE), EndQuietInput(name="shop"))
    assert list_quiet(later(context, 2 * MINUTE), Nothing()).quiet == ()
    assert told(context)[-1] == "shop is not quiet any more"


@pytest.mark.parametrize(
    ("request_", "error", "says"),
    [
        (ask("shpo"), NotFoundError, "did you mean"),
        (ask("shop", "1ms"), InvalidInputError, "at least 1s"),
        (EndQuietInput(name="shop"), NotFoundError, "nobody has muted shop"),
    ],
)
def test_what_cannot_be_muted_is_refused_with_advice(
    context: Context, request_: Any, error: type[BconError], says: str
) -> None:
    with pytest.raises(error, match=says):
        (begin_quiet if isinstance(request_, QuietInput) else end_quiet)(context, request_)


def test_a_quiet_lasts_thirty_days_at_most(context: Context) -> None:
    assert begin_quiet(context, ask("shop", "1000d")).until == NOON + timedelta(days=30)


def test_settings_are_listed_and_labels_that_are_not_understood_are_named(context: Context) -> None:
    context = replace(context, quiet_hours=(parse_quiet_hours("11:00-12:30"),))
    report = list_quiet(context, Nothing())
    assert [(one.name, one.source, one.until) for one in report.quiet] == [(None, "setting", NOON + 30 * MINUTE)]
    assert report.misread == ("job",)


def test_without_an_id_the_incidents_that_go_on_are_listed(context: Context) -> None:
    about, over = incident("shop-web-1"), incident("shop-db-1", ended_at=NOON)
    state = IncidentState(open=(TrackedIncident(incident=about, members=("web",)),))
    context.memory.fold_incidents(lambda _: FoldedIncidents(state, (over,)), NOON)

    assert [line["id"] for line in execute(context, "get_incident", {}).data()["result"]["incidents"]] == [about.id]
    assert execute(context, "get_incident", {"incident_id": over.id}).data()["result"]["id"] == over.id


def test_a_person_who_is_on_an_incident_is_noted_once_and_a_scan_keeps_it(context: Context) -> None:
    about = incident("shop-web-1")
    tracked = TrackedIncident(incident=about, members=("web",))
    context.memory.fold_incidents(lambda _: FoldedIncidents(IncidentState(open=(tracked,))), NOON)

    wanted = AcknowledgeInput(incident_id=about.id)
    assert acknowledge_incident(later(context, MINUTE), wanted).acknowledged_at == NOON + MINUTE
    assert acknowledge_incident(later(context, HOUR), wanted).acknowledged_at == NOON + MINUTE
    context.memory.fold_incidents(FoldedIncidents, NOON + HOUR)
    assert context.memory.memory.incidents.open[0].incident.acknowledged_at == NOON + MINUTE
    assert told(context) == ["somebody is on incident 1, 60 s after it began"]


def test_nobody_can_be_on_an_incident_that_is_over_or_not_there(context: Context) -> None:
    over = incident("shop-web-1", ended_at=NOON)
    context.memory.fold_incidents(lambda state: FoldedIncidents(state, (over,)), NOON)
    with pytest.raises(InvalidInputError, match="is over"):
        acknowledge_incident(context, AcknowledgeInput(incident_id=over.id))
    with pytest.raises(NotFoundError):
        acknowledge_incident(context, AcknowledgeInput(incident_id="2026-nothing"))
