"""Tools about Compose files: drift and untracked containers."""

from dataclasses import dataclass

from bcon_exporter.drift import detect_drift as compare_project
from bcon_exporter.drift import find_projects, find_untracked, index_host, is_stack_task
from bcon_exporter.engine import Wants
from bcon_exporter.errors import ComposeFileNotFoundError, ComposeParseError
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.desired import DesiredProject, ProjectProblem
from bcon_exporter.model.name_suggestions import did_you_mean, nearest_names
from bcon_exporter.model.reports import ContainerInfo, DriftReport
from bcon_exporter.model.tool_inputs import DetectDriftInput, GetUntrackedContainersInput
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.first_seen import date_differences
from bcon_exporter.tools.fresh_snapshot import hide_learned, observe
from bcon_exporter.tools.listing import is_up, list_order, show_container
from bcon_exporter.tools.notes import with_notes_of_drift
from bcon_exporter.tools.tool import Tool

DRIFT_WANTS = Wants(logs=False, usage=False, config=True)


@dataclass(frozen=True, slots=True)
class DriftFindings:
    """The drift of every project of the host.

    Attributes:
        reports: By project name.
        untracked: Names of running containers that no Compose file defines.
    """

    reports: tuple[DriftReport, ...]
    untracked: tuple[str, ...]


def detect_drift(context: Context, request: DetectDriftInput) -> DriftReport:
    """Return where the running containers have left one Compose file."""
    snapshot = observe(context, DRIFT_WANTS)
    project, snapshot = _resolve(context, request.compose_file, request.project_name, snapshot)
    report = compare_project(project, snapshot, context.drift_ignore)
    return with_notes_of_drift(context, date_differences(report, context.memory.first_seen("drift")))


def get_untracked_containers(context: Context, request: GetUntrackedContainersInput) -> tuple[ContainerInfo, ...]:
    """Return the running containers that a Compose file, or a project's files, do not define; without either, all."""
    snapshot = observe(context, Wants(logs=False, usage=False))
    project = None
    if request.compose_file is not None:
        project, snapshot = _resolve(context, request.compose_file, request.project_name, snapshot)
    elif request.project_name is not None:
        project, snapshot = _find_project(context, request.project_name, snapshot)
    found = [facts for facts in find_untracked(project, snapshot) if request.all or is_up(facts)]
    return tuple(show_container(facts) for facts in sorted(found, key=list_order))


def _find_project(context: Context, name: str, snapshot: HostSnapshot) -> tuple[DesiredProject, HostSnapshot]:
    """Return what the own files of a project ask for, and the snapshot with their secrets hidden in it.

    Raises:
        ComposeFileNotFoundError: No such project runs here or is configured, or its files cannot be read.
        ComposeParseError: Compose refuses them.
    """
    desired, snapshot = resolve_projects(context, snapshot)
    projects = {project.name: project for project in desired}
    if name not in projects:
        raise _no_project(name, sorted(projects))
    project = projects[name]
    if project.services is None:
        detail = f"the files of {name} do not tell what belongs to it: {project.problem_detail}"
        kind = ComposeParseError if project.problem is ProjectProblem.PARSE_ERROR else ComposeFileNotFoundError
        raise kind(detail, {"project": name, "reason": project.problem})
    return project, snapshot


def check_projects(context: Context, snapshot: HostSnapshot) -> DriftFindings:
    """Return the drift of every project that runs or that the settings name."""
    desired, snapshot = resolve_projects(context, snapshot)
    host = index_host(snapshot)
    reports = tuple(compare_project(project, host, context.drift_ignore) for project in desired)
    strays = {facts.name for facts in host.loose if facts.is_running and not is_stack_task(facts)}
    strays.update(name for report in reports for name in report.untracked)
    return DriftFindings(reports=reports, untracked=tuple(sorted(strays)))


def find_report(reports: tuple[DriftReport, ...], project: str) -> DriftReport:
    """Return one project's report.

    Raises:
        ComposeFileNotFoundError: There is no such project; `details["near_matches"]`.
    """
    for report in reports:
        if report.project_name == project:
            return report
    raise _no_project(project, sorted(report.project_name for report in reports))


def _no_project(name: str, known: list[str]) -> ComposeFileNotFoundError:
    hint = did_you_mean(name, known)
    msg = f"no Compose project of that name runs here or is named in compose.files{hint}"
    return ComposeFileNotFoundError(msg, {"near_matches": nearest_names(name, known), "projects": known[:50]})


def resolve_projects(context: Context, snapshot: HostSnapshot) -> tuple[tuple[DesiredProject, ...], HostSnapshot]:
    """Return the wanted state of every project, by name; a running project's own files win over the settings'.

    And the snapshot, with what the files hold as secrets hidden in it.
    """

    def resolve() -> tuple[DesiredProject, ...]:
        projects = {project.name: project for project in context.compose.configured_projects(snapshot.taken_at)}
        for running in find_projects(snapshot):
            own = context.compose.resolve_running(running, snapshot.taken_at)
            if own.services is not None or running.name not in projects:
                projects[running.name] = own
        return tuple(project for _, project in sorted(projects.items()))

    return hide_learned(context, snapshot, resolve)


def _resolve(
    context: Context, path: str, project_name: str | None, snapshot: HostSnapshot
) -> tuple[DesiredProject, HostSnapshot]:
    def resolve() -> DesiredProject:
        return context.compose.resolve_file(path, project_name, snapshot.taken_at, find_projects(snapshot))

    return hide_learned(context, snapshot, resolve)


DRIFT_TOOLS = (
    Tool(
        "detect_drift",
        "Compare a Compose file with what runs: images, replicas, configuration, missing and extra services.",
        DetectDriftInput,
        DriftReport,
        detect_drift,
        toolset="core",
        rows="differences",
    ),
    Tool(
        "get_untracked_containers",
        "List running containers that a Compose file, or a project's files, do not define; without either, all.",
        GetUntrackedContainersInput,
        tuple[ContainerInfo, ...],
        get_untracked_containers,
        toolset="core",
    ),
)
