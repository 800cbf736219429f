"""The scan that diagnoses: observe the host, judge every container, keep the report."""

from collections.abc import Mapping
from datetime import datetime

from bcon_exporter.diagnosis import HoldState, LogReader, diagnose_host
from bcon_exporter.docker_host import Wants
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.reports import DiagnoseAllReport
from bcon_exporter.schedule.log_counts import LogCounts
from bcon_exporter.store import DiagnoseScan
from bcon_exporter.tools import Context, observe
from bcon_exporter.tools.first_seen import date_symptoms, symptom_key

READING_SHARE = 0.9
JUDGING_SHARE = 0.95
"""Of a scan's time. Judging ends then, or a second after a reading that was late; the rest is to look for causes."""
GRACE_SECONDS = 1.0


class DiagnoseJob:
    """Runs one scan after the other; carries holds, what was found in logs, and log counters to the next.

    Reading ends before the deadline, also by as much as the scan before was late: judging thousands of containers
    takes seconds too.
    """

    def __init__(self) -> None:
        self._reserve_seconds = 0.0
        self._holds = HoldState()
        self._log_reader = LogReader()
        self._log_counts = LogCounts()

    def run(self, context: Context) -> None:
        """Publish a fresh diagnosis.

        Raises:
            DockerConnectionError, PermissionDeniedError, DeadlineExceededError: The containers could not be listed.
        """
        started = context.monotonic()
        thresholds = context.thresholds
        wants = Wants(logs=context.policy.use_logs, usage=True, log_window_seconds=thresholds.log_window_seconds)
        deadline_seconds = context.scan_deadline_seconds
        snapshot = observe(context, wants, READING_SHARE * deadline_seconds - self._reserve_seconds)
        judged_by = max(started + JUDGING_SHARE * deadline_seconds, context.monotonic() + GRACE_SECONDS)
        over_at = max(started + deadline_seconds, judged_by)
        report, self._holds = diagnose_host(
            snapshot,
            thresholds,
            context.catalogue,
            self._holds,
            context.policy,
            log_reader=self._log_reader,
            is_overdue=lambda: context.monotonic() > judged_by,
            is_over=lambda: context.monotonic() > over_at,
        )
        report = self._date(context, report)
        context.store.count_rule_errors(find_rule_errors(report))
        log_events = self._log_counts.count(snapshot, context.catalogue, lambda: context.monotonic() > over_at)
        ended = context.monotonic()
        late_seconds = ended - started - deadline_seconds
        self._reserve_seconds = min(max(0.0, self._reserve_seconds + late_seconds), deadline_seconds / 2)
        context.store.publish_diagnosis(
            DiagnoseScan(
                snapshot=snapshot,
                report=report,
                thresholds=thresholds,
                finished_at=context.now(),
                finished_monotonic=ended,
                duration_seconds=ended - started,
                log_events=log_events,
            )
        )

    def _date(self, context: Context, report: DiagnoseAllReport) -> DiagnoseAllReport:
        """Return the report with each symptom's first-seen time; what could not be judged now keeps its own."""
        present = find_present(report) | (context.history.known_since("symptom").keys() & find_unjudged(report))
        since = context.history.first_seen("symptom", present, report.timestamp)
        return set_first_seen(report, since)


def find_rule_errors(report: DiagnoseAllReport) -> tuple[str, ...]:
    """Return the name of each rule that raised, once for each container."""
    return tuple(rule.value for diagnosis in report.reports for rule in diagnosis.rule_errors)


def find_present(report: DiagnoseAllReport) -> frozenset[str]:
    """Return the keys of all symptoms that count; history (severity info) is not present."""
    return frozenset(
        symptom_key(diagnosis, symptom.type)
        for diagnosis in report.reports
        for symptom in diagnosis.symptoms
        if symptom.severity is not Severity.INFO
    )


def find_unjudged(report: DiagnoseAllReport) -> frozenset[str]:
    """Return the keys of all symptoms that this scan could not judge."""
    return frozenset(
        symptom_key(diagnosis, missing.symptom) for diagnosis in report.reports for missing in diagnosis.not_evaluated
    )


def set_first_seen(report: DiagnoseAllReport, since: Mapping[str, datetime]) -> DiagnoseAllReport:
    """Return the report with the first-seen times of its present symptoms."""
    dated = tuple(date_symptoms(diagnosis, since) for diagnosis in report.reports)
    return report.model_copy(update={"reports": dated})
