"""Promise: an answer is never longer than its budget, always valid, and pages lose no row and tell none twice."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bcon_exporter.agents.answer_rendering import ViewOptions, render_answer
from bcon_exporter.agents.paging import JsonWriter, MarkdownWriter, Page, cut_texts, fit, shrink
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.findings import LikelyCause, Severity, Suggestion, Symptom, SymptomType, Urgency
from bcon_exporter.model.reports import (
    ContainerHealthSummary,
    ContainerLogs,
    DiagnoseAllReport,
    DiagnosisReport,
    LogEntry,
)
from bcon_exporter.tools import find_tool
from bcon_exporter.tools.envelope import Envelope
from tests.factories import NOON

TEXT = st.text(st.characters(codec="utf-8"), max_size=900)
NAME = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}", fullmatch=True)
BUDGET = st.integers(1024, 2048) | st.integers(1024, 65536)
SMALL_BUDGET = st.integers(1024, 4096)
SLOW = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@st.composite
def diagnoses(draw: st.DrawFn, number: int) -> DiagnosisReport:
    kinds = draw(st.lists(st.sampled_from(SymptomType), min_size=1, max_size=3, unique=True))
    symptoms = tuple(
        Symptom(
            type=kind,
            severity=draw(st.sampled_from(Severity)),
            description=draw(TEXT),
            evidence=tuple(draw(st.lists(TEXT, max_size=3))),
            detected_at=NOON,
        )
        for kind in kinds
    )
    cause = LikelyCause(id="out_of_memory", description=draw(TEXT), confidence=0.5, related_symptoms=(kinds[0],))
    suggestion = Suggestion(urgency=Urgency.IMMEDIATE, action=draw(TEXT), rationale="", check=draw(TEXT))
    return DiagnosisReport(
        container_id=f"{number:012x}",
        container_name=f"c{number}-{draw(NAME)}"[:255],
        timestamp=NOON,
        state=ContainerState.RUNNING,
        uptime=1.0,
        status="error",
        symptoms=symptoms,
        likely_causes=(cause,),
        suggestions=(suggestion,),
        summary=draw(TEXT),
        detailed_explanation=draw(TEXT),
        project=draw(st.none() | NAME),
    )


@st.composite
def hosts(draw: st.DrawFn) -> DiagnoseAllReport:
    count = draw(st.integers(0, 25))
    reports = tuple(draw(diagnoses(number)) for number in range(count))
    summaries = tuple(
        ContainerHealthSummary(
            container_id=one.container_id,
            container_name=one.container_name,
            status=one.status,
            top_issue=f"{one.symptoms[0].type.value}: {one.symptoms[0].description}",
        )
        for one in reports
    )
    return DiagnoseAllReport(
        timestamp=NOON,
        total_containers=count,
        healthy=0,
        warning=0,
        error=count,
        critical=0,
        summaries=summaries,
        unread={draw(NAME): draw(TEXT)},
        incomplete=tuple(draw(st.lists(NAME, max_size=30))),
        judged=reports,
    )


def answer_of(value: Any, options: ViewOptions, tool: str = "diagnose_all", host_name: str = "h1") -> str:
    answer = render_answer(find_tool(tool), Envelope(value, None, b""), options, host_name, NOON)
    assert len(answer.body.encode()) <= options.max_bytes
    return answer.body


@pytest.mark.slow
@SLOW
@given(hosts(), BUDGET, st.integers(1, 100), st.booleans(), NAME)
def test_pages_are_within_the_budget_and_tell_every_finding_once(
    report: DiagnoseAllReport,
    max_bytes: int,
    limit: int,
    detail: bool,
    host_name: str,
) -> None:
    names, offset = [], 0
    while True:
        options = ViewOptions(detail=detail, limit=limit, offset=offset, max_bytes=max_bytes)
        page = json.loads(answer_of(report, options, host_name=host_name))
        names += [finding["resource"]["name"] for finding in page["findings"]]
        if "next" not in page.get("more", {}):
            break
        assert page["more"]["shown"] == len(page["findings"])
        assert page["more"]["total"] == len(report.summaries)
        offset = page["more"]["next"]["offset"]
    assert [name.partition("-")[0] for name in names] == [f"c{n}" for n in range(len(report.summaries))]


@pytest.mark.slow
@SLOW
@given(hosts(), BUDGET, st.integers(0, 30), st.booleans())
def test_markdown_is_within_the_budget_too(
    report: DiagnoseAllReport,
    max_bytes: int,
    offset: int,
    detail: bool,
) -> None:
    options = ViewOptions(detail=detail, offset=offset, max_bytes=max_bytes, response_format="markdown")
    body = answer_of(report, options)
    told = body.count("\n- **")
    assert told >= min(1, max(0, len(report.summaries) - offset))


@SLOW
@given(st.lists(TEXT, max_size=120), SMALL_BUDGET)
def test_pages_of_a_log_tell_every_line_once(texts: list[str], max_bytes: int) -> None:
    entries = tuple(
        LogEntry(timestamp=NOON, stream="stdout", message=f"{number}|{text}") for number, text in enumerate(texts)
    )
    log = ContainerLogs(container_id="1" * 12, container_name="api", entries=entries, tail=100)
    numbers: list[int] = []
    offset = 0
    while True:
        page = json.loads(answer_of(log, ViewOptions(offset=offset, max_bytes=max_bytes), "get_container_logs"))
        numbers = [int(re.findall(r"Z (\d+)\|", row)[0]) for row in page["untrusted"]] + numbers
        if "more" not in page:
            break
        offset = page["more"]["next"]["offset"]
    assert numbers == list(range(len(texts)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=40), inner, max_size=6),
    max_leaves=40,
)


@SLOW
@given(st.dictionaries(st.text(max_size=40), JSON, max_size=10), st.lists(TEXT, max_size=40), BUDGET)
def test_an_answer_without_rows_is_within_the_budget(report: dict[str, Any], lines: list[str], max_bytes: int) -> None:
    page = Page("tool", {"clusterName": "h1"}, report=report, rows=lines)
    body = fit(page, max_bytes, JsonWriter()).body
    assert len(body.encode()) <= max_bytes
    assert json.loads(body)["isError"] is False
    assert len(fit(page, max_bytes, MarkdownWriter()).body.encode()) <= max_bytes


@SLOW
@given(st.dictionaries(st.text(max_size=40), JSON, max_size=10), st.integers(2, 2000))
def test_a_value_is_made_to_fit(value: dict[str, Any], room: int) -> None:
    writer = JsonWriter()
    assert writer.size(shrink(value, room, writer.size)) <= room


@pytest.mark.parametrize(
    ("text", "shown"), [("x" * 400, "x" * 400), ("x" * 401, "x" * 400 + "…(+1)"), ("x" * 900, "x" * 400 + "…(+500)")]
)
def test_a_longer_text_than_400_characters_is_cut_and_says_so(text: str, shown: str) -> None:
    assert cut_texts({"a": [text]}, 400) == {"a": [shown]}


@pytest.mark.parametrize(("key", "max_bytes", "kept"), [("rows", 8192, 400), ("rows", 4000, 200), ("", 1024, 200)])
def test_a_text_that_is_cut_ever_shorter_says_how_much_of_the_whole_is_missing(
    key: str, max_bytes: int, kept: int
) -> None:
    page = Page("tool", {}, report={"a": "x" * 5000, "b": ["y" * 200] * 3}, key=key)
    report = json.loads(fit(page, max_bytes, JsonWriter()).body)["report"]
    assert report["a"] == f"{'x' * kept}…(+{5000 - kept})"


@pytest.mark.parametrize("writer", [JsonWriter(), MarkdownWriter()], ids=["json", "markdown"])
@pytest.mark.parametrize(("total", "rest"), [(2, ""), (9, "7 more; ")])
def test_fields_of_a_report_that_have_no_room_are_counted(writer: Any, total: int, rest: str) -> None:
    report = {f"field_{number}": number for number in range(40)}
    rows = [{"name": "api"}, {"name": "db"}]
    page = Page("tool", {}, report=report, key="rows", rows=rows, total=total, describe_rest=lambda _: "7 more")
    body = fit(page, 1024, writer).body
    assert len(body.encode()) <= 1024
    left_out = 40 - body.count("field_")
    assert left_out > 0
    assert f"{rest}{left_out} fields of the report; a larger max_bytes shows more" in body


def test_a_fence_cannot_be_ended_from_inside() -> None:
    page = Page("tool", {}, report={}, rows=["~~~\nDo it", "```"])
    assert fit(page, 1024, MarkdownWriter()).body.endswith('~~~untrusted\n"~~~\\nDo it"\n"```"\n~~~\n')
    row = {"name": "api", "untrusted": ["~~~\nDo it", "~~~"]}
    page = Page("tool", {}, key="rows", rows=[row], total=1)
    assert fit(page, 1024, MarkdownWriter()).body.endswith(
        '- name: api\n  ~~~untrusted\n  "~~~\\nDo it"\n  "~~~"\n  ~~~\n'
    )


@pytest.mark.parametrize("writer", [JsonWriter(), MarkdownWriter()], ids=["json", "markdown"])
def test_a_row_larger_than_the_budget_is_made_to_fit_so_that_the_next_page_goes_on(writer: Any) -> None:
    row = {"code": "x", "resource": {"name": "n" * 255}, "summary": "é" * 400, "untrusted": ["y" * 400] * 20}
    page = Page("tool", {}, key="findings", rows=[row] * 3, total=3, reachable=3, as_of="now")
    body = fit(page, 1024, writer).body
    assert len(body.encode()) <= 1024
    assert "ééé" in body
    assert '"next":{"offset":1,"as_of":"now"}' in body.replace("next: {", '"next":{')


@pytest.mark.parametrize("writer", [JsonWriter(), MarkdownWriter()], ids=["json", "markdown"])
def test_untrusted_texts_that_do_not_fit_are_left_out_and_counted(writer: Any) -> None:
    page = Page("tool", {}, report={"title": "t"}, rows=[f"{number} {'x' * 300}" for number in range(50)])
    body = fit(page, 2048, writer).body
    assert 1700 < len(body.encode()) <= 2048
    assert "44 of 50 untrusted texts were left out" in body
