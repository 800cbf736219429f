"""Promise: health_check never fails, and the cost report counts every call and says why the money is 0."""

from datetime import timedelta

from bcon_exporter.errors import DockerConnectionError
from bcon_exporter.model.container_facts import EngineFacts
from bcon_exporter.model.reports import CostEntry, TokenUsage
from bcon_exporter.tools import call_tool
from bcon_exporter.tools.cost import estimate_tokens, sum_costs
from bcon_exporter.tools.replay import SnapshotHost
from tests.factories import NOON, container, snapshot
from tests.outputs.scenes import drift_scan, scan_of
from tests.tools.hosts import Ledger, context_of

ENGINE = EngineFacts(name="h", server_version="29.1", api_version="1.52")
HOST = snapshot(container(), engine=ENGINE)


class DeadHost(SnapshotHost):
    def engine(self) -> EngineFacts:
        msg = "no engine at unix:///x"
        raise DockerConnectionError(msg)


class HangingHost(SnapshotHost):
    def endpoints_up(self) -> dict[str, bool]:
        return {"list": True, "stats": False}


def entry(operation: str, *, cached: bool = False, seconds_ago: float = 0, seconds: float = 0.1) -> CostEntry:
    usage = TokenUsage(input_tokens=1, output_tokens=10, total_tokens=11)
    at = NOON - timedelta(seconds=seconds_ago)
    return CostEntry(timestamp=at, operation=operation, usage=usage, cached=cached, docker_calls=2, seconds=seconds)


class AnsweringHost(SnapshotHost):
    def endpoints_up(self) -> dict[str, bool]:
        return {"list": True, "stats": True}


def test_a_reached_engine_is_healthy() -> None:
    health = call_tool(context_of(host=AnsweringHost(snapshot(engine=ENGINE))), "health_check", {}).value
    assert (health.status, health.docker_connected, health.docker_version) == ("healthy", True, "29.1")
    assert health.message == "the engine answers"


def test_a_snapshot_claims_no_answer_of_an_engine() -> None:
    health = call_tool(context_of(snapshot(engine=ENGINE)), "health_check", {}).value
    assert (health.status, health.docker_connected, health.docker_version) == ("healthy", False, "29.1")
    assert health.message == "this is a snapshot: no engine was asked"


def test_a_dead_engine_is_an_answer_and_no_error() -> None:
    health = call_tool(context_of(host=DeadHost(snapshot())), "health_check", {}).value
    assert (health.status, health.docker_connected) == ("unhealthy", False)
    assert health.message == "no engine at unix:///x"


def test_a_hanging_endpoint_degrades() -> None:
    health = call_tool(context_of(host=HangingHost(snapshot(engine=ENGINE))), "health_check", {}).value
    assert health.status == "degraded"
    assert "stats" in health.message


def test_a_state_file_that_cannot_be_used_degrades() -> None:
    ledger = Ledger()
    ledger.status = "memory"
    health = call_tool(context_of(snapshot(engine=ENGINE), memory=ledger), "health_check", {}).value
    assert (health.status, health.state_database) == ("degraded", "memory")


def test_ages_of_scans_do_not_jump_with_the_wall_clock() -> None:
    stepped = context_of(HOST, now=lambda: NOON + timedelta(days=365), monotonic=lambda: 1007.5)
    stepped.scans.publish_diagnosis(scan_of(HOST, ended=1000.0))
    stepped.scans.publish_drift(drift_scan(ended=1005.0))
    health = call_tool(stepped, "health_check", {}).value
    assert (health.last_diagnose_age_seconds, health.last_drift_age_seconds) == (7.5, 2.5)
    before = call_tool(context_of(HOST), "health_check", {}).value
    assert (before.last_diagnose_age_seconds, before.last_drift_age_seconds) == (None, None)


def test_tokens_are_rounded_up() -> None:
    assert [estimate_tokens(size) for size in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_costs_are_summed_by_operation() -> None:
    report = sum_costs((entry("b"), entry("a"), entry("a", cached=True)), NOON, NOON)
    assert list(report.by_operation) == ["a", "b"]
    assert (report.by_operation["a"].operations, report.by_operation["a"].docker_calls) == (2, 4)
    assert (report.total_operations, report.total_cost_usd, round(report.cache_hit_rate, 2)) == (3, 0.0, 0.33)
    assert "no paid model" in report.note


def test_an_empty_period_costs_nothing() -> None:
    report = sum_costs((), NOON, NOON)
    assert (report.total_operations, report.cache_hit_rate) == (0, 0.0)


def test_the_period_is_the_one_asked_for() -> None:
    ledger = Ledger()
    ledger.entries = [
        entry("a", seconds_ago=3600),
        entry("a", seconds_ago=2 * 86400),
        entry("a", seconds_ago=8 * 86400),
    ]
    context = context_of(snapshot(container()), memory=ledger)
    found = [
        call_tool(context, "get_cost_report", {"period": period}).value.total_operations
        for period in ("day", "week", "month")
    ]
    assert found == [1, 3, 5]  # each call itself is written to the ledger as well
