"""schedule_task: scan now, or watch until all is well. It runs no jobs."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from bcon_exporter.engine import Wants
from bcon_exporter.errors import (
    BconError,
    ContainerNotFoundError,
    InternalError,
    NotAvailableError,
    NotFoundError,
)
from bcon_exporter.latest_scans import ScanName
from bcon_exporter.model.name_suggestions import did_you_mean, nearest_names
from bcon_exporter.model.quantities import show_count, show_duration
from bcon_exporter.model.reports import DRIFT_STATUS_RANK, DiagnoseAllReport, DriftReport, DriftStatus
from bcon_exporter.model.tasks import ScheduleTaskInput, TaskFinding, TaskReport
from bcon_exporter.model.tool_inputs import DiagnoseAllInput
from bcon_exporter.model.verify_report import DeploymentVerdict, ServiceVerdict, VerifyCode, VerifyReport
from bcon_exporter.secrets.hide_in_models import hide_in_error
from bcon_exporter.stages import EXPERIMENTAL
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.diagnosis import diagnose_all
from bcon_exporter.tools.drift import DRIFT_WANTS, check_projects
from bcon_exporter.tools.fresh_snapshot import observe
from bcon_exporter.tools.tool import Tool
from bcon_exporter.tools.watch_deployment import DeploymentWatch, WatchRequest

SCAN_WITHIN_SECONDS = 20.0
"""A scan that has not ended by then is told as running."""
ANSWER_WITHIN_SECONDS = 5.0
"""A watch goes on where the process does; who asks for it waits no longer than this."""
_DIFFERS = "It runs with another image or configuration than the files ask for."


def schedule_task(context: Context, request: ScheduleTaskInput) -> TaskReport:
    """Return what a scan of now says, or what a watch has seen.

    Raises:
        ContainerNotFoundError, NotFoundError: There is no such container or project.
        RateLimitedError: Too many other watches are running, or no thread is left to this process.
        NotAvailableError: This is a snapshot, in which nothing changes.
        BconError: The scan failed, or the engine was never reached.
    """
    if request.task == "watch":
        return _watch(context, request)
    return _scan(context, request.task)


def _scan(context: Context, task: ScanName) -> TaskReport:
    if context.scan_now is None:
        return _look(context, task)
    asked_at = context.now()
    if not context.scan_now(task).wait(SCAN_WITHIN_SECONDS):
        waited = show_duration(SCAN_WITHIN_SECONDS)
        text = f"The scan has not ended within {waited}; ask for its result in a moment."
        return TaskReport(task=task, state="running", began_at=asked_at, summary=text)
    error = context.scans.status(task).error
    if error is not None:
        raise error
    scan = context.scans.diagnosis if task == "diagnose" else context.scans.drift
    if scan is None:  # cannot be: a good scan has been published
        msg = "the scan has left no result"
        raise InternalError(msg, {})
    age = max(0.0, context.monotonic() - scan.finished_monotonic + scan.duration_seconds)
    began_at = scan.finished_at - timedelta(seconds=scan.duration_seconds)
    if task == "diagnose" and context.scans.diagnosis is not None:
        return _tell_diagnosis(context.scans.diagnosis.report, began_at, age)
    return _tell_drift(context.scans.drift.reports if context.scans.drift is not None else (), began_at, age)


def _look(context: Context, task: ScanName) -> TaskReport:
    """Return what is there now, where no daemon scans."""
    began_at, started = context.now(), context.monotonic()
    if task == "diagnose":
        report = diagnose_all(context, DiagnoseAllInput())
        return _tell_diagnosis(report, began_at, context.monotonic() - started)
    found = check_projects(context, observe(context, DRIFT_WANTS))
    return _tell_drift(found.reports, began_at, context.monotonic() - started)


def _tell_diagnosis(report: DiagnoseAllReport, began_at: datetime, age: float) -> TaskReport:
    ailing = [one for one in report.summaries if one.status != "healthy"]
    well = report.healthy - report.not_checked
    unchecked = f", {report.not_checked} not checked" if report.not_checked else ""
    return TaskReport(
        task="diagnose",
        state="done",
        began_at=began_at,
        age_seconds=round(age, 3),
        summary=f"{show_count(report.total_containers, 'container')}: {len(ailing)} ailing, {well} well{unchecked}.",
        findings=tuple(TaskFinding(name=one.container_name, status=one.status, what=one.top_issue) for one in ailing),
    )


def _tell_drift(reports: tuple[DriftReport, ...], began_at: datetime, age: float) -> TaskReport:
    left = sorted(
        (one for one in reports if one.status is not DriftStatus.SYNCED), key=lambda one: DRIFT_STATUS_RANK[one.status]
    )
    drifted = sum(one.status is DriftStatus.DRIFTED for one in reports)
    unknown = len(left) - drifted
    also = f", {unknown} unknown" if unknown else ""
    return TaskReport(
        task="drift",
        state="done",
        began_at=began_at,
        age_seconds=round(age, 3),
        summary=f"{show_count(len(reports), 'project')}: {drifted} drifted{also}.",
        findings=tuple(TaskFinding(name=one.project_name, status=one.status, what=one.summary) for one in left),
    )


@dataclass(eq=False)
class WatchRun:
    """One watch, and what it has seen. Written by its own thread, read by everybody.

    Attributes:
        service: The one that counts; None for all.
        changes: How often something had happened on the host when it ended.
    """

    request: ScheduleTaskInput
    watched: WatchRequest
    service: str | None
    began_at: datetime
    ended: threading.Event = field(default_factory=threading.Event)
    report: VerifyReport | None = None
    well_since: float | None = None
    well_seconds: float = 0.0
    error: BconError | None = None
    ended_at: datetime | None = None
    changes: int = 0
    was_told: bool = False

    def run(self, context: Context, wait: Callable[[float], object]) -> None:
        """Watch until it is well for long enough, nothing can change any more, or the time is over."""

        def is_well(report: VerifyReport) -> bool:
            now = context.monotonic()
            self.report = report
            if self.verdict_of(report) is not DeploymentVerdict.GOOD:
                self.well_since, self.well_seconds = None, 0.0
                return False
            self.well_since = now if self.well_since is None else self.well_since
            self.well_seconds = now - self.well_since
            return self.well_seconds >= self.request.stable.total_seconds()

        try:
            self.report = DeploymentWatch(context, self.watched, wait).run(lambda _: None, is_well)
        except BconError as error:
            self.error = hide_in_error(error, context.secrets.hide)
        finally:
            self.changes, self.ended_at = context.host.changes(), context.now()
            self.ended.set()

    def services_of(self, report: VerifyReport) -> tuple[ServiceVerdict, ...]:
        """Return the verdicts that count."""
        return tuple(one for one in report.services if self.service in (None, one.service))

    def verdict_of(self, report: VerifyReport) -> DeploymentVerdict:
        """Return the verdict on what counts."""
        if self.service is None:
            return report.verdict
        verdicts = {one.verdict for one in self.services_of(report)}
        return next((verdict for verdict in DeploymentVerdict if verdict in verdicts), DeploymentVerdict.UNSURE)

    def is_stable(self, report: VerifyReport) -> bool:
        """Return whether it was well for long enough, or is for good."""
        services = self.services_of(report)
        certain = bool(services) and all(one.certain for one in services)
        return certain or self.well_seconds >= self.request.stable.total_seconds()


def _watch(context: Context, request: ScheduleTaskInput) -> TaskReport:
    if context.scan_now is None and not context.one_shot:
        msg = "nothing changes in a snapshot: a watch needs the host itself"
        raise NotAvailableError(msg, {"would_help": "asking on the host itself"})
    if context.scan_now is None and not context.outlives_calls:
        made = plan_watch(context, request)
        made.run(context, threading.Event().wait)
        return tell_watch(made, context)
    key = request.model_dump_json()
    run: WatchRun | None = context.watches.find(key, context.now(), context.host.changes())
    run = run if run is not None else _start_watch(context, request, key)
    run.ended.wait(ANSWER_WITHIN_SECONDS)
    return tell_watch(run, context)


def _start_watch(context: Context, request: ScheduleTaskInput, key: str) -> WatchRun:
    """Return a new watch, or the one that somebody else has just started; the host is read in turn with other tools."""
    made, _ = context.single_flight.run(("watch", key), lambda: plan_watch(context, request))

    def work() -> None:
        made.run(context, threading.Event().wait)

    run: WatchRun = context.watches.join(key, made, work, context.now(), context.host.changes())
    return run


def _find_watch_seconds(request: ScheduleTaskInput) -> float:
    return request.for_.total_seconds() if request.task == "watch" else 0.0


def plan_watch(context: Context, request: ScheduleTaskInput) -> WatchRun:
    """Return the watch of a project, of one service of it, or of a container alone.

    Raises:
        ContainerNotFoundError, NotFoundError: There is none of this name.
    """
    snapshot = observe(context, Wants(logs=False, usage=False))
    now = context.now()
    window = request.for_.total_seconds()
    if request.project is not None:
        projects = {one.compose.project for one in snapshot.containers if one.compose is not None}
        if request.project not in projects:
            msg = (
                f"no container of a Compose project {request.project} is here{did_you_mean(request.project, projects)}"
            )
            raise NotFoundError(msg, {"near_matches": nearest_names(request.project, projects)})
        return WatchRun(request, WatchRequest(window_seconds=window, running=request.project), None, now)
    full_id = context.host.resolve(request.container or "")
    facts = next((one for one in snapshot.containers if one.id == full_id), None)
    if facts is None:
        msg = f"container {request.container} was removed a moment ago"
        raise ContainerNotFoundError(msg, {"container_id": request.container, "near_matches": ()})
    claim = facts.compose
    if claim is None or not claim.is_replica or claim.config_hash is None:
        return WatchRun(request, WatchRequest(window_seconds=window, container=facts.name), facts.name, now)
    watched = WatchRequest(window_seconds=window, running=claim.project)
    return WatchRun(request, watched, claim.service, now)


def tell_watch(run: WatchRun, context: Context) -> TaskReport:
    """Return what a watch has seen by now.

    Raises:
        BconError: It has ended, and never seen anything.
    """
    is_over = run.ended.is_set()
    if is_over:
        run.was_told = True
    if is_over and run.error is not None:
        raise run.error
    report = run.report
    if is_over and report is None:
        msg = "the watch has ended because of a defect; the log has the traceback"
        raise InternalError(msg, {})
    ends_by = None if is_over else run.began_at + run.request.for_
    age = round(max(0.0, (context.now() - run.began_at).total_seconds()), 3)
    state: Literal["done", "running"] = "done" if is_over else "running"
    if report is None:
        text = "Nothing has been seen yet; ask again in a moment."
        return TaskReport(
            task="watch", state=state, began_at=run.began_at, age_seconds=age, summary=text, ends_by=ends_by
        )
    services = run.services_of(report)
    verdict = run.verdict_of(report)
    if is_over and verdict is DeploymentVerdict.GOOD and not run.is_stable(report):
        verdict = DeploymentVerdict.UNSURE
    return TaskReport(
        task="watch",
        state=state,
        began_at=run.began_at,
        age_seconds=age,
        summary=_summary(run, report, verdict, is_over=is_over),
        findings=tuple(
            TaskFinding(name=one.service, status=one.verdict, what=_tell(one))
            for one in services
            if one.verdict is not DeploymentVerdict.GOOD
        ),
        verdict=verdict,
        services=services,
        well_seconds=round(run.well_seconds, 3),
        ends_by=ends_by,
    )


def _tell(service: ServiceVerdict) -> str:
    """Return what became of a service in our words: the message of a difference quotes keys and values of others."""
    return _DIFFERS if service.code is VerifyCode.DIFFERS else service.message


def _summary(run: WatchRun, report: VerifyReport, verdict: DeploymentVerdict, *, is_over: bool) -> str:
    said = report.summary
    if run.service is not None:
        said = next((f"{one.service}: {_tell(one)}" for one in run.services_of(report)), f"{run.service}: not there.")
    well, wanted = show_duration(run.well_seconds), show_duration(run.request.stable.total_seconds())
    if not is_over:
        return f"It is still watched, and has been well for {well} of {wanted}. {said} Ask again with the same words."
    if verdict is DeploymentVerdict.GOOD:
        return f"Well. {said}"
    if run.verdict_of(report) is DeploymentVerdict.GOOD:
        return f"The time is over, and it has been well for {well} of {wanted} only. {said}"
    return f"{'Not well' if verdict is DeploymentVerdict.BAD else 'It is not known whether it is well'}. {said}"


SCHEDULE_TASK = Tool(
    "schedule_task",
    "Scan now (diagnose, drift), or watch a project or container until it is well.",
    ScheduleTaskInput,
    TaskReport,
    schedule_task,
    works=False,
    toolset="agents",
    stage=EXPERIMENTAL,
    effect="own_state",
    rows="findings",
    find_own_seconds=_find_watch_seconds,
)
