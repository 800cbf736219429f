"""The one list of tools, and the one way to call them."""

import json
import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from bcon_exporter.errors import BconError, InternalError, InvalidInputError
from bcon_exporter.model.base import Frozen
from bcon_exporter.model.name_suggestions import did_you_mean, nearest_names
from bcon_exporter.model.reports import CostEntry
from bcon_exporter.model.tool_inputs import NOW, TO_LOCAL, WORDS, Words
from bcon_exporter.model.validation_messages import tell_refusal
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.secrets.hide_in_models import hide_in_error
from bcon_exporter.tools.agents import AGENT_TOOLS
from bcon_exporter.tools.containers import CONTAINER_TOOLS
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.cost import measure_usage
from bcon_exporter.tools.diagnosis import DIAGNOSIS_TOOLS
from bcon_exporter.tools.disk import DISK_TOOLS
from bcon_exporter.tools.drift import DRIFT_TOOLS
from bcon_exporter.tools.envelope import Envelope, failure
from bcon_exporter.tools.exporter_status import UTILITY_TOOLS
from bcon_exporter.tools.incidents import INCIDENT_TOOLS
from bcon_exporter.tools.log_views import LOG_TOOLS
from bcon_exporter.tools.notes import NOTE_TOOLS
from bcon_exporter.tools.operations import OPERATION_TOOLS
from bcon_exporter.tools.search import SEARCH_TOOLS
from bcon_exporter.tools.tool import Tool

_log = logging.getLogger(__name__)

TOOLS: tuple[Tool[Any], ...] = (
    *CONTAINER_TOOLS,
    *LOG_TOOLS,
    *DRIFT_TOOLS,
    *DIAGNOSIS_TOOLS,
    *INCIDENT_TOOLS,
    *SEARCH_TOOLS,
    *NOTE_TOOLS,
    *DISK_TOOLS,
    *UTILITY_TOOLS,
    *AGENT_TOOLS,
    *OPERATION_TOOLS,
)


def find_tool(name: str) -> Tool[Any]:
    """Return the tool of this name.

    Raises:
        InvalidInputError: There is none; `details["near_matches"]` lists similar names.
    """
    for tool in TOOLS:
        if tool.name == name:
            return tool
    names = [tool.name for tool in TOOLS]
    shown = clean_name(name)[:64]
    msg = f"there is no tool {shown!r}{did_you_mean(name, names)}"
    raise InvalidInputError(msg, {"tool": shown, "near_matches": nearest_names(name, names), "tools": names})


def call_tool(context: Context, name: str, payload: object) -> Envelope:
    """Run a tool on a JSON value or on `Words` and answer in the envelope; never raises, keeps ledger and error count.

    Identical requests at the same time share one run; too many different ones are `rate_limited`.
    """
    try:
        tool = find_tool(name)
    except InvalidInputError as error:
        context.errors.add(error.code)
        return failure(error)
    return run_tool(context, tool, payload)


def run_tool(context: Context, tool: Tool[Any], payload: object) -> Envelope:
    """Do what `call_tool` does, with a tool at hand."""
    started, calls_before = context.monotonic(), _engine_calls(context)
    envelope = _answer(context, tool, payload)
    if envelope.code is not None:
        context.errors.add(envelope.code)
    docker_calls = 0 if envelope.shared else max(0, _engine_calls(context) - calls_before)
    seconds = context.monotonic() - started
    context.memory.record_cost(_ledger_entry(context, tool.name, payload, envelope, seconds, docker_calls))
    return envelope


execute = call_tool
"""What the registries of agents' tools call it."""


def record_shared(context: Context, name: str, payload: object, envelope: Envelope, seconds: float, calls: int) -> None:
    """Keep the ledger of calls that a face has answered with the envelope of an identical one."""
    entry = _ledger_entry(context, name, payload, replace(envelope, shared=True), seconds, docker_calls=0)
    for _ in range(calls):
        context.memory.record_cost(entry)


def _ledger_entry(
    context: Context, name: str, payload: object, envelope: Envelope, seconds: float, docker_calls: int
) -> CostEntry:
    return CostEntry(
        timestamp=context.now(),
        operation=name,
        usage=measure_usage(len(_canonical(payload)), len(envelope.body)),
        cached=envelope.shared,
        docker_calls=docker_calls,
        seconds=round(seconds, 6),
        failed=envelope.error is not None,
    )


def _answer(context: Context, tool: Tool[Any], payload: object) -> Envelope:
    try:
        tool = tool.for_input(payload)
        request = parse_input(tool, payload, context.now(), context.to_local)
        if not tool.works:
            return _run(context, tool, request)
        key = (tool, request.model_dump_json())
        envelope, shared = context.single_flight.run(key, lambda: _run(context, tool, request))
    except BconError as error:
        return failure(hide_in_error(error, context.secrets.hide))
    except Exception as error:  # noqa: BLE001 -- the request boundary: a defect becomes an error with an id
        return failure(_defect(tool.name, error))
    return Envelope(envelope.value, None, envelope.body, shared=shared)


def _run(context: Context, tool: Tool[Any], request: Frozen) -> Envelope:
    value = tool.answer(context, request)
    return Envelope(value, None, b'{"result":' + tool.output.dump_json(value) + b"}")


def _defect(name: str, error: Exception) -> InternalError:
    """Log what happened under an id that the caller is told; the caller gets neither message nor traceback."""
    incident = secrets.token_hex(4)
    _log.exception("tool %s failed unexpectedly (id %s)", clean_name(name)[:64], incident, exc_info=error)
    msg = f"an unexpected {type(error).__name__} happened; the log has the details under id {incident}"
    return InternalError(msg, {"id": incident})


def parse_input(
    tool: Tool[Any], payload: object, now: datetime, to_local: Callable[[datetime], datetime] | None = None
) -> Frozen:
    """Return the tool's input; None is an empty one.

    Args:
        tool: The tool.
        payload: JSON, or `Words`; null for a field that may be left out is the same as leaving it out.
        now: What a relative time such as "10m" is counted back from.
        to_local: Returns a time by the host's clock on the wall; without it "yesterday" is unknown.

    Raises:
        InvalidInputError: `details["errors"]` names each field and what is wrong with it, never its value.
    """
    payload = {} if payload is None else payload
    if not isinstance(payload, Mapping):
        msg = f"{tool.name}: the input must be a JSON object, {{}} for none"
        raise InvalidInputError(msg, {"tool": tool.name, "errors": [{"field": "", "message": "not an object"}]})
    try:
        context = {WORDS: isinstance(payload, Words), NOW: now} | ({TO_LOCAL: to_local} if to_local else {})
        request: Frozen = tool.input_model.model_validate(_without_nulls(tool, payload), context=context)
    except ValidationError as error:
        problems = [_problem(tool, item) for item in error.errors(include_input=False, include_url=False)]
        msg = f"{tool.name}: " + "; ".join(_sentence(problem) for problem in problems[:3])
        raise InvalidInputError(msg, {"tool": tool.name, "errors": problems[:20]}) from None
    return request


def _without_nulls(tool: Tool[Any], payload: Mapping[str, object]) -> dict[str, object]:
    """Return the input without null where a field may be left out; so say models that must name every field."""
    fields = tool.input_model.model_fields
    optional = {field.alias or name for name, field in fields.items() if not field.is_required()}
    optional |= tool.also_named - fields.keys()
    return {name: value for name, value in payload.items() if value is not None or name not in optional}


def _problem(tool: Tool[Any], item: Mapping[str, Any]) -> dict[str, str]:
    """Return the field and what is wrong with it; never the value."""
    path = ".".join(clean_name(str(part))[:64] for part in item["loc"] if part != "[key]")
    match item["type"]:
        case "extra_forbidden":
            fields = tool.input_schema().get("properties", {})
            message = f"unknown field{did_you_mean(path, fields)}"
        case "missing":
            message = "is required"
        case _:
            message = tell_refusal(item)
    return {"field": path, "message": message}


def _sentence(problem: Mapping[str, str]) -> str:
    return f"{problem['field']}: {problem['message']}" if problem["field"] else problem["message"]


def _engine_calls(context: Context) -> int:
    return context.host.requests().total


def _canonical(payload: object) -> bytes:
    return json.dumps(payload, default=str).encode(errors="replace")
