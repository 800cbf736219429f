"""The probes tell a dead scheduler from a hung engine; the page escapes what containers are called."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from html import unescape
from urllib.parse import urljoin

import pytest

from bcon_exporter.errors import PermissionDeniedError
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.outputs.http import make_site
from tests.factories import NOON, compose, container, snapshot
from tests.outputs.http.asking import BEYOND, ask, site_of, users
from tests.outputs.scenes import diagnosis, drift_report, drift_scan, make_context, make_exposition, scan_of, symptom
from tests.pages.stage import dirty_host, site_over


def test_not_ready_before_the_first_scan() -> None:
    answer = ask(site_of(), "GET", "/-/ready")

    assert answer.status_code == 503
    assert "first scan" in answer.text


def test_ready_after_a_good_scan() -> None:
    context = make_context()
    context.scans.publish_diagnosis(scan_of(snapshot()))

    assert ask(site_of(context), "GET", "/-/ready").status_code == 200


def test_not_ready_before_metrics_show_the_first_scan() -> None:
    context = make_context()
    exposition = make_exposition(context)
    site = make_site(lambda: context, exposition, lambda: None)
    context.scans.publish_diagnosis(scan_of(snapshot()))

    assert ask(site, "GET", "/-/ready").status_code == 503
    exposition.publish("diagnose")
    assert ask(site, "GET", "/-/ready").status_code == 200


def test_not_ready_while_the_engine_is_away_even_after_a_good_scan() -> None:
    context = make_context(up=False)
    context.scans.publish_diagnosis(scan_of(snapshot()))

    assert ask(site_of(context), "GET", "/-/ready").status_code == 503


def test_the_hint_fits_the_failure() -> None:
    context = make_context(up=False)
    context.scans.record_failure("diagnose", NOON, 0.1, PermissionDeniedError("add the user to the group docker"))

    answer = ask(site_of(context), "GET", "/-/ready")

    assert (answer.status_code, answer.text) == (503, "add the user to the group docker\n")


def test_strangers_get_no_hint() -> None:
    context = make_context(up=False)
    context.scans.record_failure("diagnose", NOON, 0.1, PermissionDeniedError("add the user to the group docker"))

    assert ask(site_of(context), "GET", "/-/ready", policy=BEYOND, host="x").text == "not ready\n"
    assert ask(site_of(context), "GET", "/-/ready", known=users(me="pw")).text == "not ready\n"


def test_healthy_whatever_the_engine_does() -> None:
    answer = ask(site_of(make_context(up=False)), "GET", "/-/healthy")

    assert (answer.status_code, answer.text) == (200, "healthy\n")


@pytest.mark.promise("F20")
def test_a_scan_that_hangs_is_told_by_both_probes_and_by_the_page() -> None:
    context = make_context()
    context.scans.publish_diagnosis(scan_of(snapshot()))
    site = site_of(context, hang="the drift scan hangs: it has run for 190 s; restart bcon-exporter")

    for path in ("/-/healthy", "/-/ready"):
        answer = ask(site, "GET", path)
        assert (answer.status_code, answer.text.startswith("the drift scan hangs")) == (503, True), path
    assert "the drift scan hangs" in ask(site, "GET", "/").text


@pytest.mark.promise("S3")
def test_the_page_escapes_what_comes_from_outside() -> None:
    context = make_context()
    context.scans.publish_diagnosis(scan_of(snapshot(container())))
    context.scans.publish_drift(drift_scan(drift_report("<script>alert(1)</script>")))

    answer = ask(site_of(context), "GET", "/")

    assert "<script>" not in answer.text
    assert "&lt;script&gt;" in answer.text
    assert answer.headers["content-security-policy"] == (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
    assert (
        re.findall(
            r"<script(?! src=\"\./assets/page\.js\?v=[0-9a-f]{8}\" defer>)|<style| on[a-z]+=| style=", answer.text
        )
        == []
    )


def test_the_page_names_the_ailing_containers_worst_first() -> None:
    context = make_context()
    reports = [
        diagnosis(
            container(name=name),
            status=status,
            symptoms=(symptom(SymptomType.UNHEALTHY, severity, description="it <b>fails"),),
        )
        for name, status, severity in (
            ("warm", "warning", Severity.WARNING),
            ("dead", "critical", Severity.CRITICAL),
        )
    ]
    context.scans.publish_diagnosis(scan_of(snapshot(container(name="warm"), container(name="dead")), *reports))

    page = ask(site_of(context), "GET", "/").text
    bare = ask(site_of(context), "GET", "/", policy=BEYOND, host="x").text

    assert 0 < page.index(">dead<") < page.index(">warm<")
    assert "it &lt;b&gt;fails" in page
    assert "dead" not in bare


def test_a_project_lists_its_own_containers_only_and_the_host_has_the_name_of_its_messages() -> None:
    context = replace(make_context(), host_name="nas in the attic")
    own = container(name="shop-debug", compose=compose(project="shop", service="debug"))
    stranger = container(name="somebody-elses")
    context.scans.publish_diagnosis(scan_of(snapshot(own, stranger), diagnosis(own), diagnosis(stranger)))
    context.scans.publish_drift(drift_scan(drift_report("shop", untracked=("shop-debug", "somebody-elses"))))

    page = ask(site_of(context), "GET", "/p/shop").text

    assert re.search(r"In no file: .*shop-debug", page)
    assert "somebody-elses" not in page
    assert re.search(r"</svg>nas in the attic</a>", page)
    assert re.findall(r'<button name="duration" value="(\w+)">([^<]*)', page) == [
        ("1h", "Quiet for an hour"),
        ("4h", "Quiet for 4 hours"),
        ("1d", "Quiet for a day"),
        ("7d", "Quiet for a week"),
    ]


def test_the_page_says_when_the_reports_on_it_are_of_an_earlier_scan() -> None:
    context = make_context()
    context.scans.publish_diagnosis(scan_of(snapshot(container())))
    before = ask(site_of(context), "GET", "/").text
    context.scans.record_failure("diagnose", NOON, 0.1, PermissionDeniedError("listing is forbidden"))

    after = ask(site_of(context), "GET", "/").text

    assert "last scan succeeded" in before
    assert "last scan failed: listing is forbidden" in after
    assert "the one container was well" in after


@pytest.mark.slow
def test_every_link_of_every_page_leads_somewhere() -> None:
    context = dirty_host()
    site = site_over(context)
    waiting, asked = ["/"], dict[str, int]()
    while waiting:
        path = waiting.pop()
        answer = ask(site, "GET", path)
        asked[path] = answer.status_code
        if answer.headers["content-type"].startswith("text/html"):
            links = [unescape(link) for link in re.findall(r'(?:href|src)="([^"]*)"', answer.text)]
            paths = {urljoin(path, link.partition("#")[0]) for link in links}
            waiting += [one for one in paths if one.startswith("/") and one not in asked and one not in waiting]

    assert {path: status for path, status in asked.items() if status != 200} == {}
    assert {path.split("/")[1].partition("?")[0] for path in asked} >= {
        "",
        "c",
        "i",
        "p",
        "history",
        "alerts",
        "metrics",
        "assets",
    }


@pytest.mark.parametrize(
    ("headers", "content_type", "encoding"),
    [
        ({}, "text/plain; version=0.0.4; charset=utf-8", None),
        (
            {"accept": "application/openmetrics-text"},
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
            None,
        ),
        ({"accept-encoding": "gzip"}, "text/plain; version=0.0.4; charset=utf-8", "gzip"),
    ],
)
def test_metrics_come_as_the_scraper_prefers(headers: dict[str, str], content_type: str, encoding: str | None) -> None:
    answer = ask(site_of(), "GET", "/metrics", headers={"accept-encoding": "identity", **headers})

    assert answer.headers["content-type"] == content_type
    assert answer.headers.get("content-encoding") == encoding
    assert "bcon_up 1" in answer.text


def test_chosen_metrics_come_alone() -> None:
    answer = ask(site_of(), "GET", "/metrics?name[]=bcon_up&name[]=bcon_containers")

    assert [line for line in answer.text.splitlines() if not line.startswith("#")] == ["bcon_up 1"]
    assert ask(site_of(), "GET", "/metrics?" + "name[]=x&" * 300).status_code == 400


def test_a_compressed_answer_is_what_it_says() -> None:
    from bcon_exporter.outputs.http.metrics_endpoint import ScrapeApp

    assert ScrapeApp.__doc__
    answer = ask(site_of(), "GET", "/metrics", headers={"accept-encoding": "gzip"})
    assert answer.headers["vary"] == "accept, accept-encoding"
    assert gzip.compress(answer.content)
