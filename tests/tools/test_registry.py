"""Promise: every tool answers in the envelope; bad input is named by field, never by value; a defect never leaks."""

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.errors import (
    BconError,
    ComposeFileNotFoundError,
    DockerConnectionError,
    ErrorCode,
    PermissionDeniedError,
)
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.tools import TOOLS, call_tool
from tests.factories import container, snapshot
from tests.table_rows import table
from tests.tools.hosts import Ledger, ScriptedHost, context_of

SECRET = "hunter2-very-secret"
NAMES = (
    "list_containers",
    "get_container_info",
    "get_container_stats",
    "get_container_logs",
    "detect_drift",
    "get_untracked_containers",
    "diagnose_container",
    "explain_error",
    "diagnose_all",
    "health_check",
    "get_history",
    "list_deployments",
    "list_incidents",
    "get_incident",
    "get_disk_usage",
    "get_cost_report",
    "query_memory",
    "rag_search",
    "write_memory",
    "read_logs",
    "system_status",
    "restart_service",
    "read_config",
    "modify_config",
    "schedule_task",
    "flux",
    "scout",
)
GOOD_INPUT: dict[str, dict[str, Any]] = {
    "get_container_info": {"container_id": "api"},
    "get_container_stats": {"container_id": "api"},
    "get_container_logs": {"container_id": "api"},
    "diagnose_container": {"container_id": "api"},
    "explain_error": {"container_id": "api", "error_pattern": "refused"},
    "get_incident": {"incident_id": "2026-01-01-api-exit_error-1"},
    "query_memory": {"query": "out of memory"},
    "rag_search": {"query": "out of memory"},
    "write_memory": {"text": "exits with 3 every Sunday"},
    "read_logs": {"unit": "api.service"},
    "schedule_task": {"task": "diagnose"},
    "flux": {"action": "help"},
    "scout": {"action": "help", "topic": "zfs"},
}
REFUSES = ("detect_drift", "get_incident", "restart_service", "read_config", "modify_config", "system_status")
"""What this snapshot holds no answer to, and what is refused always."""


def refuse(name: str, payload: object) -> dict[str, Any]:
    """Return the error body of a call that must be refused."""
    error: dict[str, Any] = call_tool(context_of(), name, payload).data()["error"]
    assert error["code"] == "invalid_input"
    assert SECRET not in json.dumps(error)
    return error


def test_the_tools_are_those_that_are_named_here() -> None:
    assert sorted(tool.name for tool in TOOLS) == sorted(NAMES)


@table("name", [name for name in NAMES if name not in REFUSES])
def test_every_tool_answers_in_the_envelope(name: str) -> None:
    envelope = call_tool(context_of(), name, GOOD_INPUT.get(name, {}))
    assert envelope.error is None
    assert set(envelope.data()) == {"result"}


def test_an_incident_that_is_not_there_is_not_found() -> None:
    error = call_tool(context_of(), "get_incident", GOOD_INPUT["get_incident"]).data()["error"]
    assert (error["code"], error["details"]) == ("not_found", {"near_matches": []})


def test_an_error_has_code_message_and_details() -> None:
    error = call_tool(context_of(), "detect_drift", {"compose_file": "/nowhere.yaml"}).data()["error"]
    assert set(error) == {"code", "message", "details"}
    assert error["code"] == "compose_file_not_found"


@table("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_has_a_summary_and_both_schemas(tool: Any) -> None:
    assert tool.summary.endswith(".")
    assert tool.input_schema()["additionalProperties"] is False
    assert tool.output_schema()


def test_an_unknown_tool_is_refused_with_near_matches() -> None:
    error = refuse("diagnose_al", {})
    assert "diagnose_all" in error["details"]["near_matches"]
    assert "did you mean diagnose_all?" in error["message"]


@pytest.mark.promise("S5", "S11")
@table(
    ("name", "payload", "field"),
    [
        ("get_container_info", {}, "container_id"),
        ("get_container_info", {"container_id": f"../{SECRET}"}, "container_id"),
        ("get_container_info", {"container_id": "a/b"}, "container_id"),
        ("get_container_info", {"container_id": SECRET * 60}, "container_id"),
        ("get_container_info", {"container_id": ["a"]}, "container_id"),
        ("get_container_info", {"container_id": "a", "contaner_id": SECRET}, "contaner_id"),
        ("get_container_logs", {"container_id": "a", "tail": 0}, "tail"),
        ("get_container_logs", {"container_id": "a", "tail": -1}, "tail"),
        ("get_container_logs", {"container_id": "a", "tail": 10_001}, "tail"),
        ("get_container_logs", {"container_id": "a", "tail": 2.5}, "tail"),
        ("get_container_logs", {"container_id": "a", "tail": "10"}, "tail"),
        ("get_container_logs", {"container_id": "a", "timestamps": "off"}, "timestamps"),
        ("diagnose_all", {"include_healthy": "yes"}, "include_healthy"),
        ("get_container_logs", {"container_id": "a", "since": SECRET}, "since"),
        ("get_container_logs", {"container_id": "a", "since": "2026-01-01T00:00:00"}, "since"),
        ("explain_error", {"container_id": "a", "error_pattern": "x" * 257}, "error_pattern"),
        ("explain_error", {"container_id": "a", "error_pattern": ""}, "error_pattern"),
        ("detect_drift", {"compose_file": "a\x00b"}, "compose_file"),
        ("list_containers", {"filters": {SECRET[:7]: "x"}}, "filters.hunter2"),
        ("get_cost_report", {"period": SECRET}, "period"),
        ("read_logs", {"unit": "a b"}, "unit"),
        ("read_logs", {"unit": "a", "lines": 10_001}, "lines"),
        ("restart_service", {"service": f"../{SECRET}"}, "service"),
        ("modify_config", {"path": "/a", "changes": [{"line": 0, "old": "a", "new": SECRET}]}, "changes.0.line"),
        ("modify_config", {"path": "/a", "changes": [{"line": 1, "old": "a\nb", "new": ""}]}, "changes.0.old"),
        ("read_config", {"path": f"{SECRET}\n"}, "path"),
        ("modify_config", {"path": "/a", "changes": []}, ""),
        ("modify_config", {"path": "/a"}, ""),
        ("modify_config", {"path": "/a", "content": "", "changes": [{"line": 1, "old": "a", "new": ""}]}, ""),
        ("schedule_task", {"task": SECRET}, "task"),
        ("schedule_task", {"task": "diagnose", "at": "tomorrow"}, "at"),
        ("schedule_task", {"task": "watch", "container": "a", "for": "31m"}, "for"),
        ("schedule_task", {"task": "watch", "container": "a", "stable": "0.5s"}, "stable"),
        ("schedule_task", {"task": "watch", "container": "a", "stable": "2m", "for": "1m"}, ""),
        ("schedule_task", {"task": "watch"}, ""),
        ("schedule_task", {"task": "watch", "container": "a", "project": "b"}, ""),
        ("schedule_task", {"task": "drift", "project": "b"}, ""),
    ],
)
def test_bad_input_is_named_by_its_field(name: str, payload: dict[str, Any], field: str) -> None:
    error = refuse(name, payload)
    assert [problem["field"] for problem in error["details"]["errors"]] == [field]
    assert field in error["message"]


@pytest.mark.parametrize("payload", [[], "x", 5, True, [{"container_id": "a"}]])
def test_a_payload_that_is_no_object_is_refused(payload: object) -> None:
    assert "JSON object" in refuse("health_check", payload)["message"]


def test_an_unknown_field_gets_a_near_match() -> None:
    error = refuse("diagnose_container", {"container_id": "api", "log_tial": 5})
    assert error["details"]["errors"][0]["message"] == "unknown field; did you mean log_tail?"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.promise("S5")
@given(st.sampled_from(NAMES), JSON)
def test_no_input_breaks_a_tool(name: str, payload: object) -> None:
    envelope = call_tool(context_of(), name, payload)
    assert envelope.code is not ErrorCode.INTERNAL_ERROR
    assert envelope.data().keys() in ({"result"}, {"error"})


@pytest.mark.parametrize("error", [DockerConnectionError("gone", {}), PermissionDeniedError("forbidden", {})])
def test_an_edge_error_keeps_its_code(error: BconError) -> None:
    def fail() -> None:
        raise error

    host = ScriptedHost(snapshot(container()), fail)
    context = context_of(host=host)
    assert call_tool(context, "diagnose_all", {}).code is error.code
    assert context.errors.counts()[error.code] == 1


@pytest.mark.promise("S11")
def test_a_defect_becomes_an_id_without_message_or_traceback(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise ZeroDivisionError(SECRET)

    context = context_of(host=ScriptedHost(snapshot(container()), fail))
    with caplog.at_level(logging.ERROR):
        envelope = call_tool(context, "list_containers", {})
    error = envelope.data()["error"]
    assert error["code"] == "internal_error"
    assert error["details"]["id"] in caplog.text
    assert SECRET not in envelope.body.decode()
    assert "Traceback" not in envelope.body.decode()
    assert context.errors.counts()[ErrorCode.INTERNAL_ERROR] == 1


def test_each_call_is_written_to_the_ledger_with_its_size_and_engine_calls() -> None:
    ledger = Ledger()
    context = context_of(memory=ledger, host=ScriptedHost(snapshot(container())))
    answer = call_tool(context, "list_containers", {})
    call_tool(context, "get_container_info", {"container_id": "nope"})
    good, bad = ledger.entries
    assert (good.operation, good.failed, good.cached, good.docker_calls) == ("list_containers", False, False, 1)
    assert good.usage.output_tokens == -(-len(answer.body) // 4)
    assert bad.failed


def test_a_lost_event_stream_is_a_fact_and_no_failure() -> None:
    host = ScriptedHost(snapshot(container()))
    host.drain_error = DockerConnectionError("events hang", {})
    report = call_tool(context_of(host=host), "diagnose_all", {}).data()["result"]
    assert report["unread"]["events"] == "events hang"


def test_an_error_shows_nothing_that_containers_hold_as_secrets() -> None:
    book = HostSecrets()
    book.learn_container("api", None, frozenset((SECRET,)))
    host = ScriptedHost(snapshot(container()))
    host.before_snapshot = raises(DockerConnectionError(f"mounting {SECRET}", {"paths": [{"source": f"/{SECRET}"}]}))
    error = call_tool(context_of(host=host, secrets=book), "list_containers", {}).data()["error"]
    assert error == {
        "code": "docker_connection_failed",
        "message": "mounting ***",
        "details": {"paths": [{"source": "/***"}]},
    }


def test_an_error_names_projects_as_they_are_called() -> None:
    book = HostSecrets()
    book.learn_container("api", None, frozenset((SECRET,)))
    host = ScriptedHost(snapshot(container()))
    host.before_snapshot = raises(ComposeFileNotFoundError("no such project", {"projects": [SECRET]}))
    error = call_tool(context_of(host=host, secrets=book), "list_containers", {}).data()["error"]
    assert error["details"] == {"projects": [SECRET]}


def test_a_guesser_is_not_told_that_a_name_he_asks_for_is_a_secret() -> None:
    book = HostSecrets()
    book.learn_container("api", None, frozenset((SECRET, "gUe55ed-name")))
    context = context_of(secrets=book)
    for guess in ("gUe55ed-name", "gUe55ed-else"):
        error = call_tool(context, "get_container_info", {"container_id": guess}).data()["error"]
        assert guess in error["message"]


def raises(error: Exception) -> Callable[[], None]:
    def run() -> None:
        raise error

    return run
