"""What people tell the daemon over HTTP: who is quiet for a while, and that they are on an incident.

Only the daemon's own state is changed; nothing is asked of the engine.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request, Response

from bcon_exporter.errors import InvalidInputError, PermissionDeniedError
from bcon_exporter.outputs.http.form_tokens import is_own_form
from bcon_exporter.outputs.http.own_state import add_route, refuse_other_sites
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.outputs.http.tool_routes import answer_of, read_json
from bcon_exporter.tools import Context, Tool, run_tool
from bcon_exporter.tools.quiet import ACKNOWLEDGE_INCIDENT, BEGIN_QUIET, END_QUIET, LIST_QUIET

FORM_PATH = "/quiet"
_FORM_TYPE = "application/x-www-form-urlencoded"
_FORM_FIELDS = ("name", "duration", "why", "token", "back", "end", "acknowledge")


def add_quiet_routes(api: FastAPI, context: Callable[[], Context], threads: RequestThreads) -> None:
    """Add the routes of `quiet`, of the page's form, and of acknowledging an incident."""
    routes = QuietRoutes(context, threads)
    add_route(api, "quiet", "GET", "/api/v1/quiet", routes.list, LIST_QUIET)
    add_route(api, "quiet", "POST", "/api/v1/quiet", routes.begin, BEGIN_QUIET)
    add_route(api, "quiet", "POST", "/api/v1/quiet/end", routes.end, END_QUIET)
    add_route(
        api, "quiet", "POST", "/api/v1/incidents/{incident_id}/acknowledge", routes.acknowledge, ACKNOWLEDGE_INCIDENT
    )
    api.add_api_route(FORM_PATH, routes.take_form, methods=["POST"], include_in_schema=False, response_model=None)


class QuietRoutes:
    """Answers requests that change what people are told of."""

    def __init__(self, context: Callable[[], Context], threads: RequestThreads) -> None:
        self._context, self._threads = context, threads

    async def list(self) -> Response:
        """Return who is quiet now."""
        return await self._run(LIST_QUIET, {})

    async def begin(self, request: Request) -> Response:
        """Mute a container or a project."""
        return await self._change(request, BEGIN_QUIET)

    async def end(self, request: Request) -> Response:
        """Let people be told of it again."""
        return await self._change(request, END_QUIET)

    async def acknowledge(self, request: Request) -> Response:
        """Note that somebody is on an incident."""
        refuse_other_sites(request)
        return await self._run(ACKNOWLEDGE_INCIDENT, {"incident_id": request.path_params["incident_id"]})

    async def take_form(self, request: Request) -> Response:
        """Do what the page's form asks for, and lead back to the page."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM_TYPE:
            msg = f"send the form as {_FORM_TYPE}"
            raise InvalidInputError(msg, {})
        pairs = parse_qsl((await request.body()).decode(errors="replace"), max_num_fields=len(_FORM_FIELDS))
        form = {name: value for name, value in pairs if name in _FORM_FIELDS}
        if not is_own_form(request.scope, form.get("token", "")):
            msg = "the form is not one that this exporter has made for you; load the page again"
            raise PermissionDeniedError(msg, {})
        if form.get("acknowledge"):
            answer = await self._run(ACKNOWLEDGE_INCIDENT, {"incident_id": form["acknowledge"]})
        elif form.get("end"):
            answer = await self._run(END_QUIET, {"name": form.get("name", "")})
        else:
            fields = {name: form.get(name, "") for name in ("name", "duration", "why")}
            answer = await self._run(BEGIN_QUIET, fields)
        if answer.status_code != 200:  # noqa: PLR2004 -- the envelope says why
            return answer
        return Response(status_code=303, headers={"location": f".{_own_path(form.get('back', ''))}"})

    async def _change(self, request: Request, tool: Tool[Any]) -> Response:
        refuse_other_sites(request)
        payload = await read_json(request)
        return payload if isinstance(payload, Response) else await self._run(tool, payload)

    async def _run(self, tool: Tool[Any], payload: object) -> Response:
        return answer_of(await self._threads.run(lambda: run_tool(self._context(), tool, payload)))


def _own_path(path: str) -> str:
    """Return a path of this server; the first page in place of anything else. A proxy may put more before it."""
    is_own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isascii() and path.isprintable()
    return path if is_own and len(path) < 1024 else "/"  # noqa: PLR2004 -- longer than any page of ours
