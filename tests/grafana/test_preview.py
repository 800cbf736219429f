"""A preview shows every panel with its answers, says that it is one, and trusts no text; those shipped are current."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from grafana.dashboards import DASHBOARDS
from grafana.preview.asking import Series, ask, ask_moments, ask_values
from grafana.preview.board import NOTICE, draw
from grafana.preview.fields import ago, coloured, field_of, shown, with_unit
from grafana.preview.plot import Plot
from grafana.preview.reading import Span, expand, load, panels
from grafana.preview.svg import Box
from grafana.preview.tables import Row, merge
from grafana.preview.timelines import states
from tests.architecture.sources import ROOT

boards = pytest.mark.parametrize("uid", DASHBOARDS)
SPAN = Span(start=1000, end=1600, points=100, scrape_seconds=5)
HOSTILE = '<script>alert("&")</script>'
CHOSEN = {"container": "web"}
LABELS = {"container": HOSTILE, "instance": "host:1", "symptom": "oom_killed", "drift": "not_running", "level": "error"}


class Canned:
    """Answers everything with one hostile series, and remembers what it was asked."""

    def __init__(self, *values: str) -> None:
        self.values = values or ("1", "2", "3")
        self.asked: list[dict[str, str]] = []

    def get(self, path: str, /, **query: str) -> Any:
        self.asked.append({"path": path, **query})
        if path.startswith("label/"):
            return ["web", "db"]
        if path == "query":
            return {"result": [{"metric": LABELS, "value": [1600, self.values[-1]]}]}
        times = (1000, 1006, 1400)
        return {"result": [{"metric": LABELS, "values": [*zip(times, self.values, strict=True)]}]}


@boards
def test_every_panel_is_drawn_with_its_title_and_hostile_text_stays_text(uid: str) -> None:
    picture = draw(Canned(), uid, SPAN, CHOSEN)
    words = {element.text for element in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")}

    assert NOTICE in words
    assert {panel["title"] for panel in panels(load(uid))} <= words
    assert "<script" not in picture
    assert any(HOSTILE[:8] in (word or "") for word in words)


@boards
def test_a_panel_without_an_answer_says_what_that_means(uid: str) -> None:
    class Silent:
        def get(self, _path: str, /, **_query: str) -> Any:
            return {"result": []}

    words = {element.text for element in ET.fromstring(draw(Silent(), uid, SPAN, CHOSEN)).iter()}
    assert {panel["fieldConfig"]["defaults"]["noValue"] for panel in panels(load(uid))} <= words


@boards
def test_the_committed_preview_is_labelled_and_of_the_present_dashboard(uid: str) -> None:
    picture = ET.parse(ROOT / "docs" / "images" / f"{uid}.svg")
    words = {element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {NOTICE, *(panel["title"] for panel in panels(load(uid)))} <= words, "run make previews"


def test_queries_are_asked_as_grafana_asks_them() -> None:
    prometheus = Canned()
    ask(prometheus, {"expr": 'rate(x{job=~"$job"}[$__rate_interval])', "range": True}, {"job": ".+"}, SPAN)
    ask(prometheus, {"expr": "increase(x[$__range])", "instant": True}, {}, SPAN)

    over_time, at_the_end = prometheus.asked
    assert over_time["query"] == 'rate(x{job=~".+"}[20s])'
    assert (over_time["start"], over_time["end"], over_time["step"]) == ("996.000", "1600.000", "6.000")
    assert (at_the_end["path"], at_the_end["query"], at_the_end["time"]) == ("query", "increase(x[600s])", "1600.000")


def test_a_variable_is_asked_for_within_the_range_and_other_functions_are_refused() -> None:
    prometheus = Canned()
    query = {"query": {"query": 'label_values(x{job=~"$job"}, project)'}}

    assert ask_values(prometheus, query, {"job": ".+"}, SPAN) == ["web", "db"]
    assert prometheus.asked[0]["path"] == "label/project/values"
    assert prometheus.asked[0]["match[]"] == 'x{job=~".+"}'
    with pytest.raises(ValueError, match="label values"):
        ask_values(prometheus, {"query": {"query": "query_result(x)"}}, {}, SPAN)


def test_moments_outside_of_the_range_are_left_out_and_what_is_no_number_is_a_gap() -> None:
    assert ask_moments(Canned("900000", "1200000", "1200000"), {"expr": "x"}, {}, SPAN) == [1200]
    assert ask(Canned("NaN", "NaN", "NaN"), {"expr": "x"}, {}, SPAN) == []


def test_an_unknown_variable_is_an_error_and_a_group_of_a_pattern_is_none() -> None:
    assert expand('label_replace(x, "a", "$1", "b", "(.*)")', {}) == 'label_replace(x, "a", "$1", "b", "(.*)")'
    with pytest.raises(KeyError):
        expand("x[$range]", {})


def test_rows_of_several_queries_become_one_where_the_shared_labels_agree() -> None:
    causes: list[Row] = [{"name": "a", "symptom": "x", "Value #A": 1.0}, {"name": "a", "symptom": "y", "Value #A": 2.0}]
    status: list[Row] = [{"name": "a", "Value #B": 3.0}, {"name": "b", "Value #B": 4.0}]

    assert merge([causes, status]) == [
        {"name": "a", "symptom": "x", "Value #A": 1.0, "Value #B": 3.0},
        {"name": "a", "symptom": "y", "Value #A": 2.0, "Value #B": 3.0},
        {"name": "b", "Value #B": 4.0},
    ]
    assert merge(
        [[{"name": "a", "__name__": "x", "Value #A": 1.0}], [{"name": "a", "__name__": "y", "Value #B": 1.0}]]
    ) == [
        {"name": "a", "__name__": "x", "Value #A": 1.0},
        {"name": "a", "__name__": "y", "Value #B": 1.0},
    ]


def test_a_gap_ends_a_state() -> None:
    series = Series("", {}, ((1000.0, 1.0), (1006.0, 1.0), (1012.0, 2.0), (1400.0, 2.0)))

    assert list(states(series, Plot(Box(0, 0, 1, 1), SPAN))) == [(1000, 1012, 1), (1012, 1018, 2), (1400, 1406, 2)]


def test_an_override_wins_over_the_defaults_and_a_mapping_over_the_unit() -> None:
    panel = {
        "fieldConfig": {
            "defaults": {"unit": "percentunit", "color": {"mode": "fixed", "fixedColor": "blue"}},
            "overrides": [
                {"matcher": {"id": "byName", "options": "limit"}, "properties": [{"id": "unit", "value": "bytes"}]},
                {
                    "matcher": {"id": "byFrameRefID", "options": "B"},
                    "properties": [
                        {"id": "mappings", "value": [{"options": {"1": {"text": "yes", "color": "red"}}}]},
                        {"id": "custom.width", "value": 90},
                    ],
                },
            ],
        }
    }
    assert shown(field_of(panel, "used"), 0.5, 0) == "50%"
    assert shown(field_of(panel, "limit"), 2048, 0) == "2 KiB"
    mapped = field_of(panel, "used", "B")
    assert (shown(mapped, 1, 0), mapped["custom"]) == ("yes", {"width": 90})
    assert coloured(mapped, 1) != coloured(mapped, 2) == coloured(field_of(panel, "used"), 1)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.004, "percentunit", "0.4%"),
        (1536, "Bps", "1.5 KiB/s"),
        (0.25, "s", "250 ms"),
        (2.5, "s", "2.5 s"),
        (12.3456, "cpm", "12.3 c/m"),
        (12345, "none", "12,345"),
        (940_000, "dateTimeFromNow", "1 minute ago"),
    ],
)
def test_a_number_is_shown_with_its_unit(value: float, unit: str, text: str) -> None:
    assert with_unit(value, unit, None, 1000) == text


@pytest.mark.parametrize(("seconds", "text"), [(3, "a few seconds ago"), (7300, "2 hours ago"), (90_000, "1 day ago")])
def test_ages_are_told_as_people_say_them(seconds: float, text: str) -> None:
    assert ago(seconds) == text
