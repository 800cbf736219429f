"""The shipped rules are those of the table, promtool accepts and proves them, and every alert has test and runbook."""

from __future__ import annotations

import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from bcon_exporter import RUNBOOKS_URL
from bcon_exporter.alerting import ALERTS
from bcon_exporter.alerting.recordings import RECORDINGS
from bcon_exporter.alerting.rule_file import render_rule_file
from bcon_exporter.cli.main import main
from bcon_exporter.outputs.metrics import FAMILIES
from tests.programs import need

ROOT = Path(__file__).parents[2]
RULES = ROOT / "alerts" / "bcon.rules.yml"
TESTS = ROOT / "alerts" / "bcon.rules.test.yml"
NAMES = sorted({rule.name for rule in ALERTS})
SHIPPED = sorted({rule.name for rule in ALERTS if not rule.opt_in})
HEADINGS = ["## Meaning", "## Impact", "## Diagnosis", "## Mitigation"]
READING = re.compile(
    r"bcon-exporter (diagnose|drift|explain|stats|health|alerts|untracked|check-config)\b"
    r"|curl -sv? http|amtool alert query"
    r"|promtool check|systemctl status|journalctl|dmesg|df |ls |ss |top |ps |git log"
    r"|docker (logs|inspect|stats|version|events|top|ps|image inspect|network inspect|system df)\b"
    r"|docker compose .*(ps|config)\b"
)


def promtool(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [need("promtool"), *words], cwd=ROOT / "alerts", capture_output=True, text=True, check=False, timeout=300
    )


def test_the_committed_rules_are_those_of_the_table() -> None:
    assert RULES.read_text() == render_rule_file(), "run make rules"


@pytest.mark.contract
def test_promtool_finds_no_fault_in_the_rules() -> None:
    checked = promtool("check", "rules", "--lint=all", "--lint-fatal", RULES.name)

    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.contract
def test_every_unit_test_of_the_rules_succeeds() -> None:
    tested = promtool("test", "rules", TESTS.name)

    assert tested.returncode == 0, (tested.stdout + tested.stderr)[-5000:]


@cache
def unit_tests() -> list[dict[str, Any]]:
    tests: list[dict[str, Any]] = yaml.safe_load(TESTS.read_text())["tests"]
    return [check for test in tests for check in test.get("alert_rule_test", ())]


@pytest.mark.parametrize("name", SHIPPED)
def test_every_alert_is_shown_to_fire_and_not_to_fire(name: str) -> None:
    expected = [bool(check["exp_alerts"]) for check in unit_tests() if check["alertname"] == name]

    assert True in expected
    assert name == "BconWatchdog" or False in expected


def test_no_rule_names_a_scrape_job() -> None:
    assert not re.search(r"job\s*=~?\s*\"", render_rule_file().replace("{job=%q", ""))


def test_every_metric_in_the_rules_exists() -> None:
    text = "\n".join(str(rule["expr"]) for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"])
    recorded = {recording.name for recording in RECORDINGS}
    named = set(re.findall(r"\b(?:\w+:)?bcon_\w+(?::\w+)?", text)) - recorded

    assert len(named) > 10
    assert named <= {family.name for family in FAMILIES}


def test_an_opt_in_alert_is_a_comment_that_becomes_a_rule_when_uncommented(tmp_path: Path) -> None:
    text = RULES.read_text()
    assert "BconUntrackedContainers" not in {rule.get("alert") for rule in yaml.safe_load(text)["groups"][0]["rules"]}

    start = text.index("  # - alert: BconUntrackedContainers")
    uncommented = text[:start] + re.sub(r"(?m)^  # ", "  ", text[start:])
    (tmp_path / "all.yml").write_text(uncommented)

    assert promtool("check", "rules", str(tmp_path / "all.yml")).returncode == 0
    assert "BconUntrackedContainers" in str(yaml.safe_load(uncommented))


def test_the_runbooks_lie_below_the_documentation_of_the_project() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]

    assert urls["Documentation"].replace("/tree/", "/blob/") + "/runbooks/" == RUNBOOKS_URL


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


@pytest.mark.parametrize("name", NAMES)
def test_every_alert_has_a_runbook_whose_commands_only_read(name: str) -> None:
    text = (ROOT / "docs" / "runbooks" / f"{name}.md").read_text()
    commands = re.findall(r"^\$ (.+)$", text, re.MULTILINE)

    assert text.startswith(f"# {name}\n")
    assert re.findall(r"^## .+$", text, re.MULTILINE) == HEADINGS
    assert commands
    parts = [part.strip() for command in commands for part in re.split(r"[;]|\s#", command)[:1]]
    assert [part for part in parts if not READING.match(part)] == []


def test_no_runbook_is_left_over_and_the_alerts_page_lists_every_alert() -> None:
    assert sorted(path.stem for path in (ROOT / "docs" / "runbooks").glob("*.md")) == NAMES
    page = (ROOT / "docs" / "alerts.md").read_text()
    listed = re.findall(r"^\| \[(\w+)\]\(runbooks/\w+\.md\) \| (\w+) \| (\w*) \| (\w*) \|", page, re.MULTILINE)
    wanted = [(rule.name, rule.severity.value, shown(rule.wait_seconds), shown(rule.keep_seconds)) for rule in ALERTS]
    assert listed == wanted


def shown(seconds: int) -> str:
    """A duration as the page writes it."""
    return "" if not seconds else f"{seconds // 3600}h" if seconds % 3600 == 0 else f"{seconds // 60}m"
