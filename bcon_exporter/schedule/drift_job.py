"""The scan that compares: observe the host, resolve every project's Compose files, keep the differences."""

from collections.abc import Iterable
from datetime import datetime

from bcon_exporter.latest_scans import DriftScan
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.reports import DriftReport, DriftStatus
from bcon_exporter.schedule.rule_errors import count_rule_errors
from bcon_exporter.tools import Context, observe
from bcon_exporter.tools.drift import DRIFT_WANTS, check_projects
from bcon_exporter.tools.first_seen import date_differences, drift_key


class DriftJob:
    """Runs one scan after the other; first-seen keys are in the memory."""

    def run(self, context: Context) -> None:
        """Publish fresh drift reports of all projects, running or named in the settings.

        Raises:
            DockerConnectionError, PermissionDeniedError, DeadlineExceededError: The containers could not be listed.
        """
        started = context.monotonic()
        snapshot = observe(context, DRIFT_WANTS, remember=True)
        findings = check_projects(context, snapshot)
        reports = self._date(context, findings.reports, snapshot.taken_at)
        ended = context.monotonic()
        count_rule_errors(context, reports)
        context.scans.publish_drift(
            DriftScan(
                reports=reports,
                untracked=findings.untracked,
                finished_at=context.now(),
                finished_monotonic=ended,
                duration_seconds=ended - started,
                incomplete=len(snapshot.incomplete),
            )
        )

    def _date(self, context: Context, reports: tuple[DriftReport, ...], now: datetime) -> tuple[DriftReport, ...]:
        """Return the reports with first-seen times; a project that is unknown now keeps those it had."""
        unknown = keep_unknown(context.memory.first_seen("drift"), reports)
        present = {**dict.fromkeys(unknown), **find_present(reports)}
        since = context.memory.conclude_first_seen("drift", present, now, context.now())
        return tuple(date_differences(report, since) for report in reports)


def is_same_drift(before: DriftScan | None, after: DriftScan | None) -> bool:
    """Return whether two scans report the same."""
    if before is None or after is None:
        return before is after
    return _essence(before) == _essence(after)


def _essence(scan: DriftScan) -> list[tuple[object, ...]]:
    return [(report.project_name, report.status, report.differences, report.services) for report in scan.reports]


def find_present(reports: tuple[DriftReport, ...]) -> dict[str, Severity | None]:
    """Return the keys of all differences, with their severities."""
    return {
        drift_key(report.project_name, difference.service_name, difference.drift_type): difference.severity
        for report in reports
        for difference in report.differences
    }


def keep_unknown(before: Iterable[str], reports: tuple[DriftReport, ...]) -> frozenset[str]:
    """Return the earlier keys of projects that cannot be judged now."""
    unknown = {report.project_name for report in reports if report.status is DriftStatus.UNKNOWN}
    return frozenset(key for key in before if key.split("\x1f", 1)[0] in unknown)
