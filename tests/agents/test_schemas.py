"""Promise: each client's form of the tool list is small, valid, and says what the tools take."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from bcon_exporter.agents.schemas import FORMATS, TOOLSETS, compact_schema, describe_tools, offered_tools
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.tools import TOOLS, Tool, execute, find_tool
from tests.table_rows import table
from tests.tools.hosts import context_of
from tests.tools.test_registry import GOOD_INPUT

LISTS = Path(__file__).parent / "tool_lists"
CORE = (
    "list_containers",
    "get_container_info",
    "get_container_stats",
    "get_container_logs",
    "detect_drift",
    "get_untracked_containers",
    "diagnose_container",
    "explain_error",
    "diagnose_all",
    "get_incident",
    "query_memory",
    "health_check",
)
EXAMPLES: dict[str, dict[str, Any]] = {
    **GOOD_INPUT,
    "list_containers": {"all": True, "filters": {"name": "api"}},
    "get_container_logs": {
        "container_id": "api",
        "tail": 10,
        "since": "10m",
        "timestamps": False,
        "grep": "e",
        "part": "newest",
    },
    "detect_drift": {"compose_file": "/srv/shop/compose.yaml", "project_name": "shop"},
    "diagnose_all": {"include_healthy": True},
    "list_incidents": {"open": True, "since": "2d", "limit": 5},
    "query_memory": {"query": "out of memory", "collection": "runbooks", "top_k": 3, "min_score": 0.2},
    "get_history": {"kind": "crash", "since": "2h", "limit": 5},
    "get_cost_report": {"period": "week"},
    "restart_service": {"service": "api"},
    "read_config": {"path": "/srv/shop/compose.yaml", "limit": 20, "offset": 10},
    "modify_config": {"path": "/srv/shop/compose.yaml", "changes": [{"line": 3, "old": "db:16", "new": "db:17"}]},
    "schedule_task": {"task": "diagnose", "at": "now"},
    "flux": {"action": "container", "subaction": "list", "state": "all", "limit": 5},
    "scout": {"action": "help", "topic": "logs"},
}
"""What a model may send, checked against every form of the list and run."""


def size_of(described: object) -> int:
    return len(json.dumps(described, separators=(",", ":")).encode())


def parameters_of(form: str, described: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of the input in a tool's description."""
    parameters: dict[str, Any] = {
        "openai": lambda: described["function"]["parameters"],
        "anthropic": lambda: described["input_schema"],
        "mcp": lambda: described["inputSchema"],
        "json-schema": lambda: described["schema"],
    }[form]()
    return parameters


def schemas_within(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and all within it."""
    yield schema
    values = schema.get("additionalProperties")
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    for one in [*inner, *(one for one in (schema.get("items"), values) if isinstance(one, dict))]:
        yield from schemas_within(one)


def test_the_core_has_the_twelve_tools_that_it_was_promised_to_have() -> None:
    assert {tool.name for tool in offered_tools(["core"])} == set(CORE)


@pytest.mark.parametrize("form", FORMATS)
def test_the_core_takes_6300_bytes_at_most_and_all_but_flux_and_scout_15000(form: str) -> None:
    assert size_of(describe_tools(form, ["core"])) <= 6_300
    assert size_of(describe_tools(form, [name for name in TOOLSETS if name not in ("flux", "scout")])) <= 15_000


@pytest.mark.parametrize(("form", "strict"), [*((form, False) for form in FORMATS), ("openai", True)])
def test_each_form_is_as_it_was_written_down(form: str, strict: bool) -> None:
    """`python -m tests.agents.write_tool_lists` writes them anew."""
    written = (LISTS / f"{form}{'-strict' if strict else ''}.json").read_text()
    assert json.loads(written) == describe_tools(form, TOOLSETS, strict=strict)


@table("tool", TOOLS, ids=lambda tool: tool.name)
@table("strict", [False, True])
def test_every_schema_is_one_of_draft_2020_12_that_no_client_refuses(tool: Tool[Any], strict: bool) -> None:
    schema = compact_schema(tool, strict=strict)
    jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    assert schema["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "not", "enum", "$defs"} & set(schema)
    for part in schemas_within(schema):
        assert not {"title", "pattern", "format", "$ref", "propertyNames", "const", "x-untrusted"} & set(part)
        assert len(part.get("description", "")) <= 120
        assert strict or "null" not in json.dumps(part)


@table("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_summary_is_120_characters_at_most(tool: Tool[Any]) -> None:
    assert len(tool.summary) <= 120


@table("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_strict_schema_keeps_the_rules_of_openai(tool: Tool[Any]) -> None:
    for part in schemas_within(compact_schema(tool, strict=True)):
        if part.get("type") in ("object", ["object", "null"]):
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
        assert not {"default", "minLength", "maxLength"} & set(part)


@table("form", FORMATS)
@table("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_example_fits_its_schema_and_is_taken_by_its_tool(form: str, tool: Tool[Any]) -> None:
    described = next(one for one in describe_tools(form, TOOLSETS) if tool.name in (one.get("name"), name_in(one)))
    example = EXAMPLES.get(tool.name, {})
    jsonschema_rs.validate(parameters_of(form, described), example)
    check_is_taken(tool, example)


def name_in(described: dict[str, Any]) -> Any:
    return described.get("function", {}).get("name")


def check_is_taken(tool: Tool[Any], example: dict[str, Any]) -> None:
    error = execute(context_of(), tool.name, example).error
    refused = ("compose_file_not_found", "not_found", "permission_denied", "docker_connection_failed", "not_available")
    assert error is None or error.code in refused, error


@table("tool", TOOLS, ids=lambda tool: tool.name)
def test_what_a_strict_model_sends_is_taken_with_null_for_all_that_may_be_left_out(tool: Tool[Any]) -> None:
    schema = compact_schema(tool, view=False, strict=True)
    example = EXAMPLES.get(tool.name, {})
    arguments: dict[str, Any] = {name: example.get(name) for name in schema["properties"]}
    if arguments.get("filters"):
        arguments["filters"] = {key: arguments["filters"].get(key) for key in strict_filters(schema)}
    jsonschema_rs.validate(schema, arguments)
    check_is_taken(tool, arguments)


def strict_filters(schema: dict[str, Any]) -> list[str]:
    return list(schema["properties"]["filters"]["properties"])


def test_null_for_what_a_tool_needs_is_refused() -> None:
    error = execute(context_of(), "get_container_info", {"container_id": None}).error
    assert error is not None
    assert error.details["errors"] == [{"field": "container_id", "message": "must be text"}]


@table("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_schema_names_each_field_of_the_tool_and_demands_the_same(tool: Tool[Any]) -> None:
    own, short = tool.input_schema(), compact_schema(tool, view=False)
    assert list(short["properties"]) == list(own.get("properties", {}))
    assert short.get("required", []) == own.get("required", [])


def test_who_pages_is_offered_pages_and_a_field_of_the_tool_wins() -> None:
    assert {"detail", "limit", "offset"} <= set(compact_schema(find_tool("diagnose_all"))["properties"])
    assert not {"limit", "offset"} & set(compact_schema(find_tool("get_container_info"))["properties"])
    assert compact_schema(find_tool("get_history"))["properties"]["limit"]["default"] == 100


def test_what_changes_only_our_own_state_is_not_called_read_only() -> None:
    hints = {one["name"]: one["annotations"] for one in describe_tools("mcp", TOOLSETS)}
    for tool in TOOLS:
        assert hints[tool.name]["readOnlyHint"] is (tool.effect == "read")
        assert hints[tool.name]["destructiveHint"] is False
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
    said = re.search(r"; but (.*?), which change", page)
    assert said is not None
    assert set(re.findall(r"`(\w+)`", said[1])) == {tool.name for tool in TOOLS if tool.effect != "read"}


@pytest.mark.parametrize(
    ("form", "toolsets", "strict", "said"),
    [
        ("opanai", ["core"], False, "did you mean openai?"),
        ("openai", ["cor"], False, "did you mean core?"),
        ("openai", [], False, "name at least one of core"),
        ("mcp", ["core"], True, "only the format openai"),
    ],
)
def test_what_there_is_not_is_refused_by_name(form: str, toolsets: list[str], strict: bool, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said.replace("?", r"\?")):
        describe_tools(form, toolsets, strict=strict)
