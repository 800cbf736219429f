"""Docs cannot rot: every symptom, drift type, metric, setting, error code and tool is found in its document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.engine.allowlist import ALLOWED_PATHS
from bcon_exporter.errors import ErrorCode
from bcon_exporter.model.desired import ProjectProblem
from bcon_exporter.model.findings import DriftType, SymptomType
from bcon_exporter.outputs.metrics import FAMILIES
from bcon_exporter.settings import list_settings
from bcon_exporter.tools import TOOLS
from tests.architecture.sources import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable

PROMISED = {
    "docs/symptoms.md": [symptom.value for symptom in SymptomType],
    "docs/drift.md": [drift.value for drift in DriftType],
    "docs/metrics.md": [family.name for family in FAMILIES],
    "docs/configuration.md": [f"--{name}" for name in list_settings()],
    "docs/api.md": [*(code.value for code in ErrorCode), *(tool.name for tool in TOOLS)],
}
CONFIGURATION = ROOT / "docs" / "configuration.md"


def find_missing(document: str, names: Iterable[str]) -> list[str]:
    """Names that do not stand as words in a document."""
    text = (ROOT / document).read_text()
    return [name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]


@pytest.mark.parametrize("document", PROMISED)
def test_the_document_names_everything_it_promises(document: str) -> None:
    assert find_missing(document, PROMISED[document]) == []


def test_no_document_names_a_metric_that_does_not_exist() -> None:
    known = {name for family in FAMILIES for name in (family.name, family.base_name)}
    text = (ROOT / "docs" / "metrics.md").read_text()
    named = {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"\bbcon_[a-z_]+[a-z]\b", text)}
    assert named - known == {"bcon_exporter"} & named


def test_the_paths_for_a_proxy_are_those_on_the_allow_list() -> None:
    listed = re.findall(r"`(/[^`]+)`", CONFIGURATION.read_text().partition("| path |")[2].partition("\n\n")[0])
    assert sorted(listed) == sorted(ALLOWED_PATHS)


def test_every_setting_has_the_same_meaning_in_the_document_and_in_help() -> None:
    text = CONFIGURATION.read_text()
    meanings = {name: str(field.description).partition(" Default: ")[0] for name, field in list_settings().items()}
    assert [name for name, meaning in meanings.items() if f"| {meaning}" not in text] == []


def test_the_metrics_document_lists_every_reason_of_an_unreadable_project() -> None:
    table = (ROOT / "docs" / "metrics.md").read_text().partition("| reason | when |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [each.value for each in ProjectProblem]


def test_every_stop_of_the_tour_leads_to_a_file() -> None:
    tour = (ROOT / "docs" / "development" / "tour.md").read_text()
    paths = re.findall(r"`(bcon_exporter/[\w/.]+)`", tour)
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_example_of_a_test_on_an_engine_is_one_that_runs() -> None:
    page = (ROOT / "docs" / "development" / "tests.md").read_text()
    example = (ROOT / "tests" / "docker" / "test_example.py").read_text()

    assert f"```python\n{example}```\n" in page


def test_the_page_about_tests_names_files_that_are_there() -> None:
    page = (ROOT / "docs" / "development" / "tests.md").read_text()
    engines = page.partition("in `tests/docker`:")[2].partition("\n## ")[0]
    modules = {f"tests/docker/{name}" for name in re.findall(r"`([\w]+\.py)`", engines)}
    paths = {path.partition(":")[0] for path in re.findall(r"`(tests/[\w/.]+)", page)}

    assert len(modules) >= 15
    assert sorted(path for path in modules | paths if not (ROOT / path).exists()) == []
    helpers = {f"tests/docker/{path.name}" for path in (ROOT / "tests" / "docker").glob("[a-z]*.py")}
    assert sorted(path for path in helpers - modules if "/test_" not in path) == [], "not in the table"
