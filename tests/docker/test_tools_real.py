"""Promise: every tool works on a real engine, and none of them leaves a trace in the engine's event log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.app import build_context
from bcon_exporter.settings import load_settings
from bcon_exporter.tools import TOOLS, call_tool
from tests.docker.daemon import Daemon
from tests.tools.operation_inputs import payload_for
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.tools import Context
    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.contract]

SECRET = "hunter2-very-secret"
TOOLS_BUT_TWO = [tool for tool in TOOLS if tool.name not in ("get_incident", "restart_service")]
"""No daemon has watched here, so there is no incident to get; test_incidents.py gets one. The other one is denied."""
COMPOSE = """
services:
  web:
    image: {image}
    command: ["sh", "-c", "while true; do echo GET / 200; sleep 1; done"]
    environment: {{MODE: production, DB_PASSWORD: {secret}}}
  api:
    image: {image}
    command: ["sh", "-c", "while true; do echo 'ERROR connect to db:5432: Connection refused'; sleep 0.2; done"]
  job:
    image: {image}
    command: ["sh", "-c", "echo 'panic: no config'; exit 3"]
"""


@pytest.fixture
def compose_file(engine: TestEngine, project_name: str, tmp_path: Path) -> Path:
    file = tmp_path / "compose.yaml"
    file.write_text(f"name: {project_name}\n" + COMPOSE.format(image=engine.image, secret=SECRET))
    engine.compose("up", "-d", cwd=tmp_path)
    wait_until(lambda: "refused" in engine.docker("logs", f"{project_name}-api-1"), "the api's first error")
    wait_until(lambda: engine.docker("ps", "-aq", "--filter", "exited=3").split(), "the job's end")
    return file


@pytest.fixture
def context(engine: TestEngine, tmp_path: Path) -> Iterator[Context]:
    flags = {"docker": {"host": engine.host}, "state": {"path": str(tmp_path / "state" / "state.db")}}
    made = build_context(load_settings(flags, {}), one_shot=True)
    yield made
    made.host.close()
    made.memory.close()


def call(context: Context, name: str, **payload: Any) -> Any:
    envelope = call_tool(context, name, payload)
    assert envelope.error is None, envelope.body.decode()
    assert SECRET not in envelope.body.decode()
    return envelope.data()["result"]


def test_every_tool_answers_about_real_containers(context: Context, compose_file: Path, project_name: str) -> None:
    api, job, web = (f"{project_name}-{service}-1" for service in ("api", "job", "web"))
    assert [one["name"] for one in call(context, "list_containers")] == [api, web]
    assert [one["name"] for one in call(context, "list_containers", all=True)] == [api, job, web]
    assert call(context, "get_container_info", container_id=job)["exit_code"] == 3
    stats = call(context, "get_container_stats", container_id=web)
    assert stats["memory_usage_bytes"] > 0
    assert stats["cpu_percent"] is not None
    lines = call(context, "get_container_logs", container_id=api, tail=2)["entries"]
    assert [one["message"] for one in lines] == ["ERROR connect to db:5432: Connection refused"] * 2
    found = call(context, "diagnose_container", container_id=api)
    assert "network_error" in [symptom["type"] for symptom in found["symptoms"]]
    report = call(context, "diagnose_all")
    assert report["total_containers"] == 3
    assert report["total_containers"] == sum(report[status] for status in ("healthy", "warning", "error", "critical"))
    assert {one["container_name"] for one in report["summaries"]} == {api, job}
    healthy_too = call(context, "diagnose_all", include_healthy=True)["summaries"]
    assert {one["container_name"] for one in healthy_too} == {api, job, web}
    explained = call(context, "explain_error", container_id=api, error_pattern="refused")
    assert explained["occurrences"] > 0
    assert call(context, "health_check")["status"] == "healthy"
    assert call(context, "get_cost_report")["total_operations"] >= 0
    assert {"log", "layer"} <= {one["kind"] for one in call(context, "get_disk_usage")["items"]}
    assert call(context, "query_memory", query="connection refused")["results"]
    assert [one["name"] for one in call(context, "get_untracked_containers", compose_file=str(compose_file))] == []
    assert [one["name"] for one in call(context, "get_untracked_containers")] == [api, web]
    assert [one["name"] for one in call(context, "get_untracked_containers", all=True)] == [api, job, web]


def test_drift_is_found_and_no_value_of_the_environment_leaves(
    context: Context, compose_file: Path, engine: TestEngine, project_name: str
) -> None:
    assert call(context, "detect_drift", compose_file=str(compose_file))["project_name"] == project_name
    compose_file.write_text(compose_file.read_text().replace(SECRET, SECRET + "2").replace("production", "staging"))
    engine.docker("rm", "-f", f"{project_name}-api-1")
    report = call(context, "detect_drift", compose_file=str(compose_file))
    assert report["status"] == "drifted"
    fields = {one["field"] for one in report["differences"] if one["service_name"] == "web"}
    assert {"environment.DB_PASSWORD", "environment.MODE"} <= fields
    missing = [one["drift_type"] for one in report["differences"] if one["service_name"] == "api"]
    assert missing == ["missing_service"]
    assert "staging" not in json.dumps(report)


def test_an_ambiguous_and_an_unknown_container_are_told_apart(context: Context, engine: TestEngine) -> None:
    engine.docker("run", "-d", "--name", "lonely", engine.image, "sleep", "1000")
    error = call_tool(context, "get_container_info", {"container_id": "lonly"}).data()["error"]
    assert error["code"] == "container_not_found"
    assert "lonely" in error["details"]["near_matches"]
    ids: list[str] = []
    while len({one[0] for one in ids}) == len(ids):
        ids.append(engine.docker("run", "-d", engine.image, "sleep", "1000").strip())
    error = call_tool(context, "get_container_info", {"container_id": ids[-1][0]}).data()["error"]
    assert error["code"] == "invalid_input"
    assert len(error["details"]["matches"]) >= 2


def test_a_stopped_engine_is_a_connection_error_for_each_tool(tmp_path: Path) -> None:
    flags = {"docker": {"host": f"unix://{tmp_path}/absent.sock"}, "state": {"path": "none"}}
    context = build_context(load_settings(flags, {}), one_shot=True)
    inputs = {"container_id": "a", "error_pattern": "x", "compose_file": "/a.yaml", "query": "out of memory"}
    inputs |= {"unit": "a", "task": "diagnose", "path": "/a.yaml", "content": "", "text": "known"}
    for tool in TOOLS_BUT_TWO:
        payload = payload_for(tool, inputs)
        envelope = call_tool(context, tool.name, payload)
        if tool.works or tool.name == "schedule_task":  # it scans by a way of its own
            assert envelope.code == "docker_connection_failed", tool.name
        else:
            assert envelope.error is None, tool.name
    context.host.close()
    context.memory.close()


def test_no_tool_leaves_a_trace_in_the_engine(context: Context, compose_file: Path, engine: TestEngine) -> None:
    name = engine.docker("ps", "--format", "{{.Names}}").split()[0]
    since = engine.docker("info", "--format", "{{.SystemTime}}").strip()
    inputs = {"container_id": name, "error_pattern": "refused", "compose_file": str(compose_file), "query": "oom"}
    inputs |= {"unit": name, "task": "diagnose", "path": str(compose_file), "content": compose_file.read_text()}
    inputs["text"] = "known"
    for tool in TOOLS_BUT_TWO:
        payload = payload_for(tool, inputs)
        assert call_tool(context, tool.name, payload).error is None, tool.name
    until = engine.docker("info", "--format", "{{.SystemTime}}").strip()
    assert engine.docker("events", "--since", since, "--until", until).strip() == ""


def test_the_tail_that_is_asked_for_counts_beside_a_daemon_that_has_read_another(
    engine: TestEngine, tmp_path: Path
) -> None:
    ticks = "for n in $(seq 250); do echo INFO tick $n; done"
    log = f"echo ERROR cannot write /data/db: no space left on device; {ticks}; sleep 900"
    engine.docker("run", "-d", "--name", "talker", engine.image, "sh", "-c", log)
    wait_until(lambda: "tick 250" in engine.docker("logs", "talker"), "the last line")

    with Daemon(tmp_path, engine.host) as daemon:

        def finds(tail: int | None) -> bool:
            asked = {"container_id": "talker"} | ({"log_tail": tail} if tail is not None else {})
            answer = daemon.ask("/api/v1/tools/diagnose_container", "POST", asked)
            return bool(answer.json()["result"]["symptoms"])

        assert {tail: finds(tail) for tail in (None, 251, 200, 5, 1000)} == {
            None: False, 251: True, 200: False, 5: False, 1000: True,
        }  # fmt: skip
