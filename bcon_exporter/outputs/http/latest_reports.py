"""The reports of the last scans, by GET, with the notes that people have written; the engine is not asked."""

import asyncio
from collections.abc import Awaitable, Callable
from operator import is_
from typing import TYPE_CHECKING, Any, Literal

from fastapi import FastAPI, Request, Response
from pydantic_core import to_json

from bcon_exporter.agents.select import check_expression, select_in_body
from bcon_exporter.errors import DockerConnectionError
from bcon_exporter.latest_scans import AlertRound, DiagnoseScan, DriftScan, ScanName
from bcon_exporter.outputs.http.openapi_models import (
    LatestAlerts,
    LatestDiagnosis,
    LatestDrift,
    LatestDriftReport,
    result_model,
)
from bcon_exporter.outputs.http.queries import SELECT_PARAMETER, read_expression
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.tools import Context
from bcon_exporter.tools.drift import find_report
from bcon_exporter.tools.notes import with_notes_of_drift, with_notes_of_host

if TYPE_CHECKING:
    from bcon_exporter.model.base import Frozen


class LatestReports:
    """Serves the reports of the latest scans; each is rendered once a scan, whatever the number of requests."""

    def __init__(self, context: Callable[[], Context], threads: RequestThreads) -> None:
        self._context = context
        self._threads = threads
        self._texts: dict[ScanName | Literal["alerts"], tuple[tuple[object, ...], asyncio.Task[bytes]]] = {}

    async def diagnosis(self) -> Response:
        """Return the last diagnosis with every container's full report."""
        context = self._context()
        scan = context.scans.diagnosis
        if scan is None:
            raise _nothing_yet(context, "diagnose")
        notes = context.memory.memory.notes
        text = await self._text(
            "diagnose", (scan, notes), lambda: with_notes_of_host(context, scan.report).model_dump_json().encode()
        )
        return _with_age(text, scan, context)

    async def drift(self) -> Response:
        """Return the last drift reports of all projects."""
        context = self._context()
        scan = context.scans.drift
        if scan is None:
            raise _nothing_yet(context, "drift")

        def render() -> bytes:
            reports = [with_notes_of_drift(context, report) for report in scan.reports]
            return to_json({"reports": reports, "untracked": scan.untracked})

        text = await self._text("drift", (scan, context.memory.memory.notes), render)
        return _with_age(text, scan, context)

    async def project_drift(self, project: str) -> Response:
        """Return the last drift report of one project."""
        context = self._context()
        scan = context.scans.drift
        if scan is None:
            raise _nothing_yet(context, "drift")
        report = with_notes_of_drift(context, find_report(scan.reports, project))
        return _with_age(report.model_dump_json().encode(), scan, context)

    async def alerts(self) -> Response:
        """Return the alerts that fire, wait or have just ended, as the exporter itself judges."""
        context = self._context()
        last_round = context.scans.alerts
        if last_round is None:
            msg = "the alerts have not been judged yet; try again in a few seconds"
            raise DockerConnectionError(msg, {})
        text = await self._text("alerts", (last_round,), lambda: last_round.report.model_dump_json().encode())
        return _with_age(text, last_round, context)

    async def _text(
        self, name: ScanName | Literal["alerts"], made_of: tuple[object, ...], render: Callable[[], bytes]
    ) -> bytes:
        """Return a report as JSON; rendering goes on for the others when one client hangs up.

        Args:
            name: Of the report.
            made_of: The text is rendered anew where one of these is another object.
            render: Returns the text.
        """
        rendered = self._texts.get(name)
        is_same = rendered is not None and all(map(is_, rendered[0], made_of))
        if rendered is None or not is_same or _has_failed(rendered[1]):
            rendered = self._texts[name] = made_of, asyncio.ensure_future(self._threads.run(render))
        return await asyncio.shield(rendered[1])


def add_latest_routes(api: FastAPI, context: Callable[[], Context], threads: RequestThreads) -> None:
    """Add the routes of the last scans' reports."""
    latest = LatestReports(context, threads)
    routes: tuple[tuple[str, Any, type[Frozen]], ...] = (
        ("/api/v1/alerts", latest.alerts, LatestAlerts),
        ("/api/v1/diagnosis", latest.diagnosis, LatestDiagnosis),
        ("/api/v1/drift", latest.drift, LatestDrift),
        ("/api/v1/drift/{project}", latest.project_drift, LatestDriftReport),
    )
    for path, endpoint, model in routes:
        api.add_api_route(
            path,
            _selectable(endpoint, threads),
            methods=["GET"],
            tags=["reports"],
            summary=(endpoint.__doc__ or "").removeprefix("Return "),
            operation_id=f"get {path}",
            responses={200: {"model": result_model(model.__name__, model), "description": "The last scan's report"}},
            openapi_extra={"parameters": [*([_PROJECT] if "{project}" in path else []), SELECT_PARAMETER]},
        )


_PROJECT = {"name": "project", "in": "path", "required": True, "schema": {"type": "string"}}


def _selectable(endpoint: Callable[..., Awaitable[Response]], threads: RequestThreads) -> Any:
    """Return an endpoint that answers with what its query selects of a report."""

    async def select(request: Request) -> Response:
        expression = read_expression(request)
        if expression is not None:
            check_expression(expression)
        response = await endpoint(**request.path_params)
        if expression is None:
            return response
        body = await threads.run(lambda: select_in_body(expression, bytes(response.body)))
        return Response(body, media_type="application/json")

    return select


def _nothing_yet(context: Context, name: ScanName) -> Exception:
    """Return the error of the first scan, or one that says that it is still under way."""
    error = context.scans.status(name).error
    msg = f"no {name} scan has ended yet; try again in a few seconds"
    return error or DockerConnectionError(msg, {"scan": name})


def _has_failed(task: "asyncio.Task[bytes]") -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _with_age(report: bytes, scan: DiagnoseScan | DriftScan | AlertRound, context: Context) -> Response:
    """Return the envelope of a report's JSON with the age of its scan as the last field."""
    age_seconds = round(max(0.0, context.monotonic() - scan.finished_monotonic), 3)
    body = b'{"result":%s,"age_seconds":%r}}' % (report[:-1], age_seconds)
    return Response(body, media_type="application/json")
