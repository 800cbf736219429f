"""What people know, over HTTP: notes are listed, added, approved, refused and removed."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request, Response

from bcon_exporter.outputs.http.own_state import add_route, refuse_other_sites
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.outputs.http.tool_routes import answer_of, read_json
from bcon_exporter.tools import Context, Tool, run_tool
from bcon_exporter.tools.notes import ADD_NOTE, APPROVE_NOTE, LIST_NOTES, REFUSE_NOTE, REMOVE_NOTE

_PATH = "/api/v1/notes"


def add_notes_routes(api: FastAPI, context: Callable[[], Context], threads: RequestThreads) -> None:
    """Add the routes of notes; who posts here is taken for a person."""
    routes = NotesRoutes(context, threads)
    add_route(api, "notes", "GET", _PATH, routes.list, LIST_NOTES)
    add_route(api, "notes", "POST", _PATH, routes.add, ADD_NOTE)
    for verb, tool in (("approve", APPROVE_NOTE), ("refuse", REFUSE_NOTE), ("remove", REMOVE_NOTE)):
        add_route(api, "notes", "POST", f"{_PATH}/{{note_id}}/{verb}", routes.decide(tool), tool)


class NotesRoutes:
    """Answers requests about notes."""

    def __init__(self, context: Callable[[], Context], threads: RequestThreads) -> None:
        self._context, self._threads = context, threads

    async def list(self) -> Response:
        """Return all notes."""
        return await self._run(LIST_NOTES, {})

    async def add(self, request: Request) -> Response:
        """Keep what a person knows."""
        refuse_other_sites(request)
        payload = await read_json(request)
        return payload if isinstance(payload, Response) else await self._run(ADD_NOTE, payload)

    def decide(self, tool: Tool[Any]) -> Callable[[Request], Awaitable[Response]]:
        """Return what answers a person's decision on one note."""

        async def answer(request: Request) -> Response:
            refuse_other_sites(request)
            return await self._run(tool, {"note_id": request.path_params["note_id"]})

        return answer

    async def _run(self, tool: Tool[Any], payload: object) -> Response:
        return answer_of(await self._threads.run(lambda: run_tool(self._context(), tool, payload)))
