"""What the host lacks, what a container may not do, and whose limit is reached: logs as programs write them."""

from pathlib import Path

import yaml

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis import analyze, lines_of
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.log_reports import LogAnalysis

LOGS = yaml.safe_load((Path(__file__).parent / "host_kinds.yaml").read_text())


def test_the_first_cause_is_that_of_the_host_the_privilege_or_the_limit() -> None:
    said = {row["name"]: _analyze(row["log"]) for row in LOGS["first_causes"]}
    causes = {name: analysis.causes[0].id if analysis.causes else None for name, analysis in said.items()}

    assert causes == {row["name"]: row["cause"] for row in LOGS["first_causes"]}
    assert [name for name, analysis in said.items() if not analysis.suggestions] == []


def test_the_same_subjects_of_a_healthy_program_are_no_failure() -> None:
    said = {row["name"]: _analyze(row["log"]) for row in LOGS["quiet"]}
    ill = {
        name: [event.example for event in analysis.events]
        for name, analysis in said.items()
        if any(symptom.severity is not Severity.INFO for symptom in analysis.symptoms)
    }

    assert ill == {}


def _analyze(log: str) -> LogAnalysis:
    return analyze(lines_of(log.splitlines()), load_catalogue())
