"""Every tool by POST under its name, and by GET where an address reads better."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic_core import from_json, to_json

from bcon_exporter.agents.answer_rendering import (
    AgentAnswer,
    ViewOptions,
    find_host_name,
    render_answer,
    render_error,
    split_options,
)
from bcon_exporter.agents.kept_pages import KeptPages
from bcon_exporter.agents.schemas import DEFAULT_TOOLSETS, FORMATS, describe_tools
from bcon_exporter.agents.select import check_expression, select_in
from bcon_exporter.agents.time_limits import call_within, find_seconds
from bcon_exporter.errors import BconError, ErrorCode, InvalidInputError
from bcon_exporter.model.lifecycle import HostMemory
from bcon_exporter.model.tool_inputs import Words
from bcon_exporter.outputs.http.openapi_models import (
    LIST_PARAMETERS,
    ToolDescription,
    describe_tool,
    query_parameters,
    result_model,
)
from bcon_exporter.outputs.http.own_state import refuse_other_sites
from bcon_exporter.outputs.http.queries import SELECT, SELECT_PARAMETER, read_expression, read_query
from bcon_exporter.outputs.http.replies import STATUS_BY_CODE, extra_headers, http_error
from bcon_exporter.outputs.http.request_threads import RenderedOnce, RequestThreads
from bcon_exporter.outputs.http.tool_calls import ToolCalls
from bcon_exporter.tools import TOOLS, Context, Envelope, Tool, find_tool, run_tool
from bcon_exporter.tools.digest import DIGEST
from bcon_exporter.tools.envelope import error_body
from bcon_exporter.tools.host_views import HOST_MEMORY

_FLAGS = ("all",)
_SWITCH = {"true": True, "1": True, "false": False, "0": False}
AGENT_VIEW = "agent"
_VIEW_PARAMETER = {
    "name": "view",
    "in": "query",
    "required": False,
    "schema": {"type": "string", "enum": [AGENT_VIEW]},
    "description": "agent: a small answer, and more inputs (docs/agents.md)",
}
_GET_ROUTES: tuple[tuple[str, str], ...] = (
    ("/api/v1/containers/{container_id}", "get_container_info"),
    ("/api/v1/containers/{container_id}/stats", "get_container_stats"),
    ("/api/v1/containers/{container_id}/logs", "get_container_logs"),
    ("/api/v1/containers/{container_id}/diagnosis", "diagnose_container"),
    ("/api/v1/health", "health_check"),
    ("/api/v1/history", "get_history"),
    ("/api/v1/deployments", "list_deployments"),
    ("/api/v1/incidents", "list_incidents"),
    ("/api/v1/incidents/{incident_id}", "get_incident"),
    ("/api/v1/disk", "get_disk_usage"),
    ("/api/v1/cost", "get_cost_report"),
)


def add_tool_routes(api: FastAPI, context: Callable[[], Context], threads: RequestThreads) -> None:
    """Add the routes of all tools."""
    caller = ToolCaller(context, threads)
    for tool in TOOLS:
        _add_post_route(api, caller, tool)
    api.add_api_route(
        "/api/v1/tools/{tool}", caller.refuse_unknown, methods=["POST"], include_in_schema=False, response_model=None
    )
    tools = RenderedOnce(_render_tools, threads)

    async def list_tools(request: Request) -> Response:
        if not any(parameter["name"] in request.query_params for parameter in LIST_PARAMETERS):
            return Response(await tools.read(), media_type="application/json")
        query = read_query(request)
        return _json(await threads.run(lambda: _render_for_agents(query)), 200)

    api.add_api_route(
        "/api/v1/tools",
        list_tools,
        methods=["GET"],
        tags=["tools"],
        summary="All tools with their schemas",
        responses={200: {"model": result_model("list_tools", tuple[ToolDescription, ...])}},
        openapi_extra={"parameters": LIST_PARAMETERS},
    )
    for path, name in _GET_ROUTES:
        _add_get_route(api, caller, path, find_tool(name))
    _add_list_route(api, caller, find_tool("list_containers"))
    api.add_api_route(
        "/api/v1/memory",
        caller.memory,
        methods=["GET"],
        tags=["reports"],
        summary=HOST_MEMORY.summary,
        responses={200: {"model": result_model("memory", HostMemory), "description": "The result"}},
    )
    _add_get(api, "/api/v1/digest", caller.digest, DIGEST, query_parameters(DIGEST))


class ToolCaller:
    """Calls tools and turns their envelopes into responses.

    Args:
        context: The context in force.
        threads: In which tools run.
        seconds_of: Returns how long a call may take.
    """

    def __init__(
        self,
        context: Callable[[], Context],
        threads: RequestThreads,
        seconds_of: Callable[[Tool[Any], object, datetime], float] = find_seconds,
    ) -> None:
        self._seconds_of = seconds_of
        self._calls = ToolCalls(context, threads)
        self._context, self._threads = context, threads
        self._kept = KeptPages()

    async def call(self, name: str, payload: object, expression: str | None = None) -> Response:
        """Return a tool's answer, or what an expression selects of it, with the status of its error code."""
        if expression is not None:
            check_expression(expression)
        tool = find_tool(name)
        seconds = self._seconds_of(tool, payload, self._context().now())
        envelope = await call_within(tool, self._calls.call(name, payload), seconds)
        if expression is None:
            return answer_of(envelope)
        return answer_of(await self._threads.run(lambda: select_in(expression, envelope)))

    async def call_for_agent(self, tool: Tool[Any], payload: object) -> Response:
        """Return a tool's answer as agents read it, with the status of its error code."""
        context = self._context()
        host_name, now = find_host_name(context), context.now()
        try:
            tool = tool.for_input(payload)
            options, arguments = (
                split_options(payload, tool) if isinstance(payload, Mapping) else (ViewOptions(), payload)
            )
        except InvalidInputError as error:
            context.errors.add(error.code)
            return _agent_response(render_error(tool.name, error, ViewOptions(), host_name, now), error.code)
        if (page := self._kept.find(tool, arguments, options)) is not None:
            return _agent_response(page, None)
        envelope = await call_within(tool, self._calls.call(tool.name, arguments))
        answer = await self._threads.run(lambda: render_answer(tool, envelope, options, host_name, now))
        self._kept.keep(tool, arguments, options, answer)
        wrong = ErrorCode.INVALID_INPUT if answer.is_error else None
        return _agent_response(answer, envelope.code or wrong)

    def refuse_agent(self, name: str, refusal: Response) -> Response:
        """Return a refusal of the body as agents read errors."""
        context, told = self._context(), from_json(bytes(refusal.body))["error"]
        error = InvalidInputError(told["message"], told["details"])
        answer = render_error(name, error, ViewOptions(), find_host_name(context), context.now())
        return _with_type(answer.body, refusal.status_code, answer.media_type)

    async def memory(self) -> Response:
        """Return what is remembered of every container: commands ask for it."""
        return answer_of(await self._threads.run(lambda: run_tool(self._context(), HOST_MEMORY, {})))

    async def digest(self, request: Request) -> Response:
        """Return what a period was like."""
        query = Words(read_query(request))
        return answer_of(await self._threads.run(lambda: run_tool(self._context(), DIGEST, query)))

    async def refuse_unknown(self, request: Request, tool: str) -> Response:
        """Answer 404 with the names that were perhaps meant."""
        refusal: BconError = http_error(404)
        try:
            find_tool(tool)
        except BconError as error:
            refusal = error
        if not _wants_agent_view(request):
            return _json(error_body(refusal), 404)
        context = self._context()
        answer = render_error(tool, refusal, ViewOptions(), find_host_name(context), context.now())
        return _with_type(answer.body, 404, answer.media_type)


def _json(body: bytes, status: int) -> Response:
    return _with_type(body, status, "application/json")


def _with_type(body: bytes | str, status: int, media_type: str) -> Response:
    headers = {name.decode(): value.decode() for name, value in extra_headers(status)}
    return Response(body, status, headers, media_type=media_type)


def _agent_response(answer: AgentAnswer, code: ErrorCode | None) -> Response:
    return _with_type(answer.body, 200 if code is None else STATUS_BY_CODE[code], answer.media_type)


def _wants_agent_view(request: Request) -> bool:
    """Whether the query asks for the view of agents.

    Raises:
        InvalidInputError: It asks for another view.
    """
    views = request.query_params.getlist("view")
    if views not in ([], [AGENT_VIEW]):
        msg = f"view: must be {AGENT_VIEW}, or left out"
        raise InvalidInputError(msg, {"errors": [{"field": "view", "message": f"must be {AGENT_VIEW}"}]})
    return bool(views)


def answer_of(envelope: Envelope) -> Response:
    """Return a tool's answer with the status of its error code."""
    status = 200 if envelope.error is None else STATUS_BY_CODE[envelope.error.code]
    return _json(envelope.body, status)


def _render_tools() -> bytes:
    return to_json({"result": [describe_tool(tool) for tool in TOOLS]})


def _render_for_agents(query: Mapping[str, str]) -> bytes:
    """Return the list of tools in the form of an agent's client.

    Raises:
        InvalidInputError: The query names a form, toolset or switch that there is not.
    """
    if "format" not in query:
        msg = f"toolsets and strict go with a format: one of {', '.join(FORMATS)}"
        raise InvalidInputError(msg, {"errors": [{"field": "format", "message": "is required"}]})
    strict = _SWITCH.get(query.get("strict", "false").lower())
    if strict is None:
        msg = "strict: must be true or false"
        raise InvalidInputError(msg, {"errors": [{"field": "strict", "message": "must be true or false"}]})
    names = query["toolsets"].split(",") if "toolsets" in query else DEFAULT_TOOLSETS
    return to_json({"result": describe_tools(query["format"], names, strict=strict)})


def _add_post_route(api: FastAPI, caller: ToolCaller, tool: Tool[Any]) -> None:
    async def post(request: Request) -> Response:
        if tool.effect != "read":
            refuse_other_sites(request)
        for_agent = _wants_agent_view(request)
        expression = read_expression(request)
        payload = await read_json(request)
        if isinstance(payload, Response):
            return caller.refuse_agent(tool.name, payload) if for_agent else payload
        if for_agent and isinstance(payload, Mapping) and expression is not None:
            payload = {**payload, SELECT: expression}
        if for_agent:
            return await caller.call_for_agent(tool, payload)
        return await caller.call(tool.name, payload, expression)

    body = {"content": {"application/json": {"schema": tool.input_schema()}}}
    api.add_api_route(
        f"/api/v1/tools/{tool.name}",
        post,
        methods=["POST"],
        tags=["tools"],
        summary=tool.summary,
        operation_id=tool.name,
        responses={200: {"model": result_model(tool.name, tool.output_type), "description": "The result"}},
        openapi_extra={"requestBody": body, "parameters": [_VIEW_PARAMETER, SELECT_PARAMETER]},
    )


def _add_get_route(api: FastAPI, caller: ToolCaller, path: str, tool: Tool[Any]) -> None:
    async def get(request: Request) -> Response:
        query = read_query(request)
        expression = query.pop(SELECT, None)
        return await caller.call(tool.name, Words({**query, **request.path_params}), expression)

    in_path = [name for name in ("container_id", "incident_id") if f"{{{name}}}" in path]
    properties = tool.input_schema().get("properties", {})
    parameters = [{"name": name, "in": "path", "required": True, "schema": properties[name]} for name in in_path]
    _add_get(api, path, get, tool, [*parameters, *query_parameters(tool, without=tuple(in_path))])


def _add_list_route(api: FastAPI, caller: ToolCaller, tool: Tool[Any]) -> None:
    """`?all=true&status=exited`: what is no field of the tool is one of its filters."""

    async def get(request: Request) -> Response:
        query = read_query(request)
        expression = query.pop(SELECT, None)
        payload: dict[str, object] = {name: query.pop(name) for name in _FLAGS if name in query}
        return await caller.call(tool.name, Words({**payload, "filters": query or None}), expression)

    keys = tool.input_schema()["properties"]["filters"]["anyOf"][0]["propertyNames"]["enum"]
    filters = [{"name": key, "in": "query", "required": False, "schema": {"type": "string"}} for key in keys]
    _add_get(api, "/api/v1/containers", get, tool, [*query_parameters(tool, without=("filters",)), *filters])


def _add_get(api: FastAPI, path: str, endpoint: Any, tool: Tool[Any], parameters: list[dict[str, Any]]) -> None:
    api.add_api_route(
        path,
        endpoint,
        methods=["GET"],
        tags=["reports"],
        summary=tool.summary,
        operation_id=f"get {path}",
        responses={200: {"model": result_model(tool.name, tool.output_type), "description": "The result"}},
        openapi_extra={"parameters": [*parameters, SELECT_PARAMETER]},
    )


async def read_json(request: Request) -> object:
    """Return the JSON body, `{}` for an empty one, or the response that refuses it."""
    body = await request.body()
    if not body:
        return {}
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        error = InvalidInputError("send the input as JSON with the header Content-Type: application/json")
        return _json(error_body(error), 415)
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as problem:
        where = str(problem).rpartition(" at ")[2][:60]
        error = InvalidInputError("the body is not valid JSON", {"at": where})
        return _json(error_body(error), STATUS_BY_CODE[error.code])
