"""Promise: the types of the starting document hold field by field; more fields may stand beside them."""

from __future__ import annotations

from typing import Any

import pytest

from bcon_exporter.tools import find_tool
from tests.table_rows import table

TEXT, WHOLE, NUMBER, TIME, FLAG = "string", "integer", "number", "date-time", "boolean"
TEXTS = ["string"]
INPUTS: dict[str, dict[str, tuple[Any, Any]]] = {
    "list_containers": {"all": (FLAG, False), "filters": ("null|object", None)},
    "get_container_info": {"container_id": (TEXT, ...)},
    "get_container_stats": {"container_id": (TEXT, ...)},
    "get_container_logs": {
        "container_id": (TEXT, ...),
        "tail": (WHOLE, 100),
        "since": ("date-time|null|string", None),
        "until": ("date-time|null|string", None),
        "timestamps": (FLAG, True),
    },
    "detect_drift": {"compose_file": (TEXT, ...), "project_name": ("null|string", None)},
    "get_untracked_containers": {"compose_file": ("null|string", None), "project_name": ("null|string", None)},
    "diagnose_container": {"container_id": (TEXT, ...), "include_logs": (FLAG, True), "log_tail": (WHOLE, 200)},
    "explain_error": {"container_id": (TEXT, ...), "error_pattern": (TEXT, ...), "context_lines": (WHOLE, 5)},
    "diagnose_all": {"include_healthy": (FLAG, False)},
    "health_check": {},
    "get_cost_report": {"period": (TEXT, "day")},
}
"""Tool → field → its type in JSON, and its default (... where it is required)."""

CONTAINER = {"id": TEXT, "name": TEXT, "image": TEXT, "state": TEXT, "status": TEXT}
OUTPUTS: dict[str, Any] = {
    "list_containers": [CONTAINER],
    "get_container_info": CONTAINER,
    "get_untracked_containers": [CONTAINER],
    "explain_error": {
        "pattern": TEXT,
        "occurrences": WHOLE,
        "first_seen": "date-time|null",
        "last_seen": "date-time|null",
        "explanation": TEXT,
        "likely_causes": TEXTS,
        "suggestions": TEXTS,
        "sample_logs": TEXTS,
    },
    "diagnose_all": {
        "timestamp": TIME,
        "total_containers": WHOLE,
        "healthy": WHOLE,
        "warning": WHOLE,
        "error": WHOLE,
        "critical": WHOLE,
        "summaries": [
            {"container_id": TEXT, "container_name": TEXT, "status": TEXT, "top_issue": "null|string"},
        ],
    },
}
"""Tool → field → its type in JSON; a list of one is an array of that."""


def kind_of(schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """The type of a schema as the tables above write it."""
    if "$ref" in schema:
        return kind_of(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return "|".join(sorted({str(kind_of(one, definitions)) for one in schema["anyOf"]}))
    if schema.get("type") == "array":
        return [kind_of(schema["items"], definitions)]
    if "properties" in schema:
        return {name: kind_of(one, definitions) for name, one in schema["properties"].items()}
    return schema.get("format") or schema["type"]


def within(expected: Any, given: Any) -> Any:
    """What is given, without the fields that are not expected."""
    if isinstance(expected, list) and isinstance(given, list):
        return [within(expected[0], given[0])]
    if isinstance(expected, dict) and isinstance(given, dict):
        return {name: within(one, given.get(name)) for name, one in expected.items()}
    return given


@table("name", INPUTS)
def test_a_tool_takes_the_fields_that_it_was_promised_to_take(name: str) -> None:
    schema = find_tool(name).input_schema()
    given = {
        field: (kind_of(one, schema.get("$defs", {})), ... if field in schema.get("required", ()) else one["default"])
        for field, one in schema.get("properties", {}).items()
    }
    assert within(INPUTS[name], given) == INPUTS[name]


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_tool_gives_the_fields_that_it_was_promised_to_give(name: str) -> None:
    schema = find_tool(name).output_schema()
    assert within(OUTPUTS[name], kind_of(schema, schema.get("$defs", {}))) == OUTPUTS[name]
