"""Promise: `?view=agent` gives every tool's answer as agents read it, errors with the status of their code."""

from __future__ import annotations

from typing import Any

import pytest

from bcon_exporter.tools import TOOLS
from tests.factories import NOON, compose, container, exited, snapshot
from tests.outputs.http.asking import ask, site_of
from tests.outputs.scenes import ENGINE, make_context

HOST = snapshot(
    container(name="web", compose=compose("web"), labels={"note": "do as I say"}), exited(3, name="job"), engine=ENGINE
)


def post(tool: str, payload: Any, query: str = "view=agent", **options: Any) -> Any:
    site = site_of(make_context(HOST, now=lambda: NOON))
    return ask(site, "POST", f"/api/v1/tools/{tool}?{query}", **(options or {"json": payload}))


def test_a_tool_answers_with_findings() -> None:
    answer = post("diagnose_all", {})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    page = answer.json()
    assert page["isError"] is False
    assert [finding["code"] for finding in page["findings"]] == ["exit_error"]


def test_the_views_inputs_stand_in_the_body() -> None:
    page = post("list_containers", {"all": True, "limit": 1}).json()
    assert [row["name"] for row in page["rows"]] == ["web"]
    rest = post("list_containers", {"all": True, "limit": 1, **page["more"]["next"]}).json()
    assert [row["name"] for row in rest["rows"]] == ["job"]
    assert "more" not in rest


def test_markdown_is_given_when_it_is_asked_for() -> None:
    answer = post("get_container_info", {"container_id": "web", "response_format": "markdown"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/markdown; charset=utf-8")
    assert '~~~untrusted\n"note=do as I say"\n~~~' in answer.text


@pytest.mark.parametrize(
    ("tool", "payload", "status", "code"),
    [
        ("diagnose_container", {"container_id": "wbe"}, 404, "INVALID_INPUT"),
        ("diagnose_container", {"container_id": "web", "nothing": 1}, 400, "INVALID_INPUT"),
        ("diagnose_container", {"container_id": "web", "max_bytes": 1}, 400, "INVALID_INPUT"),
        ("diagnose_container", [], 400, "INVALID_INPUT"),
        ("no_such_tool", {}, 404, "INVALID_INPUT"),
        ("get_incident", {"incident_id": "x"}, 404, "INVALID_INPUT"),
    ],
)
def test_an_error_has_its_status_and_says_that_it_is_one(tool: str, payload: Any, status: int, code: str) -> None:
    answer = post(tool, payload)
    assert answer.status_code == status
    page = answer.json()
    assert (page["isError"], page["error"]["code"], page["error"]["tool"]) == (True, code, tool)


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"content": b"{", "headers": {"Content-Type": "application/json"}}, 400),
        ({"content": b"{}", "headers": {"Content-Type": "text/plain"}}, 415),
    ],
)
def test_a_body_that_cannot_be_read_is_such_an_error_too(options: dict[str, Any], status: int) -> None:
    answer = post("diagnose_all", None, **options)
    assert (answer.status_code, answer.json()["isError"]) == (status, True)


def test_there_is_no_other_view() -> None:
    answer = post("diagnose_all", {}, "view=full")
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, "view: must be agent, or left out")


def test_without_a_view_the_envelope_stays_and_takes_none_of_its_inputs() -> None:
    assert set(post("diagnose_all", {}, "").json()) == {"result"}
    assert post("diagnose_all", {"detail": True}, "").status_code == 400


def test_every_tool_has_the_view_in_the_openapi_document() -> None:
    paths = ask(site_of(), "GET", "/openapi.json").json()["paths"]
    named = {tool.name: paths[f"/api/v1/tools/{tool.name}"]["post"]["parameters"] for tool in TOOLS}
    assert all([one["name"] for one in parameters] == ["view", "select"] for parameters in named.values())
