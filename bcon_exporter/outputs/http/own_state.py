"""Routes that change the daemon's own state: for people of this site only, and nothing is asked of the engine."""

from typing import Any

from fastapi import FastAPI, Request

from bcon_exporter.errors import PermissionDeniedError
from bcon_exporter.outputs.http.openapi_models import result_model
from bcon_exporter.tools import Tool

_SAME_SITE = ("same-origin", "none", None)


def refuse_other_sites(request: Request) -> None:
    """Refuse what a browser sends for another site, also as a navigation, which the gate lets through for reading.

    Raises:
        PermissionDeniedError: It is so.
    """
    if request.headers.get("sec-fetch-site") not in _SAME_SITE:
        msg = "requests on behalf of another web site are not served"
        raise PermissionDeniedError(msg, {})


def add_route(api: FastAPI, tag: str, method: str, path: str, endpoint: Any, tool: Tool[Any]) -> None:
    """Add a route that runs a tool which is no tool of the registry.

    Args:
        api: Gets the route.
        tag: Under which the OpenAPI document lists it.
        method: GET, or POST with the tool's input as its body.
        path: May name a field of the input in braces: it has no body then.
        endpoint: Answers.
        tool: For the schemas.
    """
    more: dict[str, Any] = {}
    properties = tool.input_schema().get("properties", {})
    in_path = [name for name in properties if f"{{{name}}}" in path]
    if in_path:
        parameters = [{"name": name, "in": "path", "required": True, "schema": properties[name]} for name in in_path]
        more = {"parameters": parameters}
    elif method == "POST":
        more = {"requestBody": {"required": True, "content": {"application/json": {"schema": tool.input_schema()}}}}
    api.add_api_route(
        path,
        endpoint,
        methods=[method],
        tags=[tag],
        summary=tool.summary,
        operation_id=f"{method.lower()} {path}",
        responses={200: {"model": result_model(tool.name, tool.output_type), "description": "The result"}},
        openapi_extra=more,
    )
