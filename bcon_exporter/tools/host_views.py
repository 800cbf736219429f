"""Wider answers than the tools give, for people at a terminal; called in the same way, named in no API."""

from contextlib import suppress
from dataclasses import replace

from bcon_exporter.engine import Wants
from bcon_exporter.errors import ContainerNotFoundError, InvalidInputError
from bcon_exporter.model.base import Frozen
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.findings import STATUSES
from bcon_exporter.model.lifecycle import HostMemory, without_lines
from bcon_exporter.model.reports import ContainerStats, DiagnoseAllReport, DiagnosisReport
from bcon_exporter.model.tool_inputs import ContainerRef, DiagnoseAllInput, DiagnoseContainerInput, Nothing, ProjectName
from bcon_exporter.tools.containers import host_memory_bytes, show_usage
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.diagnosis import diagnose_container, diagnose_fully
from bcon_exporter.tools.drift import DRIFT_WANTS, DriftFindings, check_projects, find_report, resolve_projects
from bcon_exporter.tools.first_seen import date_differences
from bcon_exporter.tools.fresh_snapshot import observe
from bcon_exporter.tools.notes import with_notes_of_drift
from bcon_exporter.tools.tool import Tool


class NamedInput(Frozen):
    """Containers by id, id prefix or name, and Compose projects by name."""

    names: tuple[ContainerRef, ...]


class DriftOfHostInput(Frozen):
    """Every project of the host, or one of them by its name."""

    project_name: ProjectName | None = None


def _diagnose_host(context: Context, request: DiagnoseAllInput) -> DiagnoseAllReport:
    return diagnose_fully(context, include_healthy=request.include_healthy)


def _diagnose_named(context: Context, request: NamedInput) -> DiagnosisReport | DiagnoseAllReport:
    """Return one container's report, or one of several; a word that names no container may name a project."""
    if len(request.names) == 1:
        with suppress(ContainerNotFoundError):
            return diagnose_container(context, DiagnoseContainerInput(container_id=request.names[0]))
    host = diagnose_fully(context, include_healthy=True)
    chosen = {report.container_id for name in request.names for report in _reports_of(context, host, name)}
    reports = tuple(report for report in host.reports if report.container_id in chosen)
    names = {report.container_name for report in reports}
    return host.model_copy(
        update={
            "total_containers": len(reports),
            **{status: sum(report.status == status for report in reports) for status in STATUSES},
            "not_checked": sum(report.is_unchecked for report in reports),
            "unchecked": tuple(one for one in host.unchecked if one.container_id in chosen),
            "summaries": tuple(one for one in host.summaries if one.container_id in chosen),
            "ignored": 0,
            "incomplete": tuple(name for name in host.incomplete if name in names),
            "roots": (),
            "reports": reports,
            "notes": (),  # each report has its own
        }
    )


def _reports_of(context: Context, host: DiagnoseAllReport, name: str) -> tuple[DiagnosisReport, ...]:
    """Return the reports of a container or of a project's containers.

    Raises:
        ContainerNotFoundError, InvalidInputError: Neither has this name, or filters leave it out.
    """
    try:
        full_id = context.host.resolve(name)
    except ContainerNotFoundError:
        found = tuple(report for report in host.reports if report.project == name)
        if not found:
            raise
        return found
    found = tuple(report for report in host.reports if full_id.startswith(report.container_id))
    if not found:
        msg = f"{name} is left out of the diagnosis by a filter or by its label bcon.ignore"
        raise InvalidInputError(msg, {"container_id": name})
    return found


def _check_drift(context: Context, request: DriftOfHostInput) -> DriftFindings:
    snapshot = observe(context, DRIFT_WANTS)
    findings = check_projects(context, snapshot)
    since = context.memory.first_seen("drift")
    dated = (date_differences(report, since) for report in findings.reports)
    findings = replace(findings, reports=tuple(with_notes_of_drift(context, report) for report in dated))
    if request.project_name is None:
        return findings
    report = find_report(findings.reports, request.project_name)
    own = {
        facts.name for facts in snapshot.containers if facts.compose and facts.compose.project == report.project_name
    }
    report = report.model_copy(update={"untracked": tuple(name for name in report.untracked if name in own)})
    return DriftFindings(reports=(report,), untracked=report.untracked)


def _read_all_stats(context: Context, request: Nothing) -> tuple[ContainerStats, ...]:  # noqa: ARG001 -- tools share a shape
    """Return the usage of every running container, the busiest first."""
    snapshot = observe(context, Wants(logs=False, usage=True, wait_for_usage=context.one_shot))
    memory = host_memory_bytes(snapshot)
    found = [show_usage(facts, facts.usage, memory) for facts in snapshot.containers if facts.usage is not None]
    return tuple(sorted(found, key=lambda one: (-(one.cpu_percent or 0.0), one.container_name)))


def take_full_snapshot(context: Context, log_tail: int = 1000) -> HostSnapshot:
    """Return everything that rules may want, with the projects as they resolve now: what a snapshot file holds."""
    wants = Wants(logs=True, usage=True, config=True, log_tail=log_tail, wait_for_usage=context.one_shot)
    wants = replace(wants, log_window_seconds=max(3600.0, context.thresholds.log_window_seconds))
    snapshot = observe(context, wants)
    desired, snapshot = resolve_projects(context, snapshot)
    return snapshot.model_copy(update={"desired": desired})


def _take(context: Context, request: Nothing) -> HostSnapshot:  # noqa: ARG001
    return take_full_snapshot(context)


def _tell_memory(context: Context, request: Nothing) -> HostMemory:  # noqa: ARG001
    snapshot = observe(context, Wants(logs=False, usage=False))
    pasts = {one.id: without_lines(one.lifecycle) for one in snapshot.containers if one.lifecycle is not None}
    engine_id = snapshot.engine.id if snapshot.engine is not None else None
    return HostMemory(engine_id=engine_id, state_file=context.memory.file_id, pasts=pasts)


HOST_MEMORY = Tool("memory", "What is remembered of every container.", Nothing, HostMemory, _tell_memory)
HOST_DIAGNOSIS = Tool("diagnose_all", "Every container in full.", DiagnoseAllInput, DiagnoseAllReport, _diagnose_host)
NAMED_DIAGNOSIS = Tool(
    "diagnose_container", "Some containers in full.", NamedInput, DiagnosisReport | DiagnoseAllReport, _diagnose_named
)
HOST_DRIFT = Tool("detect_drift", "Every project's drift.", DriftOfHostInput, DriftFindings, _check_drift)
HOST_STATS = Tool("get_container_stats", "Every container's use.", Nothing, tuple[ContainerStats, ...], _read_all_stats)
HOST_SNAPSHOT = Tool("snapshot", "The whole host as facts.", Nothing, HostSnapshot, _take)
