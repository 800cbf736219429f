"""Every address of a running daemon answers in its shape, with the status of its code; a storm is one run.

Wrong inputs of tools stand in test_bad_input.py, who may ask in tests/outputs/http/test_access_control.py.
"""

from __future__ import annotations

import http.client
import os
import socket
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.errors import ErrorCode
from bcon_exporter.outputs.http.rate_limits import RUNNING_PER_CLIENT
from bcon_exporter.outputs.http.replies import STATUS_BY_CODE
from tests.docker.daemon import Daemon
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = pytest.mark.docker

COMPOSE = """\
name: shop
services:
  web:
    image: bcon-test:1
    command: [sh, -c, "echo 'ERROR connect to db:5432: Connection refused'; exec serve"]
  db:
    image: bcon-test:1
    command: serve
"""
LIST_REQUESTS = 'bcon_docker_requests_total{endpoint="list"}'
GOOD: dict[tuple[str, str], tuple[str, Any]] = {
    ("get", "/api/v1/tools"): ("", None),
    ("get", "/api/v1/containers"): ("?all=true&label=com.docker.compose.project=shop", None),
    ("get", "/api/v1/containers/{container_id}"): ("", None),
    ("get", "/api/v1/containers/{container_id}/stats"): ("", None),
    ("get", "/api/v1/containers/{container_id}/logs"): ("?tail=5&timestamps=false", None),
    ("get", "/api/v1/containers/{container_id}/diagnosis"): ("?include_logs=false", None),
    ("get", "/api/v1/diagnosis"): ("", None),
    ("get", "/api/v1/drift"): ("", None),
    ("get", "/api/v1/drift/{project}"): ("", None),
    ("get", "/api/v1/alerts"): ("", None),
    ("get", "/api/v1/memory"): ("", None),
    ("get", "/api/v1/status"): ("", None),
    ("get", "/api/v1/health"): ("", None),
    ("get", "/api/v1/cost"): ("?period=week", None),
    ("get", "/api/v1/digest"): ("?since=2d", None),
    ("get", "/api/v1/disk"): ("?limit=5", None),
    ("post", "/api/v1/tools/list_containers"): ("", {"all": True, "filters": {"status": "running"}}),
    ("post", "/api/v1/tools/get_container_info"): ("", {"container_id": "shop-web-1"}),
    ("post", "/api/v1/tools/get_container_stats"): ("", {"container_id": "shop-web-1"}),
    ("post", "/api/v1/tools/get_container_logs"): ("", {"container_id": "shop-web-1", "tail": 5}),
    ("post", "/api/v1/tools/detect_drift"): ("", {"compose_file": "FILE"}),
    ("post", "/api/v1/tools/get_untracked_containers"): ("", {"compose_file": "FILE"}),
    ("post", "/api/v1/tools/diagnose_container"): ("", {"container_id": "shop-web-1"}),
    ("post", "/api/v1/tools/explain_error"): ("", {"container_id": "shop-web-1", "error_pattern": "refused"}),
    ("post", "/api/v1/tools/diagnose_all"): ("", {"include_healthy": True}),
    ("post", "/api/v1/tools/health_check"): ("", None),
    ("post", "/api/v1/tools/get_cost_report"): ("", {"period": "month"}),
    ("post", "/api/v1/tools/get_disk_usage"): ("", {"limit": 5}),
    ("post", "/api/v1/tools/get_history"): ("", {"since": "2h"}),
    ("post", "/api/v1/tools/list_deployments"): ("", {"limit": 5}),
    ("get", "/api/v1/deployments"): ("?limit=5", None),
    ("post", "/api/v1/tools/list_incidents"): ("", {"open": True}),
    ("get", "/api/v1/incidents"): ("?open=false&limit=5", None),
    ("post", "/api/v1/tools/query_memory"): ("", {"query": "out of memory"}),
    ("post", "/api/v1/tools/rag_search"): ("", {"query": "out of memory", "topK": 2}),
    ("get", "/api/v1/quiet"): ("", None),
    ("post", "/api/v1/quiet"): ("", {"name": "shop-web-1", "duration": "1h", "why": "moving"}),
    ("post", "/api/v1/quiet/end"): ("", {"name": "shop-web-1"}),
    ("post", "/api/v1/tools/read_logs"): ("", {"unit": "shop-web-1.service", "lines": 5}),
    ("post", "/api/v1/tools/system_status"): ("", {"include_disk": True}),
    ("post", "/api/v1/tools/schedule_task"): ("", {"task": "diagnose"}),
    ("post", "/api/v1/tools/read_config"): ("", {"path": "FILE"}),
    ("post", "/api/v1/tools/flux"): (
        "",
        {"action": "compose", "subaction": "status", "host": "localhost", "project": "shop"},
    ),
    ("post", "/api/v1/tools/scout"): ("", {"action": "help"}),
    ("post", "/api/v1/tools/modify_config"): ("", {"path": "FILE", "content": COMPOSE}),
    ("post", "/api/v1/tools/write_memory"): (
        "",
        {"text": "an agent's", "about": {"project": "shop"}, "dry_run": False},
    ),
    ("post", "/api/v1/notes"): ("", {"text": "a person's", "about": {"container": "shop-web-1"}, "expires": "1d"}),
    ("get", "/api/v1/notes"): ("", None),
    ("post", "/api/v1/notes/{note_id}/refuse"): ("", None),
    ("post", "/api/v1/notes/{note_id}/approve"): ("", None),
    ("post", "/api/v1/notes/{note_id}/remove"): ("", None),
    ("get", "/api/v1/history"): ("?since=2h&limit=5", None),
}
OF_AN_INCIDENT = {
    ("get", "/api/v1/incidents/{incident_id}"),
    ("get", "/i/{incident_id}"),
    ("post", "/api/v1/tools/get_incident"),
    ("post", "/api/v1/incidents/{incident_id}/acknowledge"),
}
"""There is none here: see test_incidents.py."""
DENIED = {("post", "/api/v1/tools/restart_service")}
"""Always: see test_restart_preview.py."""
PAGES = {
    "/c/{container}": "/c/shop-web-1",
    "/p/{project}": "/p/shop?",
    "/history": "/history?name=shop&since=1d&words=started",
    "/alerts": "/alerts",
    "/docs/": "/docs/",
    "/docs/{name}": "/docs/alerts",
    "/docs/runbooks/{alert}": "/docs/runbooks/BconWatchdog",
}
STREAMS = {"/tail/{container}": "/tail/shop-web-1"}
"""They do not end: only their head is asked for here."""
PLAIN = ("/", "/metrics", "/-/healthy", "/-/ready", "/openapi.json")
WRONG = (
    ("GET", "/api/v1/containers/shop-wbe-1", "container_not_found", "shop-web-1"),
    ("GET", "/api/v1/containers/shop-wbe-1/stats", "container_not_found", "shop-web-1"),
    ("GET", "/api/v1/containers/shop-wbe-1/logs", "container_not_found", "shop-web-1"),
    ("GET", "/api/v1/containers/shop-wbe-1/diagnosis", "container_not_found", "shop-web-1"),
    ("GET", "/api/v1/containers/shop-web-1/logs?tail=-1", "invalid_input", "tail"),
    ("GET", "/api/v1/containers/shop-web-1/logs?tail=10001", "invalid_input", "10000"),
    ("GET", "/api/v1/containers/shop-web-1/logs?since=some-day", "invalid_input", "since"),
    ("GET", "/api/v1/containers/shop-web-1/logs?tial=5", "invalid_input", "tail"),
    ("GET", "/api/v1/containers/shop-web-1?verbose=true", "invalid_input", "verbose"),
    ("GET", "/api/v1/containers/" + "a" * 1000, "invalid_input", "255"),
    ("GET", "/api/v1/containers/%2e%2e", "invalid_input", "container_id"),
    ("GET", "/api/v1/containers/%2e%2e/stats", "invalid_input", "container_id"),
    ("GET", "/api/v1/containers?stauts=exited", "invalid_input", "status"),
    ("GET", "/api/v1/incidents/2026-nothing", "not_found", "no such incident"),
    ("GET", "/api/v1/incidents?open=perhaps", "invalid_input", "open"),
    ("POST", "/api/v1/incidents/2026-nothing/acknowledge", "not_found", "no such incident"),
    ("POST", "/api/v1/quiet", "invalid_input", "name"),
    ("POST", "/api/v1/notes", "invalid_input", "text"),
    ("POST", "/api/v1/notes/n999/approve", "not_found", "no note n999"),
    ("GET", "/api/v1/cost?period=century", "invalid_input", "period"),
    ("GET", "/api/v1/disk?limit=0", "invalid_input", "limit"),
    ("GET", "/api/v1/drift/shpo", "compose_file_not_found", "shop"),
    ("GET", "/api/v1/drift/" + "a" * 1000, "compose_file_not_found", "project"),
    ("GET", "/api/v1/drift/%2e%2e", "compose_file_not_found", "project"),
)
UNROUTED = (
    ("GET", "/api/v1/containers/a%2fjson", 404),
    ("GET", "/api/v1/containers/a/export", 404),
    ("GET", "/api/v2/containers", 404),
    ("GET", "/docs", 404),
    ("POST", "/api/v1/tools/diagnose_al", 404),
    ("POST", "/metrics", 405),
    ("DELETE", "/api/v1/containers/shop-web-1", 405),
    ("PUT", "/api/v1/tools/diagnose_all", 405),
    ("POST", "/api/v1/containers/shop-web-1", 405),
)


@pytest.fixture
def shop(engine: TestEngine, tmp_path: Path) -> Iterator[Daemon]:
    """A daemon that has seen a project run."""
    file = tmp_path / "compose.yaml"
    file.write_text(COMPOSE)
    engine.compose("-f", str(file), "up", "-d", cwd=tmp_path)
    flags = ("--scan.diagnose-interval=1s", "--scan.drift-interval=1s", f"--compose.roots={tmp_path}")
    with Daemon(tmp_path, engine.host, *flags) as daemon:
        daemon.wait_for_sample('bcon_compose_project_status{project="shop",status="synced"}', 1)
        wait_until(lambda: daemon.ask("/api/v1/containers/shop-web-1/stats").status == 200, "usage of the web")
        yield daemon
    assert "Traceback" not in daemon.log


def test_every_address_of_the_openapi_document_answers_good_input(shop: Daemon) -> None:
    document = shop.ask("/openapi.json").json()
    described = {(method, path) for path, methods in document["paths"].items() for method in methods}
    failed = {}
    for (method, path), (query, body) in GOOD.items():
        filled = path.replace("{container_id}", "shop-web-1").replace("{project}", "shop") + query
        filled = filled.replace("{note_id}", "n1" if path.endswith("/refuse") else "n2")
        file = str(shop.folder / "compose.yaml")
        given = body and {name: file if value == "FILE" else value for name, value in body.items()}
        answer = shop.ask(filled, method.upper(), given)
        if answer.status != 200 or set(answer.json()) != {"result"}:
            failed[filled] = (answer.status, answer.text[:300])

    assert failed == {}
    assert described == set(GOOD) | OF_AN_INCIDENT | DENIED | {("get", path) for path in (*PLAIN, *PAGES, *STREAMS)}
    pages = {path: shop.ask(path) for path in PAGES.values()}
    assert {path: page.status for path, page in pages.items()} == dict.fromkeys(pages, 200)
    assert {path for path, page in pages.items() if not page.text.startswith("<!doctype html>")} == set()
    assert [shop.ask(path, "HEAD").status for path in STREAMS.values()] == [200]
    assert {path: shop.ask(path).status for path in PLAIN} == dict.fromkeys(PLAIN, 200)
    assert {path: shop.ask(path, "HEAD").text for path in PLAIN} == dict.fromkeys(PLAIN, "")


def test_the_last_diagnosis_holds_every_containers_full_report_and_its_age(shop: Daemon) -> None:
    def has_read_the_log() -> bool:
        return shop.sample('bcon_symptoms{symptom="network_error"}') == 1

    wait_until(has_read_the_log, "the log to be judged")
    report = shop.ask("/api/v1/diagnosis").json()["result"]

    assert report["total_containers"] == len(report["reports"]) == 2
    assert report["total_containers"] == sum(report[each] for each in ("healthy", "warning", "error", "critical"))
    assert 0 <= report["age_seconds"] < 10
    web = next(each for each in report["reports"] if each["container_name"] == "shop-web-1")
    assert {symptom["type"] for symptom in web["symptoms"]} >= {"network_error"}
    assert web["likely_causes"]
    assert web["suggestions"]
    assert web["detailed_explanation"]
    assert all(suggestion["command"] is None for suggestion in web["suggestions"])


def test_wrong_addresses_and_queries_have_their_code_and_advice(shop: Daemon) -> None:
    failed = {}
    for method, path, code, says in WRONG:
        answer = shop.ask(path, method)
        error = answer.json().get("error", {})
        good = set(answer.json()) == {"error"} and set(error) == {"code", "message", "details"}
        told = says in error.get("message", "") or says in str(error.get("details"))
        if not (good and error["code"] == code and answer.status == STATUS_BY_CODE[ErrorCode(code)] and told):
            failed[path[:80]] = (answer.status, answer.text[:300])
    for method, path, status in UNROUTED:
        answer = shop.ask(path, method)
        if answer.status != status or set(answer.json()) != {"error"}:
            failed[f"{method} {path}"] = (answer.status, answer.text[:300])

    assert failed == {}


@pytest.mark.promise("S6")
def test_a_compose_file_that_may_not_be_read_is_answered_as_one_that_is_not_there(
    engine: TestEngine, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    (root / "directory").mkdir(parents=True)
    os.mkfifo(root / "pipe")
    for name in ("root/secret.yaml", "outside.yaml", "no-yaml.txt"):
        (tmp_path / name).write_text("services: [hunter2\n")
    (root / "secret.yaml").chmod(0)
    (root / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    weak_root = (
        "setpriv",
        "--bounding-set=-dac_override,-dac_read_search",
        "--inh-caps=-dac_override,-dac_read_search",
    )
    paths = ("root/none.yaml", "root/directory", "root/secret.yaml", "root/pipe", "root/link.yaml", "outside.yaml")
    below = weak_root if os.geteuid() == 0 else ()
    with Daemon(tmp_path, engine.host, "--compose.roots", str(root), below=below) as daemon:
        answers = {
            path: daemon.ask("/api/v1/tools/detect_drift", "POST", {"compose_file": str(tmp_path / path)})
            for path in (*paths, "no-yaml.txt", "root/../outside.yaml")
        }

    assert {path: answer.status for path, answer in answers.items()} == dict.fromkeys(answers, 404)
    assert len({answer.text for answer in answers.values()}) == 1


def storm(port: int, number: int) -> list[tuple[int, bytes]]:
    """Send so many requests before the first answer is read, each on its connection; their statuses and bodies."""
    request = b"POST /api/v1/tools/diagnose_all HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
    with ExitStack() as stack:
        links = []
        for _ in range(number):
            links.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), 60)))
            links[-1].sendall(request)  # at once: on a busy machine connections without a request are soon closed
        answers = [http.client.HTTPResponse(link, method="POST") for link in links]
        for answer in answers:
            answer.begin()
        return [(answer.status, answer.read()) for answer in answers]


@pytest.mark.promise("S4")
def test_a_thousand_identical_requests_a_hundred_at_once_are_a_few_runs(shop: Daemon, figure: Figure) -> None:
    before = shop.sample(LIST_REQUESTS) or 0
    statuses: Counter[int] = Counter()
    reports = set()
    for _ in range(10):
        for status, body in storm(shop.port, 100):
            statuses[status] += 1
            if status == 200:
                reports.add(body)
    scans = shop.sample(LIST_REQUESTS) or 0
    ledger = wait_until(
        lambda: (
            (answer := shop.ask("/api/v1/cost")).status == 200
            and answer.json()["result"]["by_operation"]["diagnose_all"]
        ),
        "the ledger",
    )

    assert set(statuses) <= {200, 429}
    assert statuses[200] >= RUNNING_PER_CLIENT
    assert statuses.total() == 1000
    assert len(reports) <= 100, ledger  # a run is shared as long as it lasts; they come within seconds
    figure(f"1,000 requests, 100 at once: {scans - before:.0f} looks at the engine, {len(reports)} reports")
    assert scans - before < 200
    assert shop.ask("/-/healthy").status == 200
