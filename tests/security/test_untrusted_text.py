"""Promise: whatever stands in names, labels, logs and probes acts at no face: not in the exposition, HTML, a terminal,
Markdown or JSON. The way is the real one: engine JSON → facts → diagnosis → face.
"""

from __future__ import annotations

import html.parser
import io
import json
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from rich.console import Console

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.engine.log_cursors import parse_log_stream
from bcon_exporter.engine.parse import parse_container
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.outputs.metrics.writing import LABEL_MAX_CHARS
from bcon_exporter.outputs.text import render_markdown, render_text
from tests.factories import full_id, logs, snapshot
from tests.outputs.http.asking import ask, site_of
from tests.outputs.scenes import drift_report, drift_scan, exposition_of, make_context, scan_of, scrape_text

ACTING = (
    *(
        "\x1b[31m",
        "\x1b]0;title\x07",
        "\x9b2J",
        "\r",
        "\n",
        "\t",
        "\x00",
        "\x85",
        "\u2028",
        "\u202e",
        "\ufeff",
        "\ud800",
    ),
    *('"', "\\", "\\n", "{", "}", '"} 1\nbcon_up 0', "# EOF", "# TYPE x gauge", "[bold]", "[/]", "<script>", "<!--"),
    *(
        "{{ 7777*7777 }}",
        "{% raw %}",
        "&lt;",
        "'",
        "`",
        "```",
        "|",
        "[x](http://e)",
        "![x](http://e)",
        "$(id)",
        "%s%n",
        "é",
        "🙂",
    ),
    *("a" * 300, "password=", "://u:p@h", " ", "ERROR boom", "=1+1", "@here"),
)
HOSTILE = st.lists(st.sampled_from(ACTING), min_size=1, max_size=6).map("".join)
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
CATALOGUE = load_catalogue(None)
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')


class Tags(html.parser.HTMLParser):
    """Collects the tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)


def raw_container(text: str) -> dict[str, Any]:
    """Inspect JSON with the text in every place that takes one."""
    return {
        "Id": full_id("x"),
        "Name": f"/{text}",
        "Created": "2026-01-01T00:00:00Z",
        "Image": text,
        "State": {
            "Status": "exited", "ExitCode": 3, "Error": text, "StartedAt": "2026-01-31T11:58:00Z",
            "FinishedAt": "2026-01-31T11:59:00Z",
            "Health": {
                "Status": "unhealthy", "Log": [{"Start": "2026-01-31T11:59:00Z", "ExitCode": 1, "Output": text}],
            },
        },
        "Config": {
            "Image": text,
            "Labels": {
                text: text, "team": text, "bcon.ignore": text, "bcon.threshold.high_cpu": text,
                "com.docker.compose.project": text, "com.docker.compose.service": text,
                "com.docker.compose.project.config_files": text,
            },
        },
        "HostConfig": {"RestartPolicy": {"Name": text}, "LogConfig": {"Type": text}, "Tmpfs": {text: text}},
        "NetworkSettings": {"Networks": {text: {"Aliases": [text], "IPAddress": text}}, "Ports": {text: None}},
        "Mounts": [{"Type": text, "Source": text, "Destination": text}],
    }  # fmt: skip


def host_of(text: str) -> Any:
    facts = parse_container(None, raw_container(text))
    assert facts is not None
    body = text.encode("utf-8", "surrogatepass").replace(b"\n", b"\r")
    lines = parse_log_stream(
        b"".join(b"2026-01-31T11:58:59.000000000Z ERROR " + body + b"\r\n" for _ in range(2)), tty=True
    )
    return snapshot(facts.model_copy(update={"logs": logs(*(line.text for line in lines))}))


@pytest.mark.promise("S8")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HOSTILE)
def test_hostile_text_acts_at_no_face(text: str) -> None:
    host = host_of(text)
    report, _ = diagnose_host(host, Thresholds(), CATALOGUE)
    check_exposition(host, report, text)
    check_page(host, report)
    for value in (report, report.reports[0]):
        check_terminal(value)
        markdown = render_markdown(value)
        assert not FORBIDDEN.search(markdown)
        assert "<script" not in MarkdownIt("commonmark").render(markdown)
        assert not FORBIDDEN.search(
            json.dumps(json.loads(value.model_dump_json()), ensure_ascii=False).replace("\\n", "")
        )


def check_exposition(host: Any, report: Any, text: str) -> None:
    scan = scan_of(host, *report.reports)
    exposition, _ = exposition_of(
        scan, drift_scan(drift_report(host.containers[0].name), untracked=(text,)), label_names=("team", text)
    )
    plain, modern = scrape_text(exposition), scrape_text(exposition, "openmetrics")
    names = {family.name for family in parse_text(plain)}
    assert names
    assert all(name.startswith(("bcon_", "python_", "process_", "go_")) for name in names), names
    assert list(parse_openmetrics(modern))  # type: ignore[no-untyped-call]  # the library's
    assert sum(line.startswith("bcon_up") for line in plain.splitlines()) == 1
    assert not FORBIDDEN.search(plain)
    unescape = re.compile(r"\\(.)")
    for _name, value in LABEL.findall(plain):
        assert len(unescape.sub(r"\1", value)) <= LABEL_MAX_CHARS


def check_page(host: Any, report: Any) -> None:
    page = page_of(host, report)
    assert tags_of(page) == plain_tags()
    assert not FORBIDDEN.search(page)
    assert "60481729" not in page


def page_of(host: Any, report: Any) -> str:
    context = make_context(host)
    context.scans.publish_diagnosis(scan_of(host, *report.reports))
    context.scans.publish_drift(drift_scan(drift_report(host.containers[0].name)))
    return ask(site_of(context), "GET", "/").text


@cache
def plain_tags() -> frozenset[str]:
    host = host_of("web")
    return tags_of(page_of(host, diagnose_host(host, Thresholds(), CATALOGUE)[0]))


def tags_of(page: str) -> frozenset[str]:
    tags = Tags()
    tags.feed(page)
    return frozenset(tags.found)


def check_terminal(value: Any) -> None:
    out = io.StringIO()
    Console(file=out, width=100, highlight=False, force_terminal=False).print(render_text(value))
    assert not FORBIDDEN.search(out.getvalue())
