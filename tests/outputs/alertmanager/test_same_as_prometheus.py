"""Prometheus over the scraped text and the push over the scans see the same alerts at the same moments, row by row."""

from __future__ import annotations

import json
import random
import re
import subprocess
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bcon_exporter.alerting import ALERTS, Scope
from bcon_exporter.alerting.rule_file import render_rule_file
from bcon_exporter.model.findings import DriftType, Severity, SymptomType
from tests.docker.engines import prometheus_differences
from tests.factories import NOON
from tests.outputs.alertmanager.stage import EVERY_SECONDS, Stage
from tests.programs import need

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Series = dict[tuple[str, tuple[tuple[str, str], ...]], list[float | None]]
RULES = render_rule_file()
JUDGED_BY_BOTH = sorted({rule.name for rule in ALERTS if not rule.only_prometheus and not rule.opt_in})
ONLY_PROMETHEUS = {rule.name for rule in ALERTS if rule.only_prometheus}
ON_THE_EXPORTER = {rule.name for rule in ALERTS if rule.scope is Scope.EXPORTER}
HOST = {"job": "any", "instance": "h1"}
SEVERITIES = {
    SymptomType.OOM_KILLED: Severity.CRITICAL,
    SymptomType.RESTART_LOOP: Severity.CRITICAL,
    SymptomType.START_FAILED: Severity.CRITICAL,
    SymptomType.PAUSED: Severity.CRITICAL,  # none of its own: it stands for the symptoms of the future
}


class Recorder:
    """Lets a stage play, and writes down both sides; `apart`: alerts that are not compared."""

    def __init__(self, stage: Stage, apart: set[str] | None = None) -> None:
        self.stage = stage
        self.apart = ONLY_PROMETHEUS | (apart or set())
        self.series: Series = {}
        self.fired: list[set[str] | None] = []
        self.names: set[str] = set()

    def moment(self, *, scraped: bool = True, scanned: bool = True) -> None:
        """One beat and one scrape; or a moment at which the exporter does not run."""
        values: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {("up", ()): float(scraped)}
        if scraped:
            self.stage.beat(scanned=scanned)
            values |= read_samples(self.stage.text())
            firing = [one for one in self.stage.alerts() if one.state == "firing"]
            self.names |= {one.name for one in firing}
            firing = [one for one in firing if one.name not in self.apart]
            self.fired.append(
                {shown({"alertname": one.name, "severity": one.severity, **one.labels}) for one in firing}
            )
        else:
            self.fired.append(None)
        for key in {*values, *self.series}:
            column = self.series.setdefault(key, [None] * (len(self.fired) - 1))
            column.append(values.get(key))
        self.stage.pass_time()

    def moments(self, count: int) -> None:
        """Several in a row."""
        for _ in range(count):
            self.moment()


def read_samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """The samples that the rules may ask for; times are counted from the first moment, as promtool counts."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name in RULES:
                value = sample.value - NOON.timestamp() if "timestamp" in sample.name else sample.value
                found[sample.name, tuple(sorted((k, v) for k, v in sample.labels.items() if v))] = value
    return found


def shown(labels: dict[str, str]) -> str:
    """Labels as promtool takes and sorts them; those of no host are vector(1)'s."""
    alone = labels["alertname"] == "BconWatchdog"
    full = {**labels, **({} if alone else HOST), "alertstate": "firing"}
    return "ALERTS{" + ",".join(f"{name}={json.dumps(value)}" for name, value in sorted(full.items())) + "}"


def written(column: list[float | None]) -> str:
    """A series in promtool's notation; what vanishes is stale."""
    words, before = [], None
    for value in column:
        words.append(f"{value:.17g}" if value is not None else "stale" if before is not None else "_")
        before = value
    return " ".join(words)


def unit_test(name: str, record: Recorder) -> dict[str, object]:
    """What was recorded as one of promtool's unit tests."""
    query = f'ALERTS{{alertstate="firing",alertname!~"{"|".join(sorted(record.apart))}"}}'
    labels = ({**dict(pairs), **HOST} for _, pairs in record.series)
    names = (name for name, _ in record.series)
    return {
        "name": name,
        "interval": f"{EVERY_SECONDS}s",
        "input_series": [
            {
                "series": f"{metric}{{{','.join(f'{k}={json.dumps(v)}' for k, v in full.items())}}}",
                "values": written(column),
            }
            for metric, full, column in zip(names, labels, record.series.values(), strict=True)
        ],
        "promql_expr_test": [
            {
                "expr": query,
                "eval_time": f"{number * EVERY_SECONDS}s",
                "exp_samples": [{"labels": each, "value": 1} for each in sorted(firing)],
            }
            for number, firing in enumerate(record.fired)
            if firing is not None
        ],
    }


def every_row() -> Recorder:
    """Each condition false, true for 18 minutes, and false until nothing is kept any more."""
    record = Recorder(Stage())
    scene = record.stage.scene
    names = (*(f"has-{kind.value}" for kind in SymptomType), "child")
    scene.containers = {name: {} for name in names}
    record.moments(4)
    for kind in SymptomType:
        scene.containers[f"has-{kind.value}"] = {kind: SEVERITIES.get(kind, Severity.WARNING)}
    scene.containers["child"] = {SymptomType.OOM_KILLED: Severity.ERROR}
    scene.drifts = {("shop", "web", kind) for kind in DriftType}
    scene.unknown = {"other"}
    scene.seconds = 26.0
    scene.endpoints = {"list": True, "stats": False}
    record.stage.own.record_reload(NOON, successful=False)
    for number in range(36):
        scene.state_errors += number % 3 == 0
        record.stage.context.store.record_missed("drift", number % 2)
        record.moment()
    scene.containers = {name: {} for name in scene.containers}
    scene.drifts, scene.unknown, scene.seconds = set(), set(), 1.0
    scene.endpoints = {"list": True, "stats": True}
    record.stage.own.record_reload(NOON, successful=True)
    record.moments(66)
    return record


def old_trouble() -> Recorder:
    """What has been there for almost an hour and almost a day; then scans that are no longer started."""
    record = Recorder(Stage(cap=1))
    scene, since = record.stage.scene, record.stage.drift_since
    stopped, extra = ("shop", "job", DriftType.NOT_RUNNING), ("shop", "web", DriftType.EXTRA_CONTAINER)
    scene.drifts, scene.stopped = {stopped, extra}, {("shop", "job")}
    since[stopped], since[extra] = NOON - timedelta(days=1, minutes=-3), NOON - timedelta(hours=1, minutes=-4)
    scene.containers = {"api": {SymptomType.UNHEALTHY: Severity.ERROR}}
    record.moments(20)
    for _ in range(20):
        record.moment(scanned=False)
    record.moments(6)
    return record


def random_host(seed: int, *, gaps: bool = False) -> Recorder:
    """An hour of arbitrary trouble, restarts of the exporter included; with gaps no scrape succeeds meanwhile.

    A gap starts the waits of alerts on the exporter itself anew, in Prometheus only: they are not held.
    """
    chance = random.Random(seed)
    record = Recorder(Stage(cap=1), ON_THE_EXPORTER if gaps else None)
    scene = record.stage.scene
    names = ("api", "db", "job")
    kinds = (SymptomType.OOM_KILLED, SymptomType.UNHEALTHY, SymptomType.HIGH_CPU, SymptomType.EXIT_ERROR)
    for _ in range(120):
        if chance.random() < 0.25:
            name = chance.choice(names)
            if chance.random() < 0.2:
                scene.containers.pop(name, None)
            else:
                worth = (Severity.CRITICAL, Severity.ERROR, Severity.INFO, None)
                scene.containers.setdefault(name, {})[chance.choice(kinds)] = chance.choice(worth)
        if chance.random() < 0.2:
            project, service = chance.choice(scene.services)
            scene.drifts ^= {(project, service, chance.choice(tuple(DriftType)))}
            scene.stopped ^= {(project, service)} if chance.random() < 0.3 else set()
            scene.unknown ^= {project} if chance.random() < 0.3 else set()
        scene.engine_up = chance.random() < (0.95 if scene.engine_up else 0.2)
        scene.diagnose_works = chance.random() < (0.95 if scene.diagnose_works else 0.3)
        scene.drift_works = chance.random() < (0.95 if scene.drift_works else 0.3)
        scene.endpoints = {"list": True, "stats": chance.random() < 0.8}
        if chance.random() < 0.04:
            if gaps:
                record.moment(scraped=False)
            record.stage.restart()
            record.moment(scanned=False)
        record.moment()
    return record


SCENARIOS: dict[str, Callable[[], Recorder]] = {
    "every row": every_row,
    "old trouble": old_trouble,
    "seed 1": lambda: random_host(1),
    "seed 2": lambda: random_host(2),
    "seed 3, with gaps": lambda: random_host(3, gaps=True),
}


def longer_ranges(rules: str) -> str:
    """Rules that see the sample at a range's beginning; the series here are scraped at round times, hosts never are."""
    longer, count = re.subn(r"\[(\d+[smhd])\]", r"[\g<1>1ms]", rules)
    assert count > 0
    return longer


@pytest.mark.contract
def test_prometheus_fires_what_the_push_fires_and_every_alert_fires(tmp_path: Path) -> None:
    recorded = {name: play() for name, play in SCENARIOS.items()}
    tests = [unit_test(name, record) for name, record in recorded.items()]
    promtool = need("promtool")
    takes_beginning = prometheus_differences(promtool).takes_a_ranges_beginning
    (tmp_path / "bcon.rules.yml").write_text(RULES if takes_beginning else longer_ranges(RULES))
    whole = {"rule_files": ["bcon.rules.yml"], "evaluation_interval": f"{EVERY_SECONDS}s", "tests": tests}
    (tmp_path / "tests.yml").write_text(json.dumps(whole))

    tested = subprocess.run(
        [promtool, "test", "rules", "tests.yml"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert tested.returncode == 0, (tested.stdout + tested.stderr)[:4000]
    assert sorted(set().union(*(record.names for record in recorded.values()))) == JUDGED_BY_BOTH
