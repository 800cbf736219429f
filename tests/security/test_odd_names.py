"""Promise: whatever name a label or an engine brings, each page and address answers with what is there or with 4xx."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin

import pytest
from mcp.shared.exceptions import MCPError

from bcon_exporter.errors import ErrorCode
from bcon_exporter.memory import journal_deployment
from bcon_exporter.model.alerts import Alert
from bcon_exporter.model.findings import DriftType
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.verify_report import DeploymentRecord, DeploymentVerdict
from bcon_exporter.outputs.mcp.answers import PROJECT_DRIFT
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.tools import TOOLS, run_tool
from bcon_exporter.tools.host_views import HOST_DIAGNOSIS, HOST_DRIFT, HOST_MEMORY, NAMED_DIAGNOSIS
from tests.factories import ago, compose, container, exited
from tests.outputs.http.asking import ask, new_site
from tests.outputs.mcp.talking import over_http, site_for_agents, talk
from tests.outputs.scenes import difference, drift_report
from tests.pages.stage import entry, stage_context

if TYPE_CHECKING:
    from bcon_exporter.model.journal import JournalEntry
    from bcon_exporter.tools import Context

LABELS = (
    "A b", "Shop", "shop/web", "a%2Fb", "%00", "%", "..", ".", "a?b=c", "a#b", "a&b", "a;b", "a\\b", "-a", "_a",
    "a'b", 'a"b', "<b>x</b>", "{{ 7 * 7 }}", "bär", "日本", "\u202eabc", "a\x00b", "a\nb", "\x1b[31mred", "\udcff",
    "\ud800", "a" * 300, "no project", "None", "null", "*", "bcon://x", "http://h/", "  padded  ", "💥", "\u0430", "@",
)  # fmt: skip
"""As a label's value may be; the names of containers come from the engine, which may be a hostile one."""
NAMES = tuple(dict.fromkeys(name for label in LABELS if (name := clean_name(label))))

PAGES = ("/p/{}", "/c/{}", "/i/{}", "/p/{}/more", "/assets/{}", "/?project={}", "/?q={}", "/history?name={}", "/{}")
ADDRESSES = (
    *(f"/api/v1/containers/{{}}{part}" for part in ("", "/stats", "/logs", "/diagnosis")),
    *("/api/v1/drift/{}", "/api/v1/incidents/{}", "/api/v1/history?name={}", "/api/v1/deployments?project={}"),
    *("/api/v1/incidents?project={}", "/api/v1/containers?name={}", "/api/v1/memory?name={}", "/metrics?name[]={}"),
    *("/api/v1/notes?about={}", "/api/v1/tools?toolsets={}", "/api/v1/tools/{}"),
)
RESOURCES = ("containers", "projects", "incidents", "runbooks", "reports")
_LINK = re.compile(r'(?:href|action)="([^"#][^"]*)"')


def odd_host(names: tuple[str, ...] = NAMES) -> Context:
    """A host on which all that can have a name has odd ones."""
    ill = [exited(1, name=name, compose=compose(name, name)) for name in names]
    well = [container(name=f"well-{number}", compose=compose(name, name)) for number, name in enumerate(names)]
    journal: list[JournalEntry] = []
    for name in names:
        record = DeploymentRecord(
            project=name, at=ago(minutes=5), since=ago(minutes=6), verdict=DeploymentVerdict.GOOD, summary="good"
        )
        journal += [journal_deployment(record)]
        journal += [entry(JournalKind.CRASH, "crashed", 2, project=name, service=name, container=name)]
    alerts = [
        Alert(name="BconIncident", severity="warning", state="firing", labels={"container": name, "project": name},
              annotations={}, since=ago(40), fired_at=ago(20))
        for name in names
    ]  # fmt: skip
    return stage_context(
        [*ill, *well], drift=tuple(map(drift_report, names)), untracked=names, journal=journal, alerts=tuple(alerts)
    )


def payloads(schema: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """An odd name in each input of a tool."""
    texts = [field for field, kind in schema.get("properties", {}).items() if "string" in str(kind)]
    required = dict.fromkeys(schema.get("required", ()), "a" if name != "a" else "b")
    return [{**required, field: value} for field in texts for value in (name, {"project": name, "name": name})]


@pytest.mark.promise("S13")
@pytest.mark.integration
def test_no_odd_name_fails_a_page_an_address_or_a_tool() -> None:
    context = odd_host()
    few = odd_host(NAMES[:3])
    site = new_site(context)
    wrong = []
    for name in NAMES:
        segment = quote(name, safe="", errors="replace")
        for address in (*PAGES, *ADDRESSES):
            status = ask(site, "GET", address.format(segment)).status_code
            wrong += [f"GET {address}: {name!r}: {status}"] if status in (500, 405) and address != ADDRESSES[-1] else []
        for kind in ("p", "c"):
            status = ask(site, "GET", f"/{kind}/{segment}").status_code
            wrong += (
                [f"/{kind}/{name!r} is there and answers {status}"] if status != 200 and name not in (".", "..") else []
            )
        for tool in (*TOOLS, HOST_DIAGNOSIS, HOST_DRIFT, HOST_MEMORY, NAMED_DIAGNOSIS, PROJECT_DRIFT):
            for payload in payloads(tool.input_schema(), name):
                error = run_tool(few, tool, payload).error
                wrong += (
                    [f"{tool.name} {payload}"] if error is not None and error.code is ErrorCode.INTERNAL_ERROR else []
                )
    assert not wrong, "\n".join(wrong)
    assert (context.errors.counts() | few.errors.counts())[ErrorCode.INTERNAL_ERROR] == 0


@pytest.mark.promise("S13")
@pytest.mark.integration
def test_each_link_of_a_page_leads_to_a_page() -> None:
    site = new_site(odd_host())
    pages = ["/", "/history", "/alerts", *(f"/{kind}/{quote('A b')}" for kind in "pc")]
    links: dict[str, str] = {}
    for page in pages:
        answer = ask(site, "GET", page)
        assert answer.status_code == 200, page
        links |= {urljoin(page, link.replace("&amp;", "&")): page for link in _LINK.findall(answer.text)}
    wrong = [
        f"{link} on {page}: {status}"
        for link, page in links.items()
        if link.startswith("/")
        and link not in ("/c/", "/p/")  # of "." and "..", which no browser can ask for
        and link != "/quiet"
        and not link.startswith("/api/")
        and (status := ask(site, "GET", link).status_code) != 200
    ]
    assert len(links) > 2 * len(NAMES)
    assert not wrong, "\n".join(wrong)


@pytest.mark.promise("S13")
@pytest.mark.integration
def test_no_odd_name_fails_an_agents_resource() -> None:
    context = odd_host()

    async def read_all() -> list[str]:
        failed = []
        async with over_http(site_for_agents(context)) as client:
            for name in NAMES:
                for kind in RESOURCES:
                    uri = f"bcon://{kind}/{quote(name, safe='', errors='replace')}"
                    try:
                        await client.read_resource(uri)
                    except MCPError as error:
                        failed += [f"{uri}: {error}"] if "unexpected" in str(error) else []
        return failed

    assert talk(read_all) == []
    assert context.errors.counts()[ErrorCode.INTERNAL_ERROR] == 0


@pytest.mark.promise("S13")
@pytest.mark.integration
def test_what_raises_in_one_row_of_a_page_costs_that_row(caplog: pytest.LogCaptureFixture) -> None:
    context = stage_context(
        [exited(1, name=name, compose=compose(name, "shop")) for name in ("good", "broken", "fine")]
        + [container(name="calm", compose=compose("calm", "shop"))]
    )
    scan = context.scans.diagnosis
    assert scan is not None
    reports = tuple(
        report.model_copy(update={"suggestions": (None,)}) if report.container_name == "broken" else report
        for report in scan.report.reports
    )
    context.scans.publish_diagnosis(replace(scan, report=scan.report.model_copy(update={"reports": reports})))
    site = new_site(context)
    for page in ("/", "/p/shop"):
        answer = ask(site, "GET", page)
        assert answer.status_code == 200, page
        assert "This row could not be shown; the log says why." in answer.text, page
        for name in ("good", "fine", "calm", "broken"):
            assert f"/c/{name}" in answer.text, (page, name)
    assert "reading a row of a page failed" in caplog.text
    assert context.errors.counts()[ErrorCode.INTERNAL_ERROR] >= 2


@pytest.mark.promise("S13")
def test_what_raises_while_a_row_is_drawn_costs_that_row(caplog: pytest.LogCaptureFixture) -> None:
    context = stage_context(
        [container(name="calm", compose=compose("calm", "shop"))],
        drift=(drift_report("shop", difference(DriftType.IMAGE_MISMATCH, "calm", field="image")),),
    )
    drift = context.scans.drift
    assert drift is not None
    (report,) = drift.reports
    differences = (*report.differences, report.differences[0].model_copy(update={"compose_would": "what nobody knows"}))
    broken = report.model_copy(update={"differences": differences})
    context.scans.publish_drift(replace(drift, reports=(broken,)))
    answer = ask(new_site(context), "GET", "/p/shop")
    assert answer.status_code == 200
    assert answer.text.count("This could not be shown; the log says why.") == 1
    assert answer.text.count('<dl class="compare">') == len(report.differences)
    assert "drawing a row of a page failed" in caplog.text
