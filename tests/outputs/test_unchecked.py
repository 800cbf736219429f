"""Containers that are not known to be healthy stand apart from the healthy ones on every face."""

import json
from dataclasses import replace

import pytest

from bcon_exporter.cli.exits import Exit, exit_of_result
from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.model.reports import DiagnoseAllReport
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.outputs.text import render_markdown
from tests.diagnosis.judging import shipped
from tests.factories import container, exited, snapshot
from tests.outputs.http.asking import ask, site_of
from tests.outputs.scenes import exposition_of, make_context, scan_of, scrape_text
from tests.outputs.test_text import text_of

UNREAD = {"inspect": "the engine did not answer in time"}
HOST = snapshot(container(name="well"), container(name="blind", health=None, unread=UNREAD))
"""One that is well, and one of which a rule that decides could not be judged."""


@pytest.fixture
def report() -> DiagnoseAllReport:
    return diagnose_host(HOST, Thresholds(), shipped())[0]


def test_the_terminal_names_them_apart(report: DiagnoseAllReport) -> None:
    text = text_of(report)

    assert "1 not checked" in text
    assert "1 healthy" in text
    assert "NOT CHECKED   blind" in text
    assert "HEALTHY   well" in text
    assert "not judged: unhealthy, pids_limit, starting of blind: the engine did not answer in time" in text


def test_the_tools_own_answer_names_them_too(report: DiagnoseAllReport) -> None:
    short = report.model_copy(update={"reports": ()})

    assert "NOT CHECKED   blind" in text_of(short)
    assert "- not checked: **blind**" in render_markdown(short)


def test_markdown_names_them_apart(report: DiagnoseAllReport) -> None:
    text = render_markdown(report)

    assert text.startswith("# 2 containers (1 not checked, 1 healthy, ")
    assert "\nnot checked: blind\n" in text


def test_json_counts_and_lists_them(report: DiagnoseAllReport) -> None:
    answer = json.loads(report.model_dump_json())

    assert (answer["total_containers"], answer["healthy"], answer["not_checked"]) == (2, 2, 1)
    assert [(one["container_name"], one["status"], one["checked"]) for one in answer["unchecked"]] == [
        ("blind", "healthy", False)
    ]
    assert answer["summaries"] == []


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [("unchecked", Exit.FINDINGS), ("warning", Exit.FINE), ("error", Exit.FINE), ("never", Exit.FINE)],
)
def test_a_command_fails_for_them_only_when_asked(report: DiagnoseAllReport, fail_on: str, code: Exit) -> None:
    blind = next(one for one in report.reports if one.container_name == "blind")
    well = next(one for one in report.reports if one.container_name == "well")

    assert exit_of_result(report, fail_on) == exit_of_result(blind, fail_on) == code
    assert exit_of_result(well, fail_on) == Exit.FINE


def test_who_fails_for_what_is_not_known_fails_for_what_is() -> None:
    ailing = diagnose_host(snapshot(exited(137, lifecycle=None)), Thresholds(), shipped())[0]

    assert (ailing.warning, ailing.not_checked) == (1, 0)
    assert exit_of_result(ailing, "unchecked") == Exit.FINDINGS


def test_the_page_names_them_apart(report: DiagnoseAllReport) -> None:
    context = make_context(HOST)
    context.scans.publish_diagnosis(replace(scan_of(HOST, *report.reports), report=report))

    page = ask(site_of(context), "GET", "/").text

    assert "<b>1</b> not checked" in page
    assert "<b>1</b> healthy" in page
    assert page.index(">blind</a>") < page.index("the engine did not answer in time") < page.index(">well</a>")
    assert '<span class="pill not-checked">not checked</span></td><th scope="row"><a href="./c/blind">' in page
    assert "blind could not be checked." in page


def test_metrics_count_them(report: DiagnoseAllReport) -> None:
    text = scrape_text(exposition_of(scan_of(HOST, *report.reports))[0])

    assert "bcon_containers_not_checked 1\n" in text
    assert 'bcon_containers{status="healthy"} 2\n' in text
