"""The scan that compares: observe the host, resolve every project's Compose files, keep the differences."""

from collections.abc import Mapping
from datetime import datetime

from bcon_exporter.docker_host import Wants
from bcon_exporter.drift import detect_drift, find_projects
from bcon_exporter.model.desired import DesiredProject
from bcon_exporter.model.facts import HostSnapshot
from bcon_exporter.model.reports import DriftReport, DriftStatus
from bcon_exporter.store import DriftScan
from bcon_exporter.tools import Context, observe


class DriftJob:
    """Runs one scan after the other; carries first-seen keys from each to the next."""

    def __init__(self) -> None:
        self._present: frozenset[str] = frozenset()

    def run(self, context: Context) -> None:
        """Publish fresh drift reports of all projects, running or named in the settings.

        Raises:
            DockerConnectionError, PermissionDeniedError, DeadlineExceededError: The containers could not be listed.
        """
        started = context.monotonic()
        snapshot = observe(context, Wants(logs=False, usage=False, config=True))
        projects = resolve_projects(context, snapshot)
        reports = tuple(detect_drift(project, snapshot) for project in projects)
        reports = self._date(context, reports, snapshot.taken_at)
        ended = context.monotonic()
        context.store.publish_drift(
            DriftScan(
                reports=reports,
                untracked=find_untracked_names(snapshot, reports),
                finished_at=context.now(),
                finished_monotonic=ended,
                duration_seconds=ended - started,
            )
        )

    def _date(self, context: Context, reports: tuple[DriftReport, ...], now: datetime) -> tuple[DriftReport, ...]:
        """Return the reports with first-seen times; a project that is unknown now keeps those it had."""
        present = find_present(reports) | keep_unknown(self._present, reports)
        since = context.history.first_seen("drift", present, now)
        self._present = present
        return tuple(set_first_seen(report, since) for report in reports)


def resolve_projects(context: Context, snapshot: HostSnapshot) -> tuple[DesiredProject, ...]:
    """Return every project once: the running ones by their labels, then those that only the settings name."""
    now = snapshot.taken_at
    running = tuple(context.compose.resolve_running(project, now) for project in find_projects(snapshot))
    known = {project.name for project in running}
    configured = (project for project in context.compose.configured_projects(now) if project.name not in known)
    return (*running, *configured)


def find_untracked_names(snapshot: HostSnapshot, reports: tuple[DriftReport, ...]) -> tuple[str, ...]:
    """Return the names of running containers that no Compose file defines."""
    outside = {each.name for each in snapshot.containers if each.is_running and each.compose is None}
    return tuple(sorted(outside.union(*(report.untracked for report in reports))))


def drift_key(project: str, service: str, drift_type: str) -> str:
    """Return what a drift is remembered by, as coarse as its gauge."""
    return "\x1f".join((project, service, drift_type))


def find_present(reports: tuple[DriftReport, ...]) -> frozenset[str]:
    """Return the keys of all differences."""
    return frozenset(
        drift_key(report.project_name, difference.service_name, difference.drift_type)
        for report in reports
        for difference in report.differences
    )


def keep_unknown(before: frozenset[str], reports: tuple[DriftReport, ...]) -> frozenset[str]:
    """Return the earlier keys of projects that cannot be judged now."""
    unknown = {report.project_name for report in reports if report.status is DriftStatus.UNKNOWN}
    return frozenset(key for key in before if key.split("\x1f", 1)[0] in unknown)


def set_first_seen(report: DriftReport, since: Mapping[str, datetime]) -> DriftReport:
    """Return the report with the first-seen times of its differences."""
    if not report.differences:
        return report
    dated = tuple(
        difference.model_copy(
            update={
                "first_seen": since.get(drift_key(report.project_name, difference.service_name, difference.drift_type))
            }
        )
        for difference in report.differences
    )
    return report.model_copy(update={"differences": dated})
