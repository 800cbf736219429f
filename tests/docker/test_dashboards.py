"""Every query and every variable of both dashboards gives an answer of a real Prometheus, and a sensible one.

Two hosts, one exporter: it is scraped under two instance names, with a label that the targets bring, so that joins are
tried with more than one host. Every kind of trouble that a panel is for really happens.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from grafana.dashboards.links import CONTAINER, OVERVIEW
from tests.docker.daemon import WITHOUT_CGROUP_FILES, Daemon
from tests.docker.scraping import wait_for_whole_scan
from tests.grafana.asking import Series, ask, ask_values
from tests.grafana.reading import Json, Span, all_chosen, load, panels, variables
from tests.grafana.tables import Row, table_rows
from tests.programs import need
from tests.running_prometheus import Prometheus, running_prometheus
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.slow]

QUICK = ("--scan.diagnose-interval=2s", "--scan.drift-interval=2s", "--metrics.container-labels=team")
HERE, THERE = "here:19877", "there:19877"
SHOP = {
    "web": {"command": "serve", "deploy": {"replicas": 1}, "labels": {"team": "shop"}},
    "loop": {
        "command": ["sh", "-c", "echo 'level=error msg=\"no config\"' >&2; sleep 0.3; exit 3"],
        "restart": "always",
    },
    "eats": {"command": ["sh", "-c", "sleep 2; exec eat-memory"], "restart": "always", "mem_limit": "16m"},
    "tight": {
        "command": ["sh", "-c", "dd if=/dev/zero of=/dev/shm/full bs=1M count=29 2>/dev/null; exec serve"],
        "mem_limit": "32m",
        "pids_limit": 200,
        "shm_size": "32m",
    },
    "busy": {"command": "burn-cpu", "cpus": 0.1},
    "ill": {"command": "serve", "healthcheck": {"test": ["CMD", "false"], "interval": "1s", "retries": 1}},
    "asks": {
        "command": [
            "sh",
            "-c",
            "while :; do echo 'ERROR cannot connect to web:5432: connection refused'; echo WARN slow; sleep 1; done",
        ],
    },
    "halted": {"command": "serve"},
}
NOT_SEEN_HERE = ("_growth_bytes_per_day", "_pressure_", "bcon_container_open_files")
"""Growth is known after an hour, pressure and open files where kernel and namespaces tell them: test_series."""
LOST = {"gone": {"command": "serve"}}
SCRAPED = {
    "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
    "scrape_configs": [
        {
            "job_name": "any-name",
            "honor_labels": True,
            "static_configs": [
                {"targets": ["127.0.0.1:%d"], "labels": {"instance": instance, "env": "test"}}
                for instance in (HERE, THERE)
            ],
        },
        {"job_name": "stranger", "static_configs": [{"targets": ["127.0.0.1:OWN"]}]},  # it has process_* too
    ],
}


def start(engine: TestEngine, folder: Path, name: str, services: Mapping[str, Any]) -> Path:
    """Bring a project up and return its file."""
    file = folder / name / "compose.yaml"
    file.parent.mkdir()
    full = {service: {"image": engine.image, "stop_grace_period": "1s", **told} for service, told in services.items()}
    file.write_text(yaml.safe_dump({"name": name, "services": full}))
    engine.compose("-f", str(file), "up", "-d", cwd=file.parent)
    return file


def break_things(engine: TestEngine, folder: Path) -> None:
    """Start two projects full of trouble, and make one drift and the other unreadable."""
    file = start(engine, folder, "shop", SHOP)
    file.write_text(file.read_text().replace("replicas: 1", "replicas: 2"))
    engine.compose("-f", str(file), "stop", "halted", cwd=file.parent)
    start(engine, folder, "lost", LOST).unlink()
    engine.docker("run", "-d", "--name", "alone", engine.image, "sh", "-c", "exit 7")


class Asked:
    """Both dashboards' queries, as a person with a dashboard open would see their answers."""

    def __init__(self, prometheus: Prometheus) -> None:
        self.prometheus = prometheus

    def span(self) -> Span:
        """The last two minutes."""
        now = time.time()
        return Span(now - 120, now, points=120, scrape_seconds=1)

    def panel(self, uid: str, title: str, **chosen: str) -> list[Series]:
        """The answers to all queries of a panel."""
        _, answers = self._answers(uid, title, chosen)
        return [told for answer in answers for told in answer]

    def table(self, uid: str, title: str, **chosen: str) -> list[Row]:
        """The rows of a table."""
        return table_rows(*self._answers(uid, title, chosen))

    def _answers(self, uid: str, title: str, chosen: Mapping[str, str]) -> tuple[Json, list[list[Series]]]:
        board = load(uid)
        panel = next(each for each in panels(board) if each["title"] == title)
        values, span = {**all_chosen(board), **chosen}, self.span()
        return panel, [ask(self.prometheus, target, values, span) for target in panel["targets"]]

    def unanswered(self, uid: str, *choices: Mapping[str, str]) -> list[str]:
        """The queries that have no answer with any of the choices."""
        board = load(uid)
        targets = [(panel["title"], target) for panel in panels(board) for target in panel["targets"]]
        targets += [("annotation", note) for note in board["annotations"].get("list", ())]
        return [
            f"{title} {target.get('refId', '')}: {target['expr']}"
            for title, target in targets
            if not any(word in target["expr"] for word in NOT_SEEN_HERE)
            and not any(
                ask(self.prometheus, target, {**all_chosen(board), **chosen}, self.span()) for chosen in choices
            )
        ]

    def views(self) -> set[float]:
        """How far the hosts are seen, by the last point of a line each."""
        return set(last(self.panel(OVERVIEW, "View of each host")).values())

    def wait_for_all(self, uid: str, *choices: Mapping[str, str]) -> None:
        """Wait until every query has an answer with one of the choices; AssertionError with those that have none."""
        with suppress(AssertionError):
            wait_for(lambda: not self.unanswered(uid, *choices), "answers")
        assert self.unanswered(uid, *choices) == []

    def choices(self, uid: str) -> dict[str, list[str]]:
        """What each variable offers."""
        board = load(uid)
        asked = {name: each for name, each in variables(board).items() if each["type"] == "query"}
        return {name: ask_values(self.prometheus, each, all_chosen(board), self.span()) for name, each in asked.items()}


def wait_for(told: Callable[[], object], what: str) -> None:
    """Wait for what takes some scans."""
    wait_until(told, what, timeout_seconds=90, every_seconds=0.5)


def names(series: list[Series], label: str) -> set[str]:
    """The values of a label."""
    return {each.labels.get(label, "") for each in series}


def last(series: list[Series]) -> dict[str, float]:
    """The newest value by the legend's name."""
    return {each.name: each.last for each in series}


def not_checked(asked: Asked) -> float:
    """What the panel of containers says."""
    return last(asked.panel(OVERVIEW, "Containers"))["not checked"]


def not_checked_by(daemon: Daemon) -> float:
    """What the daemon says, for one of the two hosts."""
    line = next(each for each in daemon.ask("/metrics").text.splitlines() if each.startswith("bcon_containers_not_c"))
    return float(line.split()[1])


def test_every_query_and_variable_has_an_answer_and_what_is_not_seen_is_not_called_healthy(
    engine: TestEngine, tmp_path: Path
) -> None:
    need("prometheus")
    break_things(engine, tmp_path)
    with Daemon(tmp_path, engine.host, *QUICK, f"--compose.roots={tmp_path}", below=WITHOUT_CGROUP_FILES) as daemon:
        config = yaml.safe_dump(SCRAPED).replace("%d", str(daemon.port))
        with running_prometheus(tmp_path, config) as prometheus:
            asked = Asked(prometheus)
            wait_for_whole_scan(daemon)
            asked.wait_for_all(OVERVIEW, {})
            asked.wait_for_all(CONTAINER, *({"container": f"shop-{name}-1"} for name in SHOP))
            wait_for(
                lambda: last(asked.panel(OVERVIEW, "Hosts")) == {"seen": 2, "not seen": 0}, "both hosts to be seen"
            )
            wait_for(
                lambda: names(asked.panel(OVERVIEW, "CPU of the exporters"), "instance") == {HERE, THERE},
                "two scrapes of both, for a rate",
            )
            everything_is_told(asked)
            wait_for(lambda: not_checked(asked) == 2 * not_checked_by(daemon), "those of which too little is known")

            engine.pause()
            wait_for(lambda: last(asked.panel(OVERVIEW, "Hosts")) == {"seen": 0, "not seen": 2}, "the outage to show")
            wait_for(lambda: not asked.panel(OVERVIEW, "Containers"), "old values to be withheld")
            assert not asked.panel(OVERVIEW, "Symptoms present, and why")
            wait_for(lambda: asked.views() == {1}, "the view of both hosts to say why")
            engine.resume()
            wait_for(lambda: last(asked.panel(OVERVIEW, "Hosts")) == {"seen": 2, "not seen": 0}, "the end of it")

            daemon.end()
            wait_for(lambda: last(asked.panel(OVERVIEW, "Hosts")) == {"seen": 0, "not seen": 2}, "its end to show")
            wait_for(lambda: asked.views() == {0}, "the view of both hosts to say why")


def everything_is_told(asked: Asked) -> None:
    """The answers are those of this host, twice."""
    assert asked.choices(CONTAINER) == {
        "job": ["any-name"],
        "instance": [HERE, THERE],
        "project": ["lost", "shop"],
        "container": ["alone", "lost-gone-1", *(f"shop-{name}-1" for name in sorted(SHOP))],
    }
    symptoms = asked.panel(OVERVIEW, "Symptoms present, and why")
    of_loop = [
        each.labels for each in symptoms if each.labels["container"] == "shop-loop-1" and "symptom" in each.labels
    ]
    assert names(symptoms, "instance") == {HERE, THERE}
    assert {"restart_loop", "exit_error"} <= {each["symptom"] for each in of_loop}
    assert all(each["cause"] for each in of_loop)
    assert all(each["alert"] == each["symptom"] for each in of_loop)  # shown as the alert's name, and linked by it
    assert {"alone", "shop-ill-1", "shop-tight-1"} <= names(symptoms, "container")
    assert names(asked.panel(OVERVIEW, "Symptoms present, and why", project="shop"), "project") == {"shop"}

    told = asked.table(OVERVIEW, "Symptoms present, and why")
    assert {row["Status"] for row in told if row["Container"] == "shop-loop-1"} == {3}
    assert len(told) == len({(row["Host"], row["Container"], row["Symptom"]) for row in told})

    drift = [each.labels for each in asked.panel(OVERVIEW, "Drift from the Compose files") if "alert" in each.labels]
    assert {("web", "replica_mismatch"), ("halted", "not_running")} <= {
        (each["service"], each["drift"]) for each in drift
    }
    differences = asked.table(OVERVIEW, "Drift from the Compose files")
    assert len(differences) == len({(row["Host"], row["Service"], row["Drift"]) for row in differences})
    assert {row["Stopped by hand"] for row in differences if row["Service"] == "halted"} == {1}
    hosts = asked.table(OVERVIEW, "Hosts and their exporters")
    assert [(row["View"], row["Worst container"]) for row in hosts] == [(3, 3), (3, 3)]
    assert {row["Host"] for row in hosts} == {HERE, THERE}
    assert names(asked.panel(OVERVIEW, "Projects that cannot be judged"), "reason") == {"not_found"}
    assert names(asked.panel(OVERVIEW, "CPU of the exporters"), "instance") == {HERE, THERE}
    assert "stranger" not in names(asked.panel(OVERVIEW, "Memory of the exporters"), "job")
    usage = last(asked.panel(OVERVIEW, "CPU of what it may use"))
    assert usage.pop("threshold") == 0.8
    assert max(usage, key=usage.__getitem__).startswith("shop-busy-1 · ")
    assert {each.name.partition(" ")[0] for each in asked.panel(OVERVIEW, "OOM kills by container")} == {"shop-eats-1"}

    limits = last(asked.panel(CONTAINER, "Memory", container="shop-tight-1", instance=HERE))
    assert limits["limit"] == 32 * 1024**2
    assert limits["threshold"] == pytest.approx(0.85 * limits["limit"])
    assert limits[f"used · {HERE}"] > limits["threshold"]
    assert names(asked.panel(CONTAINER, "Symptoms over time", container="shop-ill-1", instance=HERE), "symptom") == {
        "unhealthy"
    }
