"""Where it is asked for, answers come structured as well, after a schema that no client refuses; else nowhere."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, get_args

import jsonschema_rs
import pytest
from mcp_types import CallToolResult, TextContent

from bcon_exporter.outputs.mcp.server import OUTPUT_SCHEMA
from bcon_exporter.tools import TOOLS, Toolset
from bcon_exporter.tools.replay import write_snapshot
from tests.agents.asking import ask_agent, list_calls
from tests.agents.recorded import make_context as make_full_context
from tests.agents.recorded import make_host
from tests.factories import container, exited, snapshot
from tests.outputs.mcp.talking import Mode, over_http, over_stdio, site_for_agents, talk
from tests.outputs.scenes import make_context

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from mcp import Client
    from mcp_types import Tool

HOST = snapshot(container(name="web"), exited(3, name="job"))
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("diagnose_all", {}),
    ("list_containers", {"all": True}),
    ("health_check", {}),
    ("diagnose_all", {"select": "length(summaries)"}),
    ("diagnose_container", {"container_id": "nobody"}),
    ("no_such_tool", {}),
    ("diagnose_all", {"response_format": "markdown"}),
)
WAYS = (
    "http",
    pytest.param("stdio", marks=pytest.mark.integration),
    pytest.param("set", marks=pytest.mark.integration),
)
every_way = pytest.mark.parametrize("way", WAYS)
both_eras = pytest.mark.parametrize("mode", get_args(Mode))


@asynccontextmanager
async def client_of(way: str, mode: Mode, folder: Path, *, structured: bool) -> AsyncIterator[Client]:
    """A client over HTTP, or of a process that was told by its own flag or by the setting."""
    if way == "http":
        site = site_for_agents(make_context(HOST), *get_args(Toolset), structured=structured)
        async with over_http(site, mode) as client:
            yield client
        return
    write_snapshot(folder / "host.json", HOST)
    flag = ["--structured" if way == "stdio" else "--mcp.structured"] if structured else []
    toolsets = f"--mcp.toolsets={','.join(get_args(Toolset))}"
    async with over_stdio(mode, "--from-snapshot", str(folder / "host.json"), toolsets, *flag) as client:
        yield client


def ask(way: str, mode: Mode, folder: Path, *, structured: bool) -> tuple[list[Tool], list[CallToolResult]]:
    """The tools and the answers to all calls."""

    async def call_all() -> tuple[list[Tool], list[CallToolResult]]:
        async with client_of(way, mode, folder, structured=structured) as client:
            tools = list((await client.list_tools()).tools)
            return tools, [await client.call_tool(name, arguments) for name, arguments in CALLS]

    return talk(call_all)


@every_way
@both_eras
def test_both_copies_are_the_same_and_fit_the_schema_that_all_tools_share(way: str, mode: Mode, tmp_path: Path) -> None:
    tools, answers = ask(way, mode, tmp_path, structured=True)

    assert len(tools) > 12
    assert {json.dumps(tool.output_schema, sort_keys=True) for tool in tools} == {
        json.dumps(OUTPUT_SCHEMA, sort_keys=True)
    }
    for answer in answers:
        (content,) = answer.content
        assert isinstance(content, TextContent)
        jsonschema_rs.validate(OUTPUT_SCHEMA, answer.structured_content)
        assert answer.structured_content["isError"] is bool(answer.is_error)
    *in_json, in_markdown = answers
    for answer in in_json:
        assert answer.structured_content == json.loads(answer.content[0].text)  # type: ignore[union-attr]
    assert in_markdown.structured_content == {
        "markdown": in_markdown.content[0].text,  # type: ignore[union-attr]
        "isError": False,
    }


@pytest.mark.parametrize("way", WAYS[:2])
@both_eras
def test_by_default_no_tool_has_an_output_schema_and_no_answer_a_second_copy(
    way: str, mode: Mode, tmp_path: Path
) -> None:
    tools, answers = ask(way, mode, tmp_path, structured=False)

    assert {tool.output_schema for tool in tools} == {None}
    assert {answer.structured_content for answer in answers} == {None}


@pytest.mark.parametrize("detail", [False, True])
def test_the_answers_of_all_tools_fit_the_schema(detail: bool) -> None:
    facts = make_host(25, 4)
    context = make_full_context(facts)
    answered = set()
    for name, payload in list_calls(context, [facts.containers[0].name]):
        answer = ask_agent(context, name, {**payload, "detail": detail})
        jsonschema_rs.validate(OUTPUT_SCHEMA, json.loads(answer.body))
        answered.add(name)

    assert answered == {tool.name for tool in TOOLS}


def test_the_schema_is_small_and_an_object() -> None:
    jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **OUTPUT_SCHEMA})
    assert OUTPUT_SCHEMA["type"] == "object"
    assert not {"oneOf", "anyOf", "allOf"} & OUTPUT_SCHEMA.keys()
    assert len(json.dumps(OUTPUT_SCHEMA, separators=(",", ":"))) < 400
