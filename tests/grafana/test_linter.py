"""The dashboards keep the rules of Grafana's dashboard-linter; none is excluded. Each test names its rules."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from grafana_foundation_sdk.models import units

from bcon_exporter.outputs.metrics import FAMILIES
from grafana.dashboards import DASHBOARDS
from tests.grafana.reading import all_chosen, expand, load, panels, variables
from tests.programs import need

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
SELECTOR = re.compile(r"(?<![\w$])([a-z]\w*_\w+)(\{[^}]*\})?(\[[^]]*\])?")
"""A metric's name always has an underscore here; labels in `by` and `on` are told apart by what follows them."""
LABELS = {"compose_file", "server_version", "group_left", "histogram_quantile"}
FUNCTIONS = {"label_replace", "max_over_time", "avg_over_time", "last_over_time", "label_values"}
VALUES = {
    "__range": "6h",
    "__rate_interval": "2m",
    "container": "web",
}
METRICS = {
    *(family.name for family in FAMILIES),
    *(f"{family.name}_bucket" for family in FAMILIES if family.kind == "histogram"),
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
}

boards = pytest.mark.parametrize("uid", DASHBOARDS)


def expressions(uid: str) -> list[str]:
    """Every query of a dashboard as it stands there."""
    board = load(uid)
    noted = [each["expr"] for each in board["annotations"].get("list", ())]
    return [*(target["expr"] for panel in panels(board) for target in panel["targets"]), *noted]


def selectors(expr: str) -> list[tuple[str, str, str]]:
    """Name, matchers and range of every selector in a query."""
    bare = re.sub(r'"[^"]*"', lambda quoted: quoted[0].replace("_", "-").replace("}", "-"), expr)
    spans = [found for found in SELECTOR.finditer(bare) if found[1] not in LABELS | FUNCTIONS]
    return [(found[1], expr[found.start(2) : found.end(2)] if found[2] else "", found[3] or "") for found in spans]


@boards
def test_template_datasource_rule(uid: str) -> None:
    sources = [each for each in variables(load(uid)).values() if each["type"] == "datasource"]
    assert [(each["name"], each["label"], each["query"]) for each in sources] == [
        ("datasource", "Data source", "prometheus")
    ]


@boards
@pytest.mark.parametrize("name", ["job", "instance"])
def test_template_job_and_instance_rules(uid: str, name: str) -> None:
    variable = variables(load(uid))[name]
    assert variable["type"] == "query"
    assert variable["datasource"] == SOURCE
    assert variable["label"] == name.title()
    assert variable["multi"]
    assert variable["includeAll"]
    assert variable["allValue"] == ".+"


@pytest.mark.integration
@boards
def test_template_label_promql_and_reload_rules(uid: str, tmp_path: Path) -> None:
    queries = [each for each in variables(load(uid)).values() if each["type"] == "query"]
    assert {each["refresh"] for each in queries} == {2}
    found = [re.fullmatch(r"label_values\((.+), (\w+)\)", each["query"]["query"]) for each in queries]
    assert [each["definition"] for each in queries] == [each["query"]["query"] for each in queries]
    check_promql([told[1] for told in found if told], load(uid), tmp_path)
    assert None not in found


@boards
def test_uneditable_dashboard_rule(uid: str) -> None:
    assert load(uid)["editable"] is False


@boards
def test_panel_datasource_and_no_targets_rules(uid: str) -> None:
    for panel in panels(load(uid)):
        assert panel["datasource"] == SOURCE, panel["title"]
        assert panel["targets"], panel["title"]
        assert [target["datasource"] for target in panel["targets"]] == [SOURCE] * len(panel["targets"])


@boards
def test_panel_title_description_rule(uid: str) -> None:
    texts = [(panel.get("title"), panel.get("description")) for panel in panels(load(uid))]
    assert [pair for pair in texts if not all(pair)] == []


@boards
def test_panel_units_rule(uid: str) -> None:
    known = {value for name, value in vars(units).items() if name[0].isupper()}
    used = {panel["title"]: panel["fieldConfig"]["defaults"]["unit"] for panel in panels(load(uid))}
    assert {title: unit for title, unit in used.items() if unit not in known} == {}


@pytest.mark.integration
@boards
def test_target_promql_rule(uid: str, tmp_path: Path) -> None:
    check_promql(expressions(uid), load(uid), tmp_path)


def check_promql(expressions: list[str], board: dict[str, Any], folder: Path) -> None:
    """Let promtool parse queries with their variables put in."""
    values = all_chosen(board) | VALUES
    rules = [{"record": f"a:b:{n}", "expr": expand(each, values)} for n, each in enumerate(expressions)]
    file = folder / "queries.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
    checked = subprocess.run(
        [need("promtool"), "check", "rules", str(file)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@boards
def test_target_rate_interval_rule(uid: str) -> None:
    rates = [told for each in expressions(uid) for told in re.findall(r"\bi?rate\(\w+\{[^}]*\}(\[[^]]*\])", each)]
    assert rates
    assert set(rates) == {"[$__rate_interval]"}


@boards
def test_target_job_and_instance_rules(uid: str) -> None:
    found = [told for each in expressions(uid) for told in selectors(each)]
    assert {name for name, _, _ in found} <= METRICS
    unmatched = [told for told in found if 'job=~"$job"' not in told[1] or 'instance=~"$instance"' not in told[1]]
    assert unmatched == []


@boards
def test_target_counter_agg_rule(uid: str) -> None:
    for each in expressions(uid):
        grown = set(re.findall(r"\b(?:rate|irate|increase)\((\w+)\{[^}]*\}\[", each))
        counters = {name for name, _, _ in selectors(each) if name.endswith("_total")}
        assert counters <= grown, each
