"""The JSON API: every tool by POST, the latest reports by GET. Derived from the tool registry; decides nothing."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from bcon_exporter import __version__
from bcon_exporter.errors import BconError
from bcon_exporter.outputs.http.latest_reports import add_latest_routes
from bcon_exporter.outputs.http.notes_routes import add_notes_routes
from bcon_exporter.outputs.http.openapi_models import ERROR_RESPONSES, plain_paths
from bcon_exporter.outputs.http.quiet_routes import add_quiet_routes
from bcon_exporter.outputs.http.replies import STATUS_BY_CODE, extra_headers, http_error
from bcon_exporter.outputs.http.request_threads import RenderedOnce, RequestThreads
from bcon_exporter.outputs.http.stages import STAGES, mark_operations
from bcon_exporter.outputs.http.tool_routes import add_tool_routes
from bcon_exporter.tools import Context
from bcon_exporter.tools.envelope import error_body


def create_api(context: Callable[[], Context], threads: RequestThreads) -> FastAPI:
    """Return the API as an ASGI application; requests have passed the gate before they reach it."""
    api = FastAPI(
        title="bcon-exporter",
        version=__version__,
        summary="Diagnoses a Docker host's containers and finds drift from their Compose files. Read-only.",
        docs_url=None,  # the stock pages load scripts from elsewhere
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        responses=ERROR_RESPONSES,
    )
    api.add_exception_handler(HTTPException, _refuse)
    api.add_exception_handler(BconError, _fail)
    add_tool_routes(api, context, threads)
    add_latest_routes(api, context, threads)
    add_quiet_routes(api, context, threads)
    add_notes_routes(api, context, threads)

    document = RenderedOnce(lambda: _document(api), threads)

    @api.get("/openapi.json", tags=["exporter"], summary="This document", responses={})
    async def openapi_document() -> Response:
        return Response(await document.read(), media_type="application/json")

    return api


def _document(api: FastAPI) -> bytes:
    from pydantic_core import to_json

    document = api.openapi()
    paths = {**plain_paths(), **document["paths"]}
    mark_operations(paths, STAGES)
    return to_json({**document, "paths": paths})


async def _refuse(_request: Request, error: Any) -> Response:
    """Put a refusal of the framework (404, 405, ...) into the envelope."""
    headers = dict(error.headers or {})
    if headers.get("Allow") == "GET":  # the gate answers HEAD wherever GET is answered
        headers["Allow"] = "GET, HEAD"
    return _reply(http_error(error.status_code), error.status_code, headers)


async def _fail(_request: Request, error: Any) -> Response:
    return _reply(error, STATUS_BY_CODE[error.code])


def _reply(error: BconError, status: int, headers: Any = None) -> Response:
    more = {name.decode(): value.decode() for name, value in extra_headers(status)}
    return Response(error_body(error), status, {**(headers or {}), **more}, media_type="application/json")
