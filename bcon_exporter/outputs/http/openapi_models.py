"""The shapes of the API's answers, for the OpenAPI document."""

from functools import cache
from typing import Any

from pydantic import BaseModel, Field, create_model

from bcon_exporter.agents.schemas import FORMATS
from bcon_exporter.errors import ErrorCode
from bcon_exporter.model.alerts import AlertsReport
from bcon_exporter.model.base import Frozen
from bcon_exporter.model.reports import DiagnoseAllReport, DriftReport
from bcon_exporter.outputs.http.host_status import STATUS_PATH, HostStatus
from bcon_exporter.tools import Tool


class ErrorBody(Frozen):
    """What went wrong and what to do about it."""

    code: ErrorCode
    message: str
    details: dict[str, Any] = Field({}, description="Facts for machines: the id asked for, near matches, fields")


class ErrorEnvelope(Frozen):
    """Every answer that is no result."""

    error: ErrorBody


class LatestDiagnosis(DiagnoseAllReport):
    """The last scan's report with every container's full report, and how old it is."""

    age_seconds: float


class LatestDriftReport(DriftReport):
    """The last scan's report of one project, and how old it is."""

    age_seconds: float


class LatestDrift(Frozen):
    """The last scan's reports of all projects, and how old they are."""

    age_seconds: float
    reports: tuple[DriftReport, ...]
    untracked: tuple[str, ...]


class LatestAlerts(AlertsReport):
    """The alerts of the last round, and how old they are."""

    age_seconds: float


class ToolDescription(Frozen):
    """One tool with the JSON schemas of what it takes and gives."""

    name: str
    summary: str
    stage: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]


@cache
def result_model(name: str, output_type: Any) -> type[BaseModel]:
    """Return the envelope of a result."""
    return create_model(f"{name}_result", result=(output_type, ...))


def describe_tool(tool: Tool[Any]) -> ToolDescription:
    """Return a tool as the list of tools shows it."""
    return ToolDescription(
        name=tool.name,
        summary=tool.description,
        stage=tool.stage.word,
        input_schema=tool.input_schema(),
        output_schema=tool.output_schema(),
    )


_ENVELOPE = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorEnvelope"}}}
ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": description, "content": _ENVELOPE}
    for status, description in {
        400: "The input is wrong; details.errors names each field",
        401: "User name and password are needed",
        403: "The socket, the file or this listener does not allow it",
        404: "No such container, Compose file or address",
        405: "The address does not take this method",
        408: "The body did not come in time",
        413: "The body is larger than 64 KiB",
        415: "The body is not declared as application/json",
        421: "The Host header names another server",
        422: "Compose refused the file",
        429: "Too many requests at once; try again",
        431: "The headers are larger than 16 KiB",
        500: "A defect; the log has the details",
        503: "The engine cannot be reached, or no scan has ended yet",
        504: "The engine or Compose did not answer in time",
    }.items()
}
# One of them names the model, so that FastAPI puts it into the document: with all 15, each of 54 routes would have 15
# adapters of its own, and the first request waits for them.
ERROR_RESPONSES[500]["model"] = ErrorEnvelope


def query_parameters(tool: Tool[Any], without: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Return a tool's input fields as query parameters."""
    schema = tool.input_schema()
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": field}
        for name, field in schema.get("properties", {}).items()
        if name not in without
    ]


LIST_PARAMETERS: list[dict[str, Any]] = [
    {"name": name, "in": "query", "required": False, "description": description, "schema": schema}
    for name, description, schema in (
        ("format", "As this client of agents wants the list", {"type": "string", "enum": list(FORMATS)}),
        ("toolsets", "With format: which tools, separated by commas; core when absent", {"type": "string"}),
        ("strict", "With format=openai: schemas for its strict mode", {"type": "boolean"}),
    )
]
"""How the list of tools may be asked for; without any of them it is ours, with results' schemas."""

_NO_USER = (401,)
_OF_THE_GATE = (400, 403, 405, 408, 413, 421, 431, 500)


def plain_paths() -> dict[str, Any]:
    """Return the addresses that are served without the API framework."""
    text = _content("text/plain")
    families = text | _content("application/openmetrics-text")
    return {
        "/": {"get": _page("What is wrong on this host, on one page; to strangers a page without reports")},
        "/c/{container}": {"get": _page("Page of a container, by name or short id", "container")},
        "/i/{incident_id}": {"get": _page("Page of an incident", "incident_id")},
        "/p/{project}": {"get": _page("Page of a Compose project", "project")},
        "/tail/{container}": {
            "get": _operation(
                "The newest lines of a log and each new one, as server-sent events",
                {"200": _content("text/event-stream")},
                (400, *_NO_USER, 404, 503),
            )
            | {"parameters": [_path_parameter("container")]}
        },
        "/history": {"get": _page("Timeline; takes the query of /api/v1/history")},
        "/alerts": {"get": _page("Alerts that fire, wait or have just ended")},
        "/docs/": {"get": _document("The documents of this version, by task")},
        "/docs/{name}": {"get": _document("A document") | {"parameters": [_path_parameter("name")]}},
        "/docs/runbooks/{alert}": {
            "get": _document("The runbook of an alert") | {"parameters": [_path_parameter("alert")]}
        },
        STATUS_PATH: {
            "get": _operation("How the host is, in at most 300 bytes", {"200": _json_of(HostStatus)}, _NO_USER)
        },
        "/metrics": {
            "get": _operation("Metrics, as text 0.0.4 or OpenMetrics 1.0", {"200": families}, _NO_USER)
            | {"parameters": [_names_parameter()]}
        },
        "/-/healthy": {"get": _operation("200 while scans are started on time", {"200": text, "503": text})},
        "/-/ready": {"get": _operation("200 with a good scan and a reachable engine", {"200": text, "503": text})},
    }


def _page(summary: str, argument: str | None = None) -> dict[str, Any]:
    """Return the operation of a page; what is wrong with a request is told on a page too."""
    page = _content("text/html")
    operation = _operation(summary, dict.fromkeys(("200", "400", "404", "503"), page), _NO_USER)
    operation["responses"]["400"]["content"] = page | _ENVELOPE
    if argument is not None:
        operation["parameters"] = [_path_parameter(argument)]
    return operation


def _document(summary: str) -> dict[str, Any]:
    return _operation(summary, {"200": _content("text/html")}, (*_NO_USER, 404))


def _path_parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _json_of(model: type[Frozen]) -> dict[str, Any]:
    schema = {"type": "object", "required": ["result"], "properties": {"result": model.model_json_schema()}}
    return {"application/json": {"schema": schema}}


def _content(media_type: str) -> dict[str, Any]:
    return {media_type: {"schema": {"type": "string"}}}


def _operation(summary: str, contents: dict[str, Any], errors: tuple[int, ...] = ()) -> dict[str, Any]:
    """Return an operation with its own answers, and the errors of `errors` and of the gate before every address."""
    responses = {
        str(status): {"description": ERROR_RESPONSES[status]["description"], "content": _ENVELOPE}
        for status in sorted((*errors, *_OF_THE_GATE))
    }
    responses |= {status: {"description": summary, "content": content} for status, content in contents.items()}
    return {"summary": summary, "tags": ["exporter"], "responses": responses}


def _names_parameter() -> dict[str, Any]:
    return {
        "name": "name[]",
        "in": "query",
        "required": False,
        "description": "Only these metric families; may be repeated",
        "schema": {"type": "array", "items": {"type": "string"}},
    }
