"""Resources: reports and runbooks under addresses, each within the budget of an answer."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

import mcp_types as types
from pydantic_core import from_json, to_json

from bcon_exporter.agents.answer_rendering import AgentAnswer, ViewOptions
from bcon_exporter.model.name_suggestions import did_you_mean
from bcon_exporter.outputs.mcp.answers import Answers
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.shipped_documents import RUNBOOKS, read_documents
from bcon_exporter.tools import find_tool

BUDGET_BYTES = 8192
_HALF_BYTES = 4000
"""Of a project's resource, which holds two reports."""
_JSON, _MARKDOWN = "application/json", "text/markdown"
_SCHEME = "bcon://"

LATEST = types.Resource(
    uri="bcon://reports/latest",
    name="latest report",
    description="What is wrong on this host now, the worst first.",
    mime_type=_JSON,
)
TEMPLATES = (
    types.ResourceTemplate(
        uri_template="bcon://containers/{name}",
        name="container",
        description="What is wrong with one container, why, and what to do.",
        mime_type=_JSON,
    ),
    types.ResourceTemplate(
        uri_template="bcon://projects/{name}",
        name="project",
        description="A Compose project: its containers, and where they left its files.",
        mime_type=_JSON,
    ),
    types.ResourceTemplate(
        uri_template="bcon://incidents/{id}",
        name="incident",
        description="One failure: its root, who suffers, what changed before it, how it ended.",
        mime_type=_JSON,
    ),
    types.ResourceTemplate(
        uri_template="bcon://runbooks/{id}",
        name="runbook",
        description="What to do about one alert.",
        mime_type=_MARKDOWN,
    ),
)


class UnknownResourceError(Exception):
    """There is nothing at this address."""


async def read_resource(answers: Answers, uri: str) -> AgentAnswer:
    """Return what stands at an address.

    Raises:
        UnknownResourceError: Nothing does.
    """
    kind, _, rest = uri.removeprefix(_SCHEME).partition("/") if uri.startswith(_SCHEME) else ("", "", "")
    name = unquote(rest)
    if uri == LATEST.uri:
        return await report_host(answers)
    match kind if name else "":
        case "containers":
            return await report_container(answers, name)
        case "projects":
            return await _report_project(answers, name)
        case "incidents":
            return await report_incident(answers, name)
        case "runbooks":
            return _read_runbook(name)
        case _:
            msg = f"there is no resource {clean_name(uri)[:200]!r}; resources/templates/list says which there are"
            raise UnknownResourceError(msg)


async def report_host(answers: Answers) -> AgentAnswer:
    """Return what is wrong on the host."""
    return await answers.call(find_tool("diagnose_all"), {"max_bytes": BUDGET_BYTES})


async def report_container(answers: Answers, name: str) -> AgentAnswer:
    """Return all that is said of one container."""
    return await answers.call(find_tool("diagnose_container"), {"container_id": name, "detail": True})


async def report_incident(answers: Answers, incident_id: str) -> AgentAnswer:
    """Return all that is known of one incident."""
    return await answers.call(find_tool("get_incident"), {"incident_id": incident_id, "detail": True})


async def report_drift(answers: Answers, project: str) -> AgentAnswer:
    """Return where a project's containers left its files."""
    return await answers.compare_project(project, ViewOptions(detail=True))


async def _report_project(answers: Answers, project: str) -> AgentAnswer:
    """Return a project's containers and its drift, as one JSON object of two answers."""
    known = await names_for(answers, "project")
    drift = await answers.compare_project(project, ViewOptions(max_bytes=_HALF_BYTES))
    if drift.is_error and project not in known:
        return drift
    wanted = {"all": True, "filters": {"project": project}, "max_bytes": _HALF_BYTES}
    containers = await answers.call(find_tool("list_containers"), wanted)
    if containers.is_error:
        return containers
    both = {"containers": from_json(containers.body), "drift": from_json(drift.body)}
    return AgentAnswer(body=to_json(both).decode(), is_error=False, media_type=_JSON)


def _read_runbook(name: str) -> AgentAnswer:
    documents = read_documents()
    text = documents.get(f"{RUNBOOKS}/{name}")
    if text is None:
        known = _runbooks()
        msg = f"there is no runbook {clean_name(name)[:64]!r}{did_you_mean(name, known)}"
        raise UnknownResourceError(msg)
    return AgentAnswer(body=_cut_lines(text), is_error=False, media_type=_MARKDOWN)


def _cut_lines(text: str) -> str:
    """Return as many of the first lines as the budget takes, and how many were left out."""
    if len(text.encode()) <= BUDGET_BYTES:
        return text
    note = "\n… {} more lines\n"
    kept, size, lines = 0, len(note) + 8, text.splitlines(keepends=True)
    while size + len(lines[kept].encode()) <= BUDGET_BYTES:
        size += len(lines[kept].encode())
        kept += 1
    return "".join(lines[:kept]) + note.format(len(lines) - kept)


def _runbooks() -> list[str]:
    return [name.partition("/")[2] for name in read_documents() if name.startswith(f"{RUNBOOKS}/")]


async def names_for(answers: Answers, kind: str) -> tuple[str, ...]:
    """Return the names that complete an argument.

    Args:
        answers: Who knows them.
        kind: A resource template, or the argument of a prompt: `container`, `project`, `incident`.
    """
    match kind:
        case "container" | "bcon://containers/{name}":
            return _unique(one.get("name") for one in await _list_containers(answers))
        case "project" | "bcon://projects/{name}":
            return _unique(one.get("compose_project") for one in await _list_containers(answers))
        case "incident" | "bcon://incidents/{id}":
            report = await answers.read("list_incidents", {"limit": 100})
            return tuple(one["id"] for one in (report or {}).get("incidents", ()))
        case "bcon://runbooks/{id}":
            return tuple(_runbooks())
        case _:
            return ()


async def _list_containers(answers: Answers) -> list[dict[str, Any]]:
    return await answers.read("list_containers", {"all": True}) or []


def _unique(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name}))
