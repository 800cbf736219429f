"""Real containers that fail in known ways are diagnosed as such by the running daemon; look-alikes are left alone.

The scenarios, each with its trap, stand in tests/docker/scenarios/table; all are started at once on one engine.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.model.findings import SymptomType
from tests.docker.daemon import Daemon
from tests.docker.scenarios.naive import find_symptoms
from tests.docker.scenarios.score import Score, Verdict, judge, render, score
from tests.docker.scenarios.stage import INTERVAL, Seen, add_files_to_image, find_faults, play
from tests.docker.scenarios.table import LOGS, Scenario, load_table

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.slow]

TABLE = load_table()
AT_LEAST = 60
STATUS_RIGHT = 0.95
SYMPTOMS_F1 = 0.95
CAUSE_RIGHT = 0.90


def test_the_running_daemon_judges_the_scenarios_as_the_table_says(engine: TestEngine, tmp_path: Path) -> None:
    add_files_to_image(engine)
    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval", INTERVAL) as daemon:
        daemon.wait_until_ready()
        seen = play(daemon, engine, TABLE)

    verdicts = [judge(each, seen[each.id]) for each in TABLE]
    found = score(verdicts)
    shown = render(found, verdicts)
    assert found.healthy_flagged == (), shown
    assert found.status_right >= STATUS_RIGHT, shown
    assert found.symptoms_f1 >= SYMPTOMS_F1, shown
    assert found.cause_right >= CAUSE_RIGHT, shown


STAGED_ELSEWHERE = {
    SymptomType.LOG_UNBOUNDED,  # a rate is known after minutes, and a disk is full after hours: test_disk
    SymptomType.NOT_STARTED_AGAIN,  # the engine is restarted: test_one_message
    SymptomType.STALE_NAMESPACE,  # another container is started again: test_one_message
}


def test_the_table_has_every_symptom_and_many_that_only_look_ill() -> None:
    statuses = Counter(each.status for each in TABLE)
    assert len(TABLE) >= AT_LEAST
    assert statuses["healthy"] >= len(TABLE) / 4
    assert {name for each in TABLE for name in each.symptoms} == set(SymptomType) - STAGED_ELSEWHERE
    assert {each.replay for each in TABLE if each.replay} == {path.name for path in LOGS.glob("*.log")}


def made(status: str = "error", symptoms: tuple[str, ...] = ("exit_error",), cause: str = "program_error") -> Seen:
    """A report of the daemon, as far as it is judged."""
    report = {
        "status": status,
        "symptoms": [{"type": name, "severity": "error"} for name in symptoms],
        "likely_causes": [{"id": cause, "peer": None}],
    }
    return Seen(report, [(0.0, status, frozenset(symptoms))])


EXITED = Scenario(
    id="exited", kind="test", sh="exit 1", status="error", symptoms=frozenset({SymptomType.EXIT_ERROR}),
    may=frozenset({SymptomType.LOG_ERROR}), cause=("program_error",),
)  # fmt: skip
WELL = Scenario(id="well", kind="test", command="serve", status="healthy")


@pytest.mark.parametrize(
    ("seen", "faults"),
    [
        (made(), 0),
        (made(symptoms=("exit_error", "log_error")), 0),
        (made(symptoms=()), 1),
        (made(symptoms=("exit_error", "oom_killed")), 1),
        (made(status="critical"), 1),
        (made(cause="killed_from_outside"), 1),
        (Seen(), 1),
    ],
)
def test_each_difference_from_the_table_is_a_fault(seen: Seen, faults: int) -> None:
    assert len(find_faults(EXITED, seen.report)) == faults


def test_a_healthy_one_that_was_ever_shown_as_ill_counts_as_flagged() -> None:
    well = made("healthy", (), "")
    ill_before = Seen(well.report, [(0.0, "error", frozenset({"log_error"})), *well.changes])
    assert flagged(judge(WELL, well)) == ()
    assert flagged(judge(WELL, ill_before)) == ("well",)
    assert flagged(judge(WELL.model_copy(update={"passing": True}), ill_before)) == ()


def flagged(verdict: Verdict) -> tuple[str, ...]:
    return score([verdict]).healthy_flagged


def test_the_score_counts_what_is_right_missed_and_too_much() -> None:
    found: Score = score(
        [judge(EXITED, made()), judge(EXITED, made(symptoms=("oom_killed", "log_error"), status="critical", cause="x"))]
    )
    assert (found.status_right, found.cause_right) == (0.5, 0.5)
    assert found.symptoms_f1 == pytest.approx(2 / (2 + 2))
    assert found.statuses["error"] == {"healthy": 0, "warning": 0, "error": 1, "critical": 1, "absent": 0}
    assert found.symptoms["oom_killed"] == {"right": 0, "missed": 0, "too_much": 1}


def test_the_naive_matcher_takes_states_and_words_literally() -> None:
    stopped = {"State": {"OOMKilled": False, "ExitCode": 137, "Running": False}, "RestartCount": 2}
    well = {"State": {"OOMKilled": False, "ExitCode": 0, "Running": True}, "RestartCount": 3}
    assert find_symptoms(stopped, "done, errors=0", 0.0, 0.0) == ["exit_error", "log_error", "oom_killed"]
    assert find_symptoms(well, "all well", 80.1, 85.0) == ["high_cpu", "restart_loop"]
