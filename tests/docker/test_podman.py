"""Podman's Docker API is enough for every tool and for the daemon; docs/podman.md says what it does not tell."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.app import build_context
from bcon_exporter.settings import load_settings
from bcon_exporter.tools import TOOLS, call_tool
from tests.docker.daemon import Daemon
from tests.docker.engine import EngineUnavailableError
from tests.docker.engines import podman_differences_of
from tests.docker.image import build_image
from tests.docker.podman import PrivatePodman
from tests.docker.recording_proxy import RecordingProxy
from tests.docker.scraping import scrape, wait_for_whole_scan
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bcon_exporter.tools import Context

pytestmark = [pytest.mark.docker, pytest.mark.contract, pytest.mark.same_machine]

DOCUMENT = Path(__file__).parents[2] / "docs" / "podman.md"
PROJECT = "pods"
COMPOSE = """\
name: pods
x-common: &common {image: "bcon-test:1", network_mode: none, cgroup_parent: "/CGROUP", stop_grace_period: 1s}
services:
  web: {<<: *common, command: serve, environment: {MODE: production, DB_PASSWORD: hunter2-very-secret}}
  api: {<<: *common, command: [sh, -c, "while :; do echo 'ERROR connect db:5432: Connection refused'; sleep 1; done"]}
  loop: {<<: *common, command: [sh, -c, "echo 'panic: no config'; sleep 2; exit 3"], restart: always}
  done: {<<: *common, command: [echo, "migrated, errors=0"]}
  importer: {<<: *common, command: eat-memory, mem_limit: 24m, memswap_limit: 24m}
  checked: {<<: *common, command: serve, healthcheck: {test: [CMD, "false"], interval: 1s, retries: 1}}
"""


@pytest.fixture(scope="module")
def podman() -> Iterator[PrivatePodman]:
    """A private Podman with the test image; where none can run skips, in CI fails."""
    started = PrivatePodman()
    try:
        started.start()
    except EngineUnavailableError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"no private Podman, and one is required here: {error}", pytrace=False)
        pytest.skip(f"no private Podman: {error}")
    try:
        build_image(started.host)
        yield started
    finally:
        started.destroy()


@pytest.fixture(scope="module")
def project(podman: PrivatePodman, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Compose file of the project that runs."""
    file = tmp_path_factory.mktemp(PROJECT) / "compose.yaml"
    file.write_text(COMPOSE.replace("CGROUP", podman.name))
    podman.compose("up", "-d", "--pull", "never", cwd=file.parent)
    wait_until(lambda: "137" in inspect(podman, "importer", "{{.State.ExitCode}}"), "the importer to be killed")
    wait_until(
        lambda: int(inspect(podman, "loop", "{{.RestartCount}}")) >= 2, "the loop to go round", timeout_seconds=60
    )
    return file


def inspect(podman: PrivatePodman, service: str, template: str) -> str:
    """What Podman itself says about a service's container."""
    return podman.docker("inspect", "--format", template, f"{PROJECT}-{service}-1")


@pytest.fixture
def context(podman: PrivatePodman, tmp_path: Path) -> Iterator[Context]:
    with RecordingProxy(tmp_path / "proxy.sock", podman.socket) as proxy:
        flags = {"docker": {"host": proxy.host}, "state": {"path": str(tmp_path / "state.db")}}
        made = build_context(load_settings(flags, {}), one_shot=True)
        yield made
        made.host.close()
        made.memory.close()
    assert {each.method for each in proxy.requests} <= {"GET", "HEAD"}


def call(context: Context, name: str, **payload: Any) -> Any:
    envelope = call_tool(context, name, payload)
    assert envelope.error is None, envelope.body.decode()
    assert "hunter2" not in envelope.body.decode()
    return envelope.data()["result"]


def healthy(context: Context) -> Any:
    """The answer of health_check, once it is good: Podman takes its time to tell about itself."""
    answer = call(context, "health_check")
    return answer if answer["status"] == "healthy" else None


@pytest.mark.promise("F19")
def test_every_tool_answers_about_podmans_containers(context: Context, podman: PrivatePodman, project: Path) -> None:
    web, api, loop, done = (f"{PROJECT}-{service}-1" for service in ("web", "api", "loop", "done"))
    answers = {
        "list_containers": call(context, "list_containers", all=True),
        "get_container_info": call(context, "get_container_info", container_id=done),
        "get_container_stats": call(context, "get_container_stats", container_id=web),
        "get_container_logs": call(context, "get_container_logs", container_id=api, tail=2),
        "diagnose_container": call(context, "diagnose_container", container_id=api),
        "diagnose_all": call(context, "diagnose_all", include_healthy=True),
        "detect_drift": call(context, "detect_drift", compose_file=str(project)),
        "get_untracked_containers": call(context, "get_untracked_containers", compose_file=str(project)),
        "explain_error": call(context, "explain_error", container_id=api, error_pattern="refused"),
        "health_check": wait_until(lambda: healthy(context), "Podman to answer in time", timeout_seconds=60),
        "get_cost_report": call(context, "get_cost_report"),
        "get_disk_usage": call(context, "get_disk_usage"),
        "get_history": call(context, "get_history"),
        "list_deployments": call(context, "list_deployments"),
        "list_incidents": call(context, "list_incidents"),
        "query_memory": call(context, "query_memory", query="connection refused"),
        "rag_search": call(context, "rag_search", query="connection refused"),
        "read_logs": call(context, "read_logs", unit=f"{api}.service", lines=2),
        "system_status": call(context, "system_status", include_disk=True),
        "read_config": call(context, "read_config", path=str(project)),
        "modify_config": call(context, "modify_config", path=str(project), content=project.read_text()),
        "flux": call(context, "flux", action="container", subaction="list", limit=100),
        "scout": call(context, "scout", action="nodes"),
        "schedule_task": call(context, "schedule_task", task="drift"),
        "write_memory": call(context, "write_memory", text="runs on Podman"),
    }
    assert answers.keys() == {tool.name for tool in TOOLS} - {"get_incident", "restart_service"}, (
        "without a daemon there is none; denied always"
    )
    assert {web, api, loop, done} <= {one["name"] for one in answers["list_containers"]}
    assert (answers["get_container_info"]["state"], answers["get_container_info"]["exit_code"]) == ("exited", 0)
    assert answers["get_container_stats"]["memory_usage_bytes"] > 0
    assert [one["message"] for one in answers["get_container_logs"]["entries"]] == [
        "ERROR connect db:5432: Connection refused"
    ] * 2
    assert "network_error" in [one["type"] for one in answers["diagnose_container"]["symptoms"]]
    status = {one["container_name"]: one["status"] for one in answers["diagnose_all"]["summaries"]}
    assert (status[web], status[done]) == ("healthy", "healthy")
    assert status[loop] != "healthy"
    assert {web, api, loop, done} <= {one["name"] for one in answers["flux"]["rows"]}
    assert answers["get_untracked_containers"] == []
    assert answers["explain_error"]["occurrences"] > 0
    assert answers["health_check"]["docker_version"] == podman.docker("version", "--format", "{{.Server.Version}}")


def test_drift_is_told_as_on_docker(context: Context, project: Path) -> None:
    as_started = call(context, "detect_drift", compose_file=str(project))["differences"]
    assert [one["drift_type"] for one in as_started if one["drift_type"] != "not_running"] == [], as_started
    moved_on = project.with_name("moved-on.yaml")
    moved_on.write_text(project.read_text().replace("production", "staging").replace("command: serve, env", "env"))
    found = call(context, "detect_drift", compose_file=str(moved_on))["differences"]
    assert {"environment.MODE", "command"} == {one["field"] for one in found if one["service_name"] == "web"}


def test_what_podman_does_not_tell_is_said_less_surely_or_not_at_all(
    context: Context, podman: PrivatePodman, project: Path
) -> None:
    assert project.exists()
    tells = podman_differences_of(podman.docker("version", "--format", "{{.Server.Version}}")).tells_oom_kills
    assert (inspect(podman, "importer", "{{.State.OOMKilled}}") == "true") is tells, "docs/podman.md is wrong"
    assert inspect(podman, "checked", "{{.State.Health.Status}}") == "starting", (
        "checks run now: docs/podman.md is wrong"
    )
    checked = call(context, "diagnose_container", container_id=f"{PROJECT}-checked-1")["symptoms"]
    assert "unhealthy" not in [one["type"] for one in checked]
    said = DOCUMENT.read_text()
    assert "`State.OOMKilled` is always false with Podman 4" in said
    assert "health checks are run by systemd timers" in said


@pytest.mark.promise("F19")
def test_the_daemon_watches_podman(podman: PrivatePodman, project: Path, tmp_path: Path) -> None:
    assert project.exists()
    with Daemon(tmp_path, podman.host, "--scan.diagnose-interval=1s", "--scan.drift-interval=2s") as daemon:
        wait_for_whole_scan(daemon, timeout_seconds=60)
        loop = f"{PROJECT}-loop-1"
        wait_until(
            lambda: scrape(daemon).value("bcon_container_symptom", container=loop, symptom="restart_loop") == 1,
            f"the crash loop to be told; log: {daemon.log[-2000:]}",
        )
        podman.docker("start", f"{PROJECT}-importer-1")
        wait_until(lambda: symptom_of(daemon, "importer", "oom_killed"), "the kill to be told", timeout_seconds=60)
        metrics = scrape(daemon)
        assert metrics.value("bcon_up") == 1
        assert len(metrics.containers()) == 6
        assert metrics.value("bcon_container_status", container=f"{PROJECT}-web-1") == 0
        assert "Traceback" not in daemon.log


def symptom_of(daemon: Daemon, service: str, kind: str) -> Any:
    """A symptom of a service in the last scan's report, if it is there."""
    reports = daemon.ask("/api/v1/diagnosis").json()["result"]["reports"]
    (report,) = [each for each in reports if each["container_name"] == f"{PROJECT}-{service}-1"]
    return next((each for each in report["symptoms"] if each["type"] == kind), None)
