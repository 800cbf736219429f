"""The daemon shows what runs on a real engine, within one scan, on every address it serves."""

from __future__ import annotations

import gzip
import http.client
import os
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.docker.daemon import Daemon
from tests.long_forms import IS_NIGHTLY
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = pytest.mark.docker

SCRAPES = 10_000 if IS_NIGHTLY else 2_000
SCANS = 'bcon_scans_total{scan="diagnose"}'
QUICK = ("--scan.diagnose-interval", "1s", "--scan.drift-interval", "2s")


@pytest.mark.contract
def test_a_loop_an_oom_kill_a_failed_check_and_a_well_container_are_told_apart(
    engine: TestEngine, tmp_path: Path
) -> None:
    check = ("--health-cmd", "false", "--health-interval", "1s", "--health-retries", "1")
    engine.docker("run", "-d", "--name", "well", engine.image, "sleep", "1000")
    engine.docker("run", "-d", "--name", "sick", *check, engine.image, "sleep", "1000")
    engine.docker("run", "-d", "--name", "loop", "--restart", "always", engine.image, "sh", "-c", "exit 3")

    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        daemon.wait_until_ready()
        engine.docker("run", "-d", "--name", "hog", "-m", "24m", "--memory-swap", "24m", engine.image, "eat-memory")
        for name, symptom in (("loop", "restart_loop"), ("sick", "unhealthy"), ("hog", "oom_killed")):
            daemon.wait_for_sample(
                f'bcon_container_symptom{{container="{name}",project="",service="",symptom="{symptom}"}}', 1
            )
        daemon.wait_for_sample('bcon_container_status{container="well",project="",service=""}', 0)
        report = daemon.ask("/api/v1/diagnosis").json()["result"]

    assert {each["container_name"] for each in report["reports"]} == {"well", "sick", "loop", "hog"}
    assert report["age_seconds"] < 5


def test_the_exposition_of_a_real_host_parses(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--name", "one", "--label", 'strange="\\\n', engine.image, "sleep", "1000")

    with Daemon(tmp_path, engine.host, *QUICK, "--metrics.container-labels", "strange") as daemon:
        daemon.wait_until_ready()
        text = daemon.ask("/metrics").text

    assert {"bcon_container_info", "process_cpu_seconds"} <= {
        each.name for each in text_string_to_metric_families(text)
    }
    if shutil.which("promtool"):
        checked = subprocess.run(
            ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False
        )
        assert checked.returncode in (0, 3), checked.stderr  # 3: advice on names only


def test_a_removed_container_leaves_no_series(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--name", "gone", engine.image, "sleep", "1000")

    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        series = 'bcon_container_running{container="gone",project="",service=""}'
        daemon.wait_for_sample(series, 1)
        engine.docker("rm", "-f", "gone")
        daemon.wait_for_sample(series, None, timeout_seconds=5)
        assert daemon.sample('bcon_scan_failures_total{scan="diagnose"}') == 0


def test_drift_of_a_running_project_is_found(engine: TestEngine, tmp_path: Path) -> None:
    file = tmp_path / "compose.yaml"
    file.write_text(f"name: shop\nservices:\n  web:\n    image: {engine.image}\n    command: sleep 1000\n")
    engine.compose("-f", str(file), "up", "-d", cwd=tmp_path)
    series = 'bcon_compose_project_status{project="shop",status="%s"}'

    with Daemon(tmp_path, engine.host, *QUICK, f"--compose.roots={tmp_path}") as daemon:
        daemon.wait_for_sample(series % "synced", 1)
        file.write_text(file.read_text() + "    environment: {A: b}\n  more:\n    image: other\n")
        daemon.wait_for_sample('bcon_drift_items{project="shop",service="more",drift="missing_service"}', 1)
        report = daemon.ask("/api/v1/drift/shop").json()["result"]

    assert {each["drift_type"] for each in report["differences"]} == {"missing_service", "config_mismatch"}
    assert "b" not in {each["expected"] for each in report["differences"]}


def test_every_tool_answers_over_http(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--name", "web", engine.image, "sh", "-c", "echo error: refused; sleep 1000")
    file = tmp_path / "compose.yaml"
    file.write_text(f"name: shop\nservices:\n  web:\n    image: {engine.image}\n")
    calls: dict[str, dict[str, object]] = {
        "list_containers": {"all": True},
        "get_container_info": {"container_id": "web"},
        "get_container_stats": {"container_id": "web"},
        "get_container_logs": {"container_id": "web"},
        "detect_drift": {"compose_file": str(file)},
        "get_untracked_containers": {},
        "diagnose_container": {"container_id": "web"},
        "explain_error": {"container_id": "web", "error_pattern": "refused"},
        "diagnose_all": {"include_healthy": True},
        "health_check": {},
        "get_cost_report": {},
        "get_disk_usage": {},
        "get_history": {},
        "list_deployments": {},
        "list_incidents": {},
    }

    with Daemon(tmp_path, engine.host, *QUICK, "--compose.roots", str(tmp_path)) as daemon:
        daemon.wait_until_ready()
        answers = {tool: daemon.ask(f"/api/v1/tools/{tool}", "POST", body) for tool, body in calls.items()}

    assert {tool: answer.text for tool, answer in answers.items() if answer.status != 200} == {}
    assert all(set(answer.json()) == {"result"} for answer in answers.values())


@pytest.mark.promise("S1")
def test_beyond_loopback_reports_stay_on_the_second_listener(engine: TestEngine, tmp_path: Path) -> None:
    flags = ("--web.listen-address", "0.0.0.0:0", "--api.listen-address", "127.0.0.1:0")

    with Daemon(tmp_path, engine.host, *QUICK, *flags) as daemon:  # the port found is that of the API listener
        outside = int(daemon.log.partition("http://0.0.0.0:")[2].split()[0].rstrip(","))
        connection = http.client.HTTPConnection("127.0.0.1", outside, timeout=5)
        statuses = []
        for path in ("/metrics", "/api/v1/health"):
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
        connection.close()

        assert statuses == [200, 403]
        assert daemon.ask("/api/v1/health").status == 200


@pytest.mark.promise("F11")
def test_scrapes_during_scans_show_one_generation(engine: TestEngine, tmp_path: Path, figure: Figure) -> None:
    """Thousands of scrapes while containers come and go; every answer adds up."""
    names = [f"c{number}" for number in range(6)]
    for name in names[:3]:
        engine.docker("run", "-d", "--name", name, engine.image, "sleep", "1000")

    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval", "1s", "--scan.drift-interval", "1s") as daemon:
        daemon.wait_until_ready()
        churn = subprocess.Popen(
            ["sh", "-c", f"while :; do docker -H {engine.host} run -d --rm {engine.image} sleep 1; done"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            scans = daemon.sample(SCANS) or 0
            totals = scrape_many(daemon.port, SCRAPES)
            scans = (daemon.sample(SCANS) or 0) - scans
        finally:
            os.killpg(churn.pid, signal.SIGTERM)
            churn.wait(10)
            # One whose client ended between its creation and its start stays for ever; the fixture clears it away.
            wait_until(
                lambda: (
                    len(
                        [
                            each
                            for each in engine.docker("ps", "-a", "--format", "{{.State}}").split()
                            if each != "created"
                        ]
                    )
                    == 3
                ),
                "the last of the churn to go",
            )

    assert len(totals) == SCRAPES
    figure(f"{len(totals)} scrapes during {scans:.0f} scans")
    assert scans >= 3
    assert len(set(totals)) > 1, "or no answer showed anything new"


SOME = "?name[]=bcon_containers&name[]=bcon_containers_by_state&name[]=bcon_container_status"
WAYS = ((SOME, "identity"), ("", "identity"), ("", "gzip"), (SOME, "gzip"))
"""Each with its query and encoding."""


def scrape_many(port: int, count: int) -> list[int]:
    """Scrape on one connection, in all ways by turns; each answer's families must agree on the number of containers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    totals = []
    for number in range(count):
        query, encoding = WAYS[number % len(WAYS)]
        connection.request("GET", f"/metrics{query}", headers={"Accept-Encoding": encoding})
        answer = connection.getresponse()
        body = answer.read()
        assert answer.headers.get("Content-Encoding", "identity") == encoding
        lines = (gzip.decompress(body) if encoding == "gzip" else body).decode().splitlines()
        sums = {
            family: sum(int(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{family}{{"))
            for family in ("bcon_containers", "bcon_containers_by_state")
        }
        series = sum(line.startswith("bcon_container_status{") for line in lines)
        assert sums["bcon_containers"] == sums["bcon_containers_by_state"] == series
        totals.append(series)
    connection.close()
    return totals


@pytest.mark.promise("F12")
def test_a_port_in_use_is_one_line_and_exit_2(engine: TestEngine, tmp_path: Path) -> None:
    with Daemon(tmp_path, engine.host) as first:
        command = [
            *("python", "-m", "bcon_exporter", "serve", "--docker.host", engine.host, "--state.path", "none"),
            *("--web.listen-address", f"127.0.0.1:{first.port}"),
        ]
        import sys

        second = subprocess.run([sys.executable, *command[1:]], capture_output=True, text=True, timeout=30, check=False)

    assert second.returncode == 2
    assert len(second.stderr.strip().splitlines()) == 1
    assert str(first.port) in second.stderr
    assert "in use" in second.stderr


def test_the_readiness_probe_waits_for_the_engine(engine: TestEngine, tmp_path: Path) -> None:
    """The daemon starts before the engine is there, and becomes ready when it comes."""
    link = tmp_path / "late.sock"

    with Daemon(tmp_path, f"unix://{link}", "--scan.diagnose-interval", "1s", "--scan.drift-interval", "2s") as daemon:
        wait_until(lambda: daemon.sample('bcon_scan_success{scan="diagnose"}') == 0, "the first failed scan")
        before, healthy = daemon.ask("/-/ready"), daemon.ask("/-/healthy")
        link.symlink_to(engine.host.removeprefix("unix://"))
        daemon.wait_until_ready()

    assert before.status == 503
    assert "late.sock" in before.text
    assert healthy.status == 200
