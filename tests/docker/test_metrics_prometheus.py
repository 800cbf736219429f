"""A real Prometheus takes what the daemon serves, without a complaint, and its queries give sensible answers."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.docker.scraping import wait_for_whole_scan
from tests.running_prometheus import CONFIG, running_prometheus
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

QUICK = ("--scan.diagnose-interval=1s", "--scan.drift-interval=1s", "--metrics.container-labels=team,container")
COMPOSE = """\
name: shop
services:
  web: {image: "bcon-test:1", command: serve, environment: {MODE: "%s"}, deploy: {replicas: %d}}
  loop: {image: "bcon-test:1", command: [sh, -c, "sleep 0.1; exit 3"], restart: always}
"""
AGREE = (  # each must have no answer: the two sides say the same
    "sum(bcon_containers) != count(bcon_container_status)",
    "sum(bcon_containers_by_state) != count(bcon_container_status)",
    "sum by (symptom) (bcon_container_symptom) != bcon_symptoms",
    "count by (container, project, service) (bcon_container_status) > 1",
    "bcon_container_status > 0 unless on (container, project, service) bcon_container_symptom == 1",
    "bcon_container_symptom == 1 unless bcon_container_symptom_start_timestamp_seconds",
    "bcon_container_symptom_start_timestamp_seconds > time() + 5",
    "sum by (project) (bcon_compose_project_status) != 1",
    '{__name__=~"bcon_.+_created"}',
)


@pytest.mark.contract
def test_prometheus_scrapes_it_and_its_queries_make_sense(engine: TestEngine, tmp_path: Path) -> None:
    file = tmp_path / "compose.yaml"
    file.write_text(COMPOSE % ("a", 2))
    engine.compose("-f", str(file), "up", "-d", cwd=tmp_path)
    engine.compose("-f", str(file), "run", "-d", "web", cwd=tmp_path)
    file.write_text(COMPOSE % ("b", 3))
    label = 'team=a "quoted" \\ line\nend'
    engine.docker("run", "-d", "--name", "paused", "--label", label, engine.image, "serve")
    engine.docker("pause", "paused")
    engine.docker("run", "-d", "--name", "crashed", engine.image, "sh", "-c", "exit 7")
    owner = "com.docker.compose"
    labels = ("project=shop", "service=old", "oneoff=False", "container-number=1")
    flags = [word for each in labels for word in ("--label", f"{owner}.{each}")]
    engine.docker("run", "-d", "--name", "0123456789ab_shop-old-1", *flags, engine.image, "serve")
    with (
        Daemon(tmp_path, engine.host, *QUICK, f"--compose.roots={tmp_path}") as daemon,
        running_prometheus(tmp_path, CONFIG % daemon.port) as prometheus,
    ):
        daemon.wait_for_sample('bcon_compose_project_status{project="shop",status="drifted"}', 1)
        wait_for_whole_scan(daemon)
        target = wait_until(prometheus.target, "a scrape")
        wait_until(lambda: prometheus.values('bcon_container_symptom{symptom="restart_loop"} == 1'), "the loop")
        wait_until(lambda: prometheus.values("increase(bcon_container_restarts_total[1m]) > 0"), "a rate of restarts")
        disagreeing = {query: found for query in AGREE if (found := prometheus.values(query))}
        status = prometheus.values("bcon_container_status")
        drift = prometheus.get("query", query="bcon_drift_items > 0")["result"]
        info = prometheus.get("query", query='bcon_container_info{container="paused"}')["result"][0]["metric"]
        joined = prometheus.values(
            "(bcon_container_symptom == 1) * on (instance, container, project, service)"
            " group_left (cause) bcon_container_cause_info"
        )
        kinds = {name: each[0]["type"] for name, each in prometheus.get("metadata").items()}
        text = daemon.ask("/metrics").text

    assert (target["health"], target["lastError"]) == ("up", "")
    assert disagreeing == {}
    assert set(status) == {"shop-web-1", "shop-web-2", "shop-loop-1", "shop-old-1", "paused", "crashed"}
    assert (status["shop-loop-1"], status["crashed"], status["paused"], status["shop-web-1"]) == (3, 2, 1, 0)
    assert {(each["metric"]["service"], each["metric"]["drift"]) for each in drift} == {
        ("web", "config_mismatch"),
        ("web", "replica_mismatch"),
        ("old", "extra_container"),
    }
    assert info["team"] == 'a "quoted" \\ line\\nend'
    assert {"shop-loop-1", "crashed", "paused"} <= set(joined)
    assert (kinds["bcon_container"], kinds["bcon_container_restarts"]) == ("info", "counter")
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
    log = (tmp_path / "prometheus.log").read_text()
    assert "level=error" not in log
    assert "Error on ingesting" not in log
