"""The list of tools in the forms of agents' clients, and answers of which a part is selected."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bcon_exporter.agents.schemas import FORMATS, describe_tools
from bcon_exporter.outputs.http.openapi_models import describe_tool
from bcon_exporter.tools import TOOLS
from tests.factories import NOON, compose, container, exited, snapshot
from tests.outputs.http.asking import ask, error_of, site_of
from tests.outputs.scenes import ENGINE, make_context, scan_of
from tests.table_rows import table

HOST = snapshot(container(name="web", compose=compose("web")), exited(name="job"), engine=ENGINE)


def hosted() -> Any:
    """A site over two containers."""
    return site_of(make_context(HOST, now=lambda: NOON))


def test_without_a_format_the_list_is_ours_as_ever() -> None:
    listed = ask(site_of(), "GET", "/api/v1/tools?unknown=1").json()

    assert listed == {"result": [json.loads(describe_tool(tool).model_dump_json()) for tool in TOOLS]}


@pytest.mark.parametrize("form", FORMATS)
def test_with_a_format_the_list_is_the_clients(form: str) -> None:
    core = ask(site_of(), "GET", f"/api/v1/tools?format={form}").json()["result"]
    both = ask(site_of(), "GET", f"/api/v1/tools?format={form}&toolsets=core,ops&strict=false").json()["result"]

    assert core == describe_tools(form, ["core"])
    assert both == describe_tools(form, ["core", "ops"])


def test_openai_may_be_strict() -> None:
    listed = ask(site_of(), "GET", "/api/v1/tools?format=openai&strict=true").json()["result"]

    assert listed == describe_tools("openai", ["core"], strict=True)


@table(
    ("query", "field"),
    [
        ("format=opanai", "format"),
        ("toolsets=core", "format"),
        ("strict=true", "format"),
        ("format=mcp&strict=true", "strict"),
        ("format=openai&strict=maybe", "strict"),
        ("format=mcp&toolsets=cores", "toolsets"),
        ("format=mcp&toolsets=", "toolsets"),
        ("format=mcp&format=openai", "format"),
    ],
)
def test_a_list_that_cannot_be_made_is_refused(query: str, field: str) -> None:
    answer = ask(site_of(), "GET", f"/api/v1/tools?{query}")

    assert answer.status_code == 400
    assert error_of(answer)["details"]["errors"][0]["field"] == field


@pytest.mark.parametrize(
    ("path", "chosen"),
    [
        ("/api/v1/containers?all=true&select=[].name", ["web", "job"]),
        ("/api/v1/containers?status=exited&select=[0].name", "job"),
        ("/api/v1/containers/web?select=name", "web"),
        ("/api/v1/containers/web/logs?tail=7&select={n: tail, who: container_name}", {"n": 7, "who": "web"}),
        ("/api/v1/health?select=status", "healthy"),
        ("/api/v1/health?select=nothing.of.it", None),
    ],
)
def test_a_get_answers_with_what_is_selected(path: str, chosen: object) -> None:
    assert ask(hosted(), "GET", path).json() == {"result": chosen}


@table("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_that_is_posted_to_selects(tool: Any) -> None:
    payload = {name: _WORD[name] for name in tool.input_schema().get("required", ())}
    whole = ask(hosted(), "POST", f"/api/v1/tools/{tool.name}", json=payload)
    part = ask(hosted(), "POST", f"/api/v1/tools/{tool.name}?select=type(@)", json=payload)

    if whole.status_code != 200:  # nothing to select from: not there, not to be had from here, or denied always
        assert tool.name in (
            "detect_drift",
            "get_incident",
            "restart_service",
            "read_config",
            "modify_config",
            "read_logs",
            "system_status",
        )
        assert (part.status_code, part.json()) == (whole.status_code, whole.json())
    else:
        assert part.json() == {"result": "array" if isinstance(whole.json()["result"], list) else "object"}


_WORD = {
    "container_id": "web",
    "compose_file": "/srv/x/compose.yaml",
    "error_pattern": "refused",
    "incident_id": "x",
    "query": "out of memory",
    "text": "exits with 3 every Sunday",
    "unit": "web.service",
    "service": "web",
    "path": "/srv/x/compose.yaml",
    "task": "diagnose",
    "action": "help",
}


@pytest.mark.parametrize("path", ["/api/v1/health", "/api/v1/containers", "/api/v1/containers/web"])
def test_a_wrong_expression_is_refused_with_its_place(path: str) -> None:
    answer = ask(hosted(), "GET", f"{path}?select=a.[b")

    assert answer.status_code == 400
    assert error_of(answer)["details"]["position"] == 5
    assert "at character 5" in error_of(answer)["message"]


def test_a_wrong_expression_is_refused_before_the_tool_is_called() -> None:
    answer = ask(hosted(), "POST", "/api/v1/tools/get_container_info?select=[", json={"container_id": "nobody"})

    assert error_of(answer)["details"]["errors"][0]["field"] == "select"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_repeated_select_is_refused(method: str) -> None:
    path = "/api/v1/health" if method == "GET" else "/api/v1/tools/health_check"
    answer = ask(hosted(), method, f"{path}?select=a&select=b")

    assert (answer.status_code, error_of(answer)["details"]["errors"][0]["field"]) == (400, "select")


def test_the_last_scans_reports_are_selected_from() -> None:
    context = make_context(HOST, now=lambda: NOON)
    context.scans.publish_diagnosis(scan_of(HOST))
    site = site_of(context)
    names = ask(site, "GET", "/api/v1/diagnosis?select=reports[].container_name | sort(@)").json()

    assert names == {"result": ["job", "web"]}
    assert ask(site, "GET", "/api/v1/drift/shop?select=status").status_code == 503
    assert ask(site, "GET", "/api/v1/diagnosis?select=age_seconds >= `0`").json() == {"result": True}
    assert ask(site, "GET", "/api/v1/diagnosis?select=a.[b").status_code == 400


def test_the_openapi_document_tells_of_select_at_every_tool() -> None:
    paths = ask(site_of(), "GET", "/openapi.json").json()["paths"]
    told = {
        path
        for path, methods in paths.items()
        for operation in methods.values()
        if any(one["name"] == "select" for one in operation.get("parameters", ()))
    }

    assert {f"/api/v1/tools/{tool.name}" for tool in TOOLS} | {"/api/v1/containers", "/api/v1/diagnosis"} <= told


def test_agents_select_too_in_the_query_or_in_the_body() -> None:
    path = "/api/v1/tools/list_containers?view=agent"
    by_query = ask(hosted(), "POST", f"{path}&select=[].name", json={"all": True}).json()
    by_body = ask(hosted(), "POST", path, json={"all": True, "select": "[].name"}).json()

    assert by_query == by_body
    assert by_query["report"] == {"untrusted": ["web", "job"]}


@pytest.mark.parametrize("expression", ["a.[b", "nofunction(@)"])
def test_an_agents_wrong_expression_has_status_400(expression: str) -> None:
    answer = ask(hosted(), "POST", "/api/v1/tools/list_containers?view=agent", json={"select": expression})

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "INVALID_INPUT"
