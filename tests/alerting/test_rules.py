"""promtool accepts and proves the shipped rules, every recording is needed, and every alert has test and runbook."""

from __future__ import annotations

import re
import subprocess
import tomllib
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from bcon_exporter import DOCS_URL
from bcon_exporter.alerting import INCIDENT_ALERT
from bcon_exporter.cli.main import main
from bcon_exporter.model.findings import DriftType, SymptomType
from bcon_exporter.outputs.metrics import FAMILIES
from tests.alerting.rule_file import OPT_IN, ROOT, RULES, TESTS, read_alerts, read_rules, uncomment
from tests.programs import need
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path

ALERTS = read_alerts()
NAMES = sorted({alert.name for alert in ALERTS})
SHIPPED = sorted(set(NAMES) - {OPT_IN})
RECORDINGS = {rule["record"]: rule["expr"] for rule in read_rules() if "record" in rule}
HEADINGS = ["## Meaning", "## Impact", "## Diagnosis", "## Mitigation"]
READING = re.compile(
    r"bcon-exporter (diagnose|drift|explain|stats|health|alerts|untracked|check-config|history|incidents)\b"
    r"|curl -sv? http|amtool alert query"
    r"|promtool check|systemctl status|journalctl|dmesg|df |ls |ss |top |ps |git log"
    r"|docker (logs|inspect|stats|version|events|top|ps|image inspect|network inspect|system df)\b"
    r"|docker compose .*(ps|config)\b"
)


def promtool(*words: str, folder: Path = RULES.parent) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [need("promtool"), *words], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.integration
@pytest.mark.contract
def test_promtool_finds_no_fault_in_the_rules() -> None:
    checked = promtool("check", "rules", "--lint=all", "--lint-fatal", RULES.name)

    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.integration
@pytest.mark.contract
def test_every_unit_test_of_the_rules_succeeds() -> None:
    tested = promtool("test", "rules", TESTS.name)

    assert tested.returncode == 0, (tested.stdout + tested.stderr)[-5000:]


@cache
def unit_tests() -> dict[str, dict[str, Any]]:
    """promtool's tests by name."""
    return {test["name"]: test for test in yaml.safe_load(TESTS.read_text())["tests"]}


HANG = "A hung engine under five explained containers and a quiet one is one alert"
OUTAGE = "An engine outage of half an hour resolves nothing, restarts nothing and raises nothing"
NEEDED_FOR = {
    "instance:bcon_blind:bool": ("vector(0) > 1", OUTAGE),
    "container:bcon_symptom:held": ("bcon_container_symptom == 1", OUTAGE),
    "container:bcon_status:held": ("bcon_container_status > 0", OUTAGE),
    "container:bcon_explained:held": (
        "bcon_container_explained and on (job, instance, container, project, service)"
        " time() - bcon_container_explained_start_timestamp_seconds < 900",
        HANG,
    ),
    "container:bcon_breaks_others:held": (
        "bcon_container_status and on (job, instance, container) label_replace(group by (job, instance, root)"
        ' (bcon_container_explained), "container", "$1", "root", "(.+)")',
        "BconContainerBreaksOthers tells of a root that shows nothing itself, also through an outage, and of no other",
    ),
    "container:bcon_quiet:held": ("bcon_container_quiet == 1", HANG),
    "instance:bcon_disk_exhaustion:held": (
        "bcon_disk_exhaustion_timestamp_seconds",
        "BconDiskFullSoon fires within a day and not before, names who fills it, and goes on in an outage",
    ),
    "instance:bcon_unused_volume_growth:held": (
        "bcon_volume_growth_bytes_per_day > 104857600"
        " and on (job, instance, volume, project) bcon_volume_containers == 0",
        "BconVolumeGrowsUnused fires for a volume without a container that grows fast, for no other,"
        " and goes on in an outage",
    ),
    "service:bcon_drift_items:held": ("bcon_drift_items > 0", OUTAGE),
    "service:bcon_drift_start_timestamp_seconds:held": (
        "bcon_drift_start_timestamp_seconds",
        "BconServiceStopped goes on in an outage, since it is held since when the service has been stopped",
    ),
    "service:bcon_stop_requested:held": ("bcon_service_stop_requested == 1", OUTAGE),
    "container:bcon_symptom:unmuted": (
        "container:bcon_symptom:held",
        "A container that another explains is quiet for 15 minutes, and then speaks for itself",
    ),
    "service:bcon_drift_items:unmuted": (
        "service:bcon_drift_items:held",
        "A container that another explains is quiet for 15 minutes, and then speaks for itself",
    ),
}
"""Recording → what it would be if it carried and muted nothing, and the test that fails then."""
WITHOUT_THEIR_GUARD = {
    "container:bcon_symptom:unmuted": "What fires already goes on when it is explained, and when it becomes quiet",
    "service:bcon_drift_items:unmuted": "What fires already goes on when it is explained, and when it becomes quiet",
    "container:bcon_explained:held": "A container whose explanation cannot be judged in a partial hang stays explained",
    "container:bcon_symptom:held": "A container that is removed in a partial hang resolves at once,"
    " an unjudged symptom of another does not",
    "service:bcon_drift_items:held": "BconConfigDrift is held while the containers of its service cannot be inspected,"
    " and another service differs",
}
"""Recording → the test that fails without the last part of it."""


def test_every_recording_is_shown_to_be_needed() -> None:
    assert sorted(NEEDED_FOR) == sorted(RECORDINGS)


@pytest.mark.integration
@pytest.mark.parametrize("recording", NEEDED_FOR)
def test_a_recording_that_carries_and_mutes_nothing_fails_a_test(tmp_path: Path, recording: str) -> None:
    naive, test = NEEDED_FOR[recording]

    assert fails(tmp_path, recording, naive, test)


@pytest.mark.integration
@pytest.mark.parametrize("recording", WITHOUT_THEIR_GUARD)
def test_a_recording_without_its_last_part_fails_a_test(tmp_path: Path, recording: str) -> None:
    shorter, _, last = RECORDINGS[recording].rpartition("\nor\n")
    assert last

    assert fails(tmp_path, recording, shorter, WITHOUT_THEIR_GUARD[recording])


def fails(folder: Path, recording: str, expr: str, test: str) -> bool:
    """Whether a test of promtool fails with another expression of a recording, and succeeds with its own."""
    rules = yaml.safe_load(RULES.read_text())
    whole = {"rule_files": ["rules.yml"], "evaluation_interval": "30s", "tests": [unit_tests()[test]]}
    (folder / "tests.yml").write_text(yaml.safe_dump(whole))
    codes = []
    for tried in (RECORDINGS[recording], expr):
        next(rule for rule in rules["groups"][0]["rules"] if rule.get("record") == recording)["expr"] = tried
        (folder / "rules.yml").write_text(yaml.safe_dump(rules, sort_keys=False))
        tested = promtool("test", "rules", "tests.yml", folder=folder)
        said = tested.stdout + tested.stderr
        assert "FAILED" in said or tested.returncode == 0, said
        codes.append(tested.returncode)
    return codes == [0, 1]


@table("name", SHIPPED)
def test_every_alert_is_shown_to_fire_and_not_to_fire(name: str) -> None:
    shown = [
        bool(check["exp_samples"])
        for test in unit_tests().values()
        for check in test.get("promql_expr_test", ())
        if f'alertname="{name}"' in check["expr"]
    ]

    assert True in shown
    assert name == "BconWatchdog" or False in shown


def test_no_rule_names_a_scrape_job() -> None:
    assert not re.search(r"job\s*=~?\s*\"", RULES.read_text())


def test_every_metric_in_the_rules_exists() -> None:
    named = set(re.findall(r"\b(?:\w+:)?bcon_\w+(?::\w+)?", str([rule["expr"] for rule in read_rules()])))
    asked = set(re.findall(r"`(bcon_\w+)\{", RULES.read_text()))

    assert len(named) > 10 < len(RECORDINGS) + len(asked)
    assert (named | asked) - set(RECORDINGS) <= {family.name for family in FAMILIES}


def test_every_symptom_and_drift_in_the_rules_exists() -> None:
    exprs = "\n".join(alert.expr for alert in ALERTS)

    assert set(re.findall(r'symptom="(\w+)"', exprs)) <= set(SymptomType)
    assert set(re.findall(r'drift="(\w+)"', exprs)) == set(DriftType)


def test_alerts_of_containers_and_services_speak_of_what_is_not_muted() -> None:
    others = ("BconContainerCritical", "BconContainerBreaksOthers")
    of_containers = [alert for alert in ALERTS if alert.is_of_container and alert.name not in others]
    of_services = [alert for alert in ALERTS if alert.is_of_service]

    assert all("container:bcon_symptom:unmuted{" in alert.expr for alert in of_containers)
    assert all("service:bcon_drift_items:unmuted{" in alert.expr for alert in of_services)
    assert (len(of_containers), len(of_services)) == (19, 7)


@table("alert", ALERTS, ids=lambda alert: f"{alert.name}-{alert.severity}")
def test_every_alert_holds_what_one_needs_to_act(alert: Any) -> None:
    needed = {"summary", "description", "runbook_url"}
    if alert.name not in ("BconWatchdog", OPT_IN):
        needed |= {"step"}
    if alert.is_of_service:
        needed |= {"since"}
    if alert.is_of_container:
        needed |= {"cause", "page"} | ({"since"} if "symptom=" in alert.expr.partition("unless")[0] else set())

    assert set(alert.annotations) == needed
    assert alert.severity in ("critical", "warning", "info", "none")
    assert alert.annotations["runbook_url"].endswith(f'| first | label "runbooks" }}}}{alert.name}.md{{{{ end }}}}')


def test_alerts_of_one_name_differ_in_severity() -> None:
    keys = [(alert.name, alert.severity) for alert in ALERTS]

    assert len(set(keys)) == len(keys)


@pytest.mark.integration
def test_an_opt_in_alert_is_a_comment_that_becomes_a_rule_when_uncommented(tmp_path: Path) -> None:
    text = RULES.read_text()
    assert OPT_IN not in {rule.get("alert") for rule in yaml.safe_load(text)["groups"][0]["rules"]}

    (tmp_path / "all.yml").write_text(uncomment(text))

    assert promtool("check", "rules", str(tmp_path / "all.yml")).returncode == 0


def test_the_documents_lie_where_the_metadata_say() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]

    assert urls["Documentation"].replace("/tree/", "/blob/") + "/" == DOCS_URL


@pytest.mark.integration
def test_the_command_prints_the_rules_and_links_the_runbooks_where_they_lie(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["rules"]) == 0
    assert capsys.readouterr().out == RULES.read_text()

    assert main(["rules", "--alerts.runbooks-url", "https://wiki.example/a#b"]) == 2
    assert "alerts.runbooks-url: has a query" in capsys.readouterr().err

    assert main(["rules", "--alerts.runbooks-url", "https://wiki.example/bcon's: (ops)"]) == 0
    (tmp_path / "rules.yml").write_text(capsys.readouterr().out)
    rules = yaml.safe_load((tmp_path / "rules.yml").read_text())["groups"][0]["rules"]
    links = {rule["annotations"]["runbook_url"] for rule in rules if "alert" in rule}
    assert links == {f"https://wiki.example/bcon's: (ops)/{name}.md" for name in SHIPPED}
    assert promtool("check", "rules", str(tmp_path / "rules.yml")).returncode == 0


@table("name", sorted((*NAMES, INCIDENT_ALERT)))
def test_every_alert_has_a_runbook_whose_commands_only_read(name: str) -> None:
    text = (ROOT / "docs" / "runbooks" / f"{name}.md").read_text()
    commands = re.findall(r"^\$ (.+)$", text, re.MULTILINE)

    assert text.startswith(f"# {name}\n")
    assert re.findall(r"^## .+$", text, re.MULTILINE) == HEADINGS
    assert commands
    parts = [part.strip() for command in commands for part in re.split(r"[;]|\s#", command)[:1]]
    assert [part for part in parts if not READING.match(part)] == []


def test_no_runbook_is_left_over_and_the_alerts_page_lists_every_alert() -> None:
    assert sorted(path.stem for path in (ROOT / "docs" / "runbooks").glob("*.md")) == sorted((*NAMES, INCIDENT_ALERT))
    page = (ROOT / "docs" / "alerts.md").read_text()
    listed = re.findall(r"^\| \[(\w+)\]\(runbooks/\w+\.md\) \| (\w+) \| (\w*) \| (\w*) \|", page, re.MULTILINE)
    assert listed == [(alert.name, alert.severity, alert.waits, alert.kept) for alert in ALERTS]
