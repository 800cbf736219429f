"""Promise: what is stored and cannot be read is an error for who asks for it, and stops nothing that can do without."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.compose import ResolvedDeployment
from bcon_exporter.compose.wanted_deployment import Deployment
from bcon_exporter.errors import ErrorCode
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.deployment import WantedDeployment
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.lifecycle import EventBatch
from bcon_exporter.schedule.incident_watch import watch_incidents
from bcon_exporter.tools import call_tool
from bcon_exporter.tools.check import gather_around
from bcon_exporter.tools.watch_deployment import judge_deployment
from tests.deployments.checking import PROJECT, own, service
from tests.factories import NOON, ago, container, exited, snapshot
from tests.journal.state_files import status_of, unreadable
from tests.left_open import close_later
from tests.outputs.http.asking import ask, new_site
from tests.outputs.scenes import diagnosis, drift_report, drift_scan, make_context, report_of, scan_of, symptom

if TYPE_CHECKING:
    from pathlib import Path

    from bcon_exporter.tools import Context

TABLES = ("journal", "incidents", "costs", "usage")
API = container(name="api")
ILL = diagnosis(API, status="critical", symptoms=(symptom(SymptomType.EXIT_ERROR, Severity.CRITICAL),))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
def context(state: Path) -> Context:
    """A daemon's, after a scan of one container that is ill."""
    keeper = close_later(MemoryKeeper.open(state, retention_seconds=86400, now=NOON))
    keeper.observe(snapshot(API))
    made = make_context(snapshot(API), memory=keeper, now=lambda: NOON)
    made.scans.publish_diagnosis(scan_of(snapshot(API), ILL))
    return made


@pytest.mark.parametrize(
    ("tool", "payload"),
    [
        ("get_history", {}),
        ("list_deployments", {}),
        ("list_incidents", {}),
        ("get_incident", {"incident_id": "2026-01-01-db-exit_error-1"}),
        ("get_cost_report", {}),
        ("query_memory", {"query": "disk is full", "collection": "incidents"}),
    ],
)
def test_a_tool_that_tells_what_is_stored_says_that_it_cannot_be_read(
    context: Context, state: Path, tool: str, payload: dict[str, Any]
) -> None:
    with unreadable(state, *TABLES):
        envelope = call_tool(context, tool, payload)
    assert envelope.code is ErrorCode.INTERNAL_ERROR
    assert envelope.error is not None
    assert envelope.error.message.startswith("the state file cannot be read: no such table")


def test_other_tools_answer(context: Context, state: Path) -> None:
    with unreadable(state, *TABLES):
        for tool, payload in (
            ("health_check", {}),
            ("diagnose_all", {}),
            ("list_incidents", {"open": True}),
            ("query_memory", {"query": "disk is full", "collection": "docs"}),
        ):
            assert call_tool(context, tool, payload).error is None, tool


def test_an_incident_opens_though_nothing_of_the_past_can_be_read(context: Context, state: Path) -> None:
    with unreadable(state, "journal", "incidents"):
        watch_incidents(context, snapshot(exited(1, name="api")), report_of([ILL]))
    assert [one.incident.root.container for one in context.memory.memory.incidents.open] == ["api"]
    assert context.errors.counts()[ErrorCode.INTERNAL_ERROR] == 0
    assert isinstance(context.memory, MemoryKeeper)
    assert status_of(context.memory) == "memory", "it could not be written either"


def test_a_check_goes_without_the_peaks_of_the_day(context: Context, state: Path) -> None:
    running = own()
    wanted = WantedDeployment(project=PROJECT, services=(service(memory_limit_bytes=99),))
    with unreadable(state, "usage"):
        given = gather_around(context, snapshot(running), ResolvedDeployment(deployment=Deployment(wanted)))
    assert given.peak_memory_bytes == {}


def test_a_deployment_is_judged_without_the_changes_that_the_journal_tells(context: Context, state: Path) -> None:
    deployed = own(created_at=ago(70), started_at=ago(70))
    host = make_context(snapshot(deployed)).host
    before = judge_deployment(replace(context, host=host), PROJECT)
    with unreadable(state, "journal"):
        assert judge_deployment(replace(context, host=host), PROJECT) == before


def test_pages_tell_of_the_host_and_what_is_missing(context: Context, state: Path) -> None:
    context.scans.publish_drift(drift_scan(drift_report("shop")))
    with unreadable(state, *TABLES):
        for path in ("/", "/c/api", "/p/shop"):
            page = ask(new_site(context), "GET", path)
            assert page.status_code == 200
            assert "Something that is stored is missing here: the state file cannot be read" in page.text
            assert ("What happened to it cannot be read now." in page.text) == (path == "/c/api")
        for path in ("/history", "/i/2026-01-01-db-exit_error-1"):
            page = ask(new_site(context), "GET", path)
            assert page.status_code == 500
            assert "the state file cannot be read" in page.text
    for path in ("/", "/c/api", "/p/shop"):
        assert "is missing here" not in ask(new_site(context), "GET", path).text


def test_a_host_that_is_well_is_told_so_though_nobody_can_read_since_when(context: Context, state: Path) -> None:
    context.scans.publish_diagnosis(scan_of(snapshot(API), diagnosis(API)))
    context.memory.add_events(EventBatch((), covers_since=ago(hours=2)), NOON)
    assert "well" in ask(new_site(context), "GET", "/").text
    with unreadable(state, *TABLES):
        page = ask(new_site(context), "GET", "/alerts")
    assert page.status_code == 200
