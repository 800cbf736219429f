"""A cascade, a pair and a quiet thing of `make incidents`, through the real Prometheus and Alertmanager."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.incidents_bench.cases import HALVES, Place, read_cases, render_project
from tests.incidents_bench.image import build_bench_image
from tests.incidents_bench.judge import judge
from tests.incidents_bench.monitoring import monitoring, shorten_rules
from tests.incidents_bench.play import WATCHED_SECONDS, Played, Stage, check_steps
from tests.waiting import wait_until

if TYPE_CHECKING:
    from tests.docker.conftest import TestEngine

SAMPLE = ("other-project-config", "pair-one-project", "quiet-night-backup")
STARTED_WITHIN_SECONDS = 180.0
COUNTS = {"cascade": 36, "pair": 12, "quiet": 15}
"""Beside the quiet cases two whole hosts are played: hosts.py."""


def test_every_case_names_what_is_there() -> None:
    cases = read_cases()
    for case in cases:
        check_steps(case)
        if isinstance(case.expect.root, Place):
            place = case.place(case.expect.root)
            assert place.service in case.projects[str(place.project)]["services"]
    assert {kind: sum(case.kind == kind for case in cases) for kind in COUNTS} == COUNTS
    assert sum(case.late_root for case in cases) >= 8
    assert sum(case.expect.root == "unknown" for case in cases) >= 2
    assert {case.half for case in cases} == set(HALVES)


def test_a_project_is_written_as_compose_wants_it() -> None:
    (case,) = read_cases("other-project-config")
    text = render_project(case, "base", case.projects["base"])
    assert "name: other-project-config-base" in text
    assert "$$(stamp)" in text, "Compose is to leave the shell's own variables alone"
    assert "name: other-project-config-shared" in text


def test_all_waits_of_the_rules_are_shortened_alike() -> None:
    rules = shorten_rules((Path(__file__).parents[2] / "alerts" / "bcon.rules.yml").read_text(), 10)
    assert "< 90" in rules
    assert "for: 12s" in rules
    assert "[6m" not in rules
    assert "5m" not in rules


@pytest.mark.docker
@pytest.mark.slow
def test_a_sample_of_failures_is_one_message_each(engine: TestEngine, tmp_path: Path) -> None:
    build_bench_image(engine)
    projects = tmp_path / "projects"
    played = [Played(case, engine, projects / case.id) for case in read_cases(*SAMPLE)]
    for one in played:  # before the exporter starts, so that the fault is none of the deployment's
        one.deploy()
    wait_until(  # whoever was up before the one it asks has failed once
        lambda: all(one.has_worked() for one in played),
        "the services to know one another",
        timeout_seconds=STARTED_WITHIN_SECONDS,
        every_seconds=1,
    )
    with monitoring(engine, tmp_path / "watch", projects) as watching, ThreadPoolExecutor(len(played)) as pool:
        stage = Stage(engine, watching, projects, watched=50.0, watched_at_most=WATCHED_SECONDS, deployed=8.0)
        verdicts = [judge(one.case, seen) for one, seen in zip(played, pool.map(stage.go_on, played), strict=True)]
    faults = [f"{verdict.id}: {fault}" for verdict in verdicts for fault in verdict.faults]
    assert not faults, "\n".join(faults)
