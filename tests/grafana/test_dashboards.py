"""The shipped dashboards are those of the code, fit on a screen, and lead only to what exists."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import pytest
import yaml

from bcon_exporter import DOCS_URL
from bcon_exporter.model.findings import DriftType, SymptomType
from grafana.dashboards import DASHBOARDS
from grafana.dashboards.links import ABOUT_DRIFT, ABOUT_SYMPTOM, ALERT_OF_DRIFT, ALERT_OF_SYMPTOM
from tests.architecture.sources import ROOT
from tests.grafana.reading import FOLDER, load, panels, variables

boards = pytest.mark.parametrize("uid", DASHBOARDS)
GRID = 24
NOT_ASKED = {"Time", "__name__", "job"}


@boards
def test_the_committed_dashboard_is_that_of_the_code(uid: str) -> None:
    assert (FOLDER / f"{uid}.json").read_text() == DASHBOARDS[uid](), "run make dashboards"


def test_no_dashboard_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(DASHBOARDS)


@boards
def test_it_is_of_the_classic_model_and_refreshes_sensibly(uid: str) -> None:
    board = load(uid)
    assert (board["uid"], board["schemaVersion"], board["timezone"]) == (uid, 42, "browser")
    assert (board["refresh"], board["time"]) == ("30s", {"from": "now-6h", "to": "now"})
    assert board["title"]
    assert board["description"]
    assert not {"spec", "elements"} & set(board)


@boards
def test_it_has_the_variables_that_people_choose_hosts_and_projects_by(uid: str) -> None:
    chosen = {name: each.get("hide", 0) for name, each in variables(load(uid)).items()}
    wanted = dict.fromkeys(["datasource", "job", "instance", "project"], 0) | {"scheme": 2}
    assert chosen == wanted | ({"container": 0} if uid == "bcon-container" else {})


@boards
def test_panels_stand_on_the_grid_without_overlap(uid: str) -> None:
    placed = [panel["gridPos"] for panel in load(uid)["panels"]]
    for one, other in combinations(placed, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    assert all(each["x"] + each["w"] <= GRID for each in placed)
    assert sum(each["w"] * each["h"] for each in placed) == GRID * max(each["y"] + each["h"] for each in placed)


@boards
def test_panels_and_their_queries_have_numbers_of_their_own(uid: str) -> None:
    numbers = [panel["id"] for panel in load(uid)["panels"]]
    assert len(set(numbers)) == len(numbers)
    for panel in panels(load(uid)):
        names = [target["refId"] for target in panel["targets"]]
        assert len(set(names)) == len(names)


@boards
def test_titles_are_unique_and_no_panel_or_row_repeats(uid: str) -> None:
    titles = [panel["title"] for panel in load(uid)["panels"]]
    assert len(set(titles)) == len(titles)
    assert not [panel for panel in load(uid)["panels"] if panel.get("repeat")]


def texts(node: Any) -> list[str]:
    """Every string of a JSON document."""
    if isinstance(node, str):
        return [node]
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [text for each in inner for text in texts(each)]


@boards
def test_every_link_to_a_document_leads_to_one(uid: str) -> None:
    linked = {text.removeprefix(DOCS_URL) for text in texts(load(uid)) if text.startswith(DOCS_URL)}
    plain = {each.partition("#")[0] for each in linked if "${" not in each.partition("#")[0]}
    assert {"symptoms.md", "drift.md", "alerts.md", "metrics.md"} <= plain
    assert [each for each in plain if not (ROOT / "docs" / each).is_file()] == []


def test_every_symptom_and_type_of_drift_has_the_heading_that_is_linked() -> None:
    assert ABOUT_SYMPTOM.build().url == f"{DOCS_URL}symptoms.md#${{__value.raw}}"
    assert ABOUT_DRIFT.build().url == f"{DOCS_URL}drift.md#${{__value.raw}}"
    for name, values in {"symptoms.md": SymptomType, "drift.md": DriftType}.items():
        headings = re.findall(r"^### `?(\w+)`?$", (ROOT / "docs" / name).read_text(), re.MULTILINE)
        assert {each.value for each in values} <= set(headings)


def test_the_alerts_of_symptoms_and_drifts_have_runbooks() -> None:
    assert set(ALERT_OF_DRIFT) == {each.value for each in DriftType}
    without = {"never_started", "paused", "health_flapping", "starting", "log_unbounded"}
    assert set(ALERT_OF_SYMPTOM) == {each.value for each in SymptomType} - without
    for alert in (*ALERT_OF_DRIFT.values(), *ALERT_OF_SYMPTOM.values()):
        assert (ROOT / "docs" / "runbooks" / f"{alert}.md").is_file()


@boards
def test_a_link_between_dashboards_sets_variables_that_are_there(uid: str) -> None:
    for text in texts(load(uid)):
        if found := re.match(r"/d/([\w-]+)\?", text):
            there = variables(load(found[1]))
            kept = re.findall(r"\$\{(\w+):queryparam\}", text)
            assert {*re.findall(r"var-(\w+)=", text), *kept} == set(there), text


@boards
def test_a_row_of_a_table_links_by_columns_that_it_has(uid: str) -> None:
    for panel in (each for each in panels(load(uid)) if each["type"] == "table"):
        organized = panel["transformations"][-1]["options"]
        columns = set(organized["renameByName"].values())
        assert set(re.findall(r"__data\.fields\.(\w+)", " ".join(texts(panel)))) <= columns
        assert {each["matcher"]["options"] for each in panel["fieldConfig"]["overrides"]} <= columns
        asked = list(panel["targets"])
        values = {"Value"} if len(asked) == 1 else {f"Value #{each['refId']}" for each in asked}
        named = {each for each in organized["indexByName"] if each.startswith("Value")}
        assert named <= values, panel["title"]
        assert {each["format"] for each in asked} == {"table"}


@boards
def test_an_override_names_a_series_of_its_panel(uid: str) -> None:
    for panel in (each for each in panels(load(uid)) if each["type"] != "table"):
        legends = [target.get("legendFormat", "") for target in panel["targets"]]
        for override in panel["fieldConfig"]["overrides"]:
            if override["matcher"]["id"] == "byName":
                name = override["matcher"]["options"]
                assert name in legends or "{{level}}" in legends, (panel["title"], name)


def test_provisioning_finds_the_dashboards_and_their_data_source() -> None:
    source = yaml.safe_load((FOLDER / "provisioning/datasources/prometheus.yaml").read_text())
    provider = yaml.safe_load((FOLDER / "provisioning/dashboards/bcon.yaml").read_text())
    assert source["apiVersion"] == provider["apiVersion"] == 1
    assert [(each["type"], each["access"], each["isDefault"]) for each in source["datasources"]] == [
        ("prometheus", "proxy", True)
    ]
    assert [(each["type"], each["options"]["path"]) for each in provider["providers"]] == [
        ("file", "/var/lib/grafana/dashboards")
    ]


def test_the_monitoring_stack_mounts_them_where_provisioning_looks_and_names_prometheus_so() -> None:
    stack = yaml.safe_load((ROOT / "deploy" / "compose.monitoring.yaml").read_text())["services"]
    provider = yaml.safe_load((FOLDER / "provisioning/dashboards/bcon.yaml").read_text())["providers"][0]
    source = yaml.safe_load((FOLDER / "provisioning/datasources/prometheus.yaml").read_text())["datasources"][0]
    scraped = yaml.safe_load((ROOT / "deploy" / "prometheus.yml").read_text())["global"]["scrape_interval"]

    mounted = dict(volume.split(":")[:2] for volume in stack["grafana"]["volumes"])
    assert mounted["../grafana/provisioning"] == "/etc/grafana/provisioning"
    assert mounted["../grafana"] == provider["options"]["path"]
    assert source["url"] == "http://prometheus:9090"
    assert "prometheus" in stack
    assert source["jsonData"]["timeInterval"] == scraped
