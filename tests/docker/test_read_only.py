"""Nothing is ever written to the engine: proven from outside, over every tool, route and command.

A recording proxy between us and a real engine sees only GET and HEAD on the allow-list, and the engine's own event log
holds nothing that we caused.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.cli.commands import COMMANDS
from bcon_exporter.cli.exits import Exit
from bcon_exporter.tools import TOOLS
from tests.docker.daemon import Daemon
from tests.docker.recording_proxy import Recorded, RecordingProxy
from tests.docker.scraping import wait_for_whole_scan
from tests.outputs.http.asking import ask, site_of
from tests.tools.operation_inputs import good_inputs

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = pytest.mark.docker

ID = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
ALLOWED = re.compile(
    rf"(/v1\.[0-9]{{1,2}})?/(_ping|version|info|events|containers/json|containers/{ID}/(json|stats|logs)"
    rf"|images/[A-Za-z0-9][A-Za-z0-9_.:/@-]*/json|networks(/{ID})?|volumes(/{ID})?|system/df)"
)
COMPOSE = "name: shop\nservices:\n  web:\n    image: {image}\n    command: [serve]\n"
PAYLOADS: dict[str, dict[str, object]] = {
    "list_containers": {"all": True, "filters": {"status": "running"}},
    "get_container_info": {"container_id": "talks"},
    "get_container_stats": {"container_id": "talks"},
    "get_container_logs": {"container_id": "talks", "tail": 5},
    "detect_drift": {"compose_file": "FILE"},
    "get_untracked_containers": {"compose_file": "FILE"},
    "diagnose_container": {"container_id": "failed"},
    "explain_error": {"container_id": "talks", "error_pattern": "refused"},
    "diagnose_all": {"include_healthy": True},
    "health_check": {},
    "get_cost_report": {"period": "week"},
    "get_disk_usage": {"limit": 5},
    "get_history": {"since": "1h"},
    "list_deployments": {"limit": 5},
    "list_incidents": {"open": True},
    "get_incident": {"incident_id": "INCIDENT"},
    "query_memory": {"query": "out of memory"},
    "rag_search": {"query": "out of memory"},
    "write_memory": {"text": "talks a lot, harmless", "about": {"container": "talks"}, "dry_run": False},
    "read_logs": {"unit": "talks.service"},
    "system_status": {"include_disk": True},
    "restart_service": {"service": "failed"},
    "read_config": {"path": "FILE"},
    "flux": {"action": "container", "subaction": "inspect", "container_id": "talks"},
    "scout": {"action": "help"},
    "modify_config": {"path": "FILE", "content": "name: shop\nservices: {web: {image: other}}\n"},
    "schedule_task": {"task": "drift"},
}
DENIED = {"restart_service"}
UNDER_TEST = {
    "container_id": "talks", "container": "talks", "project": "shop", "incident_id": "INCIDENT",
    "name": "alerts", "alert": "BconWatchdog",
}  # fmt: skip
IMAGE = "bcon-test:1"
HOSTILE = ("../images/x", "talks/export", "talks%2fexport", "talks?x=/archive", "-", "a" * 1000)
ROUTES = (
    "/", "/c/talks", "/i/INCIDENT", "/p/shop", "/history", "/alerts",
    "/docs/", "/docs/alerts", "/docs/runbooks/BconWatchdog",
    "/metrics", "/-/healthy", "/-/ready", "/openapi.json", "/api/v1/tools", "/api/v1/containers",
    "/api/v1/containers/talks", "/api/v1/containers/talks/stats", "/api/v1/containers/talks/logs",
    "/api/v1/containers/talks/diagnosis", "/api/v1/diagnosis", "/api/v1/drift", "/api/v1/drift/shop",
    "/api/v1/health", "/api/v1/history", "/api/v1/deployments", "/api/v1/incidents",
    "/api/v1/incidents/INCIDENT", "/api/v1/quiet", "/api/v1/notes",
    "/api/v1/cost", "/api/v1/digest", "/api/v1/disk", "/api/v1/alerts", "/api/v1/memory",
    "/api/v1/status",
)  # fmt: skip
STREAMS = ("/tail/talks",)
"""They do not end: what they tell first is read."""
PARTS_OF_LOGS = ("/c/talks?lines=2000", "/c/talks?find=refused", "/c/talks?part=previous", "/c/talks?part=crash")
ARGUMENTS: dict[str, list[str]] = {
    "diagnose": [], "list": [], "info": ["talks"], "stats": ["talks"], "logs": ["talks"],
    "explain": ["talks", "refused"], "drift": ["FILE"], "untracked": [], "check-config": [], "health": [],
    "call": ["list_containers", "{}"], "snapshot": [], "version": [],
    "history": [], "changes": [], "digest": [], "incidents": [], "disk": [],
    "deployments": [], "verify": ["shop", "--for", "1s"], "check": ["-f", "FILE"],
    "flux": ["container:inspect", "container_id=talks"], "scout": ["help"],
    "run-tool-calls": ["-"], "mcp": ["--daemon", "none"],
}  # fmt: skip
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
INPUTS = {
    "run-tool-calls": '```tool_call\n{"tool": "diagnose_all", "arguments": {}}\n```\n',
    "mcp": "".join(
        json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        for message in (
            {"id": 1, "method": "initialize", "params": CLIENT},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": {"name": "diagnose_all", "arguments": {}}},
        )
    ),
}
"""What commands read that take more than arguments."""
OF_THE_PAST = {"history", "changes", "digest", "incidents", "deployments"}
"""What is not known where neither a daemon nor its state file is."""
NEED_NO_ENGINE = {
    "serve",
    "healthcheck",
    "tools",
    "alerts",
    "rules",
    "analyze-log",
    "dashboards",
    "alertmanager-example",
    "completion",
    "quiet",
    "notes",
    "notify",
    "unquiet",
}  # the daemon runs beside; the others ask it or a file


TELLING = {
    "/api/v1/quiet": {"name": "talks", "duration": "1h"},
    "/api/v1/quiet/end": {"name": "talks"},
    "/api/v1/incidents/{incident_id}/acknowledge": None,
    "/api/v1/notes": {"text": "talks a lot", "about": {"container": "talks"}},
    "/api/v1/notes/{note_id}/approve": None,
    "/api/v1/notes/{note_id}/refuse": None,
    "/api/v1/notes/{note_id}/remove": None,
}
"""What tells the daemon something: it must not reach the engine either."""


@dataclass(frozen=True)
class Heard:
    """What an engine got from us: requests, and actions of its event log."""

    requests: list[Recorded]
    events: list[str]


def start_everything(engine: TestEngine, folder: Path) -> Path:
    """Containers in every lasting state, a terminal's among them, and a Compose project; none changes by itself."""
    talk = "echo 'ERROR connection refused'; exec serve"
    engine.docker("run", "-d", "--name", "talks", engine.image, "sh", "-c", talk)
    engine.docker("run", "-d", "-t", "--name", "terminal", engine.image, "sh", "-c", talk)
    engine.docker("run", "--name", "failed", engine.image, "sh", "-c", "echo bad; exit 3", check=False)
    engine.docker("run", "-d", "--name", "halted", engine.image, "serve")
    engine.docker("pause", "halted")
    engine.docker("create", "--name", "fresh", engine.image)
    file = folder / "compose.yaml"
    file.write_text(COMPOSE.format(image=engine.image))
    engine.compose("up", "-d", "--pull", "never", cwd=folder)
    return file


def call_every_tool_and_route(daemon: Daemon, file: Path) -> None:
    incident = daemon.ask("/api/v1/incidents").json()["result"]["incidents"][0]["id"]
    names = {"FILE": str(file), "INCIDENT": incident}
    for tool, payload in PAYLOADS.items():
        body = {key: names.get(value, value) if isinstance(value, str) else value for key, value in payload.items()}
        answer = daemon.ask(f"/api/v1/tools/{tool}", "POST", body)
        assert answer.status == (403 if tool in DENIED else 200), f"{tool}: {answer.text}"
    for tool in ("flux", "scout"):
        for operation, payload in good_inputs(tool, container="talks", project="shop", file=str(file), image=IMAGE):
            wanted = {"answered": 200, "denied": 403, "elsewhere": 501}[operation.kind]
            answer = daemon.ask(f"/api/v1/tools/{tool}", "POST", payload)
            unseen = (
                {501} if operation.key in ("host:mounts", "df") else set()
            )  # by an engine's API alone no disk is seen
            assert answer.status in {wanted, *unseen}, f"{tool} {operation.key}: {answer.text}"
    watch = {"task": "watch", "project": "shop", "for": "1s", "stable": "1s"}
    assert daemon.ask("/api/v1/tools/schedule_task", "POST", watch).status == 200
    for container in HOSTILE:
        answer = daemon.ask("/api/v1/tools/get_container_info", "POST", {"container_id": container})
        assert answer.status in (400, 404), f"{container[:40]}: {answer.text}"
    for route, told in TELLING.items():
        note = "n1" if route.endswith("/refuse") else "n2"  # the tool's own, which waits, and the person's
        answer = daemon.ask(route.format(incident_id=incident, note_id=note), "POST", told or {})
        assert answer.status == 200, f"{route}: {answer.text}"
    for route in ROUTES:
        answer = daemon.ask(route.replace("INCIDENT", incident))
        assert answer.status == 200, f"{route}: {answer.text}"
    for part in PARTS_OF_LOGS:
        assert daemon.ask(part).status == 200, part
    for stream in STREAMS:
        assert daemon.first_event(stream).startswith("event: lines"), stream


def run_every_command(host: str, file: Path) -> None:
    for command, arguments in ARGUMENTS.items():
        words = [str(file) if word == "FILE" else word for word in arguments]
        done = subprocess.run(
            [sys.executable, "-m", "bcon_exporter", command, *words, f"--docker.host={host}"],
            input=INPUTS.get(command, ""),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        is_not_known = command in OF_THE_PAST and done.returncode == Exit.NO_ENGINE and "not known" in done.stderr
        assert done.returncode in (0, 1) or is_not_known, f"{command}: {done.stderr}"


def find_strange(requests: list[Recorded]) -> list[Recorded]:
    return [
        each
        for each in requests
        if each.malformed
        or each.method not in ("GET", "HEAD")
        or each.body_bytes
        or not ALLOWED.fullmatch(each.target.partition("?")[0])
    ]


def ask_everything(engine: TestEngine, folder: Path) -> Heard:
    """Call every tool, route and command, and listen at the engine."""
    file = start_everything(engine, folder)
    began = time.time()
    with RecordingProxy(folder / "proxy.sock", engine.socket) as proxy:
        flags = ("--scan.diagnose-interval=2s", "--scan.drift-interval=2s", f"--compose.roots={folder}")
        with Daemon(folder, proxy.host, *flags) as daemon:
            wait_for_whole_scan(daemon)
            call_every_tool_and_route(daemon, file)
            wait_for_whole_scan(daemon)
            daemon.end()
        run_every_command(proxy.host, file)
    ended = time.time()
    events = engine.docker("events", "--since", f"{began:.3f}", "--until", f"{ended:.3f}", "--format", "{{json .}}")
    return Heard(proxy.requests, [json.loads(line)["Action"] for line in events.splitlines()])


def test_every_tool_and_command_is_called_here() -> None:
    assert set(PAYLOADS) == {tool.name for tool in TOOLS}
    assert set(ARGUMENTS) | NEED_NO_ENGINE == {command.name for command in COMMANDS}


def test_every_address_of_the_api_document_is_asked_here() -> None:
    paths = ask(site_of(), "GET", "/openapi.json").json()["paths"]
    readable = {path.format(**UNDER_TEST) for path, methods in paths.items() if "get" in methods}
    callable_ = {path for path, methods in paths.items() if set(methods) - {"get"}}
    assert readable == {*ROUTES, *STREAMS}
    assert callable_ == {f"/api/v1/tools/{tool}" for tool in PAYLOADS} | set(TELLING)


@pytest.mark.promise("S7")
def test_only_reads_reach_the_engine_and_it_logs_no_event_of_ours(
    engine: TestEngine, tmp_path: Path, figure: Figure
) -> None:
    heard = ask_everything(engine, tmp_path)
    assert heard.events == []
    figure(f"{len(heard.requests)} requests recorded, none beyond the list")
    assert find_strange(heard.requests) == []
    kinds = {each.target.partition("?")[0].rpartition("/")[2] for each in heard.requests}
    assert kinds >= {"json", "logs", "events"}, "the proxy saw the reads"
