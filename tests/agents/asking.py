"""Asks every tool about a host, as agents do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bcon_exporter.agents.answer_rendering import AgentAnswer, render_answer, split_options
from bcon_exporter.agents.paging import UNTRUSTED_FENCE
from bcon_exporter.tools import TOOLS, call_tool, find_tool
from tests.agents.hostile import COMPOSE_FILE, MARKS, SENTENCE
from tests.tools.operation_inputs import good_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bcon_exporter.tools import Context

OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"detail": True},
    {"detail": True, "response_format": "markdown"},
    {"response_format": "markdown"},
)
"""Of the view: each changes what is told."""


MAY_FAIL = frozenset(
    (
        "flux",
        "scout",
        "get_container_stats",
        "restart_service",
        "schedule_task",
        "modify_config",
        "read_config",
        "read_logs",
    )
)
"""Tools that may refuse a replayed host, or all hosts."""


def ask_agent(context: Context, name: str, payload: dict[str, Any]) -> AgentAnswer:
    """The answer of one tool; the payload holds the view's inputs too."""
    tool = find_tool(name)
    if tool.choose is not None:
        payload = {"response_format": "json", **payload}
    tool = tool.for_input(payload)
    options, arguments = split_options(payload, tool)
    return render_answer(tool, call_tool(context, name, arguments), options, "shop-1", context.now())


INPUTS: dict[str, tuple[dict[str, Any], ...]] = {
    "detect_drift": ({"compose_file": COMPOSE_FILE},),
    "list_containers": ({"all": True},),
    "get_untracked_containers": ({"all": True},),
    "diagnose_all": ({"include_healthy": True},),
    "schedule_task": ({"task": "diagnose"},),
    "read_config": ({"path": COMPOSE_FILE},),
    "modify_config": ({"path": COMPOSE_FILE, "content": "services: {}"},),
    "write_memory": ({"text": SENTENCE},),
    **dict.fromkeys(("query_memory", "rag_search"), ({"query": SENTENCE}, {"query": "connection refused"})),
}
"""Tool → what it is asked about a whole host; nothing where it is not named."""
OF_EACH = ("container:logs", "container:inspect", "container:recreate")
"""Operations that are asked about every container."""
CONTAINER_FIELDS = ("container_id", "unit", "service")
"""Inputs that name a container."""


def list_calls(context: Context, containers: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every tool with inputs that it answers well: those of one container about each of these."""
    incidents = [one.id for one in call_tool(context, "list_incidents", {"limit": 200}).value.incidents]
    for tool in TOOLS:
        field = next((name for name in CONTAINER_FIELDS if name in tool.input_model.model_fields), None)
        if tool.choose is not None:
            for name in containers:
                for operation, payload in good_inputs(tool.name, container=name, file=COMPOSE_FILE):
                    if name == containers[0] or operation.key in OF_EACH:
                        yield tool.name, payload
            continue
        if tool.name == "get_incident":
            yield from ((tool.name, {"incident_id": one}) for one in incidents)
        elif field is not None:
            pattern = {"error_pattern": "re:(?i).+"} if tool.name == "explain_error" else {}
            yield from ((tool.name, {field: name, **pattern}) for name in containers)
        else:
            yield from ((tool.name, payload) for payload in INPUTS.get(tool.name, ({},)))


def outside_of_untrusted(body: str) -> str:
    """The answer without what stands in `untrusted`."""
    if not body.startswith("{"):
        parts = body.split(UNTRUSTED_FENCE)
        return parts[0] + "".join(part.partition("~~~")[2] for part in parts[1:])
    return json.dumps(_without_untrusted(json.loads(body)))


def _without_untrusted(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_untrusted(item) for key, item in value.items() if key != "untrusted"}
        case list():
            return [_without_untrusted(item) for item in value]
        case _:
            return value


def tells(text: str) -> bool:
    return any(mark in text.lower() for mark in MARKS)
