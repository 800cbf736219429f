"""The scan that diagnoses: observe the host, judge every container, keep the report."""

from collections.abc import Mapping
from datetime import datetime

from bcon_exporter.diagnosis import LogReader, diagnose_host
from bcon_exporter.engine import Wants
from bcon_exporter.latest_scans import DiagnoseScan
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.reports import DiagnoseAllReport, DiagnosisReport
from bcon_exporter.schedule.incident_watch import watch_incidents
from bcon_exporter.schedule.log_counts import count_events
from bcon_exporter.schedule.rule_errors import count_rule_errors
from bcon_exporter.tools import Context, observe
from bcon_exporter.tools.first_seen import container_key, date_symptoms, symptom_key
from bcon_exporter.tools.notes import settle_notes
from bcon_exporter.tools.quiet import find_quiet

READING_SHARE = 0.9
JUDGING_SHARE = 0.95
"""Of a scan's time. Judging ends then, or a second after a reading that was late; the rest is to look for causes."""
GRACE_SECONDS = 1.0


class DiagnoseJob:
    """Runs one scan after the other; carries what was found in logs to the next.

    Reading ends before the deadline, also by as much as the scan before was late: judging thousands of containers
    takes seconds too.
    """

    def __init__(self) -> None:
        self._reserve_seconds = 0.0
        self._log_reader = LogReader()
        self._notes_hidden_at = -1

    def run(self, context: Context) -> None:
        """Publish a fresh diagnosis.

        Raises:
            DockerConnectionError, PermissionDeniedError, DeadlineExceededError: The containers could not be listed.
        """
        started = context.monotonic()
        window_seconds = context.thresholds.log_window_seconds
        wants = Wants(logs=context.policy.use_logs, usage=True, log_window_seconds=window_seconds)
        reading_seconds = READING_SHARE * context.scan_deadline_seconds - self._reserve_seconds
        snapshot = observe(context, wants, reading_seconds, remember=True)
        report, log_events = self._judge(context, snapshot, started)
        with context.errors.contained("following the incidents"):
            watch_incidents(context, snapshot, report)
        with context.errors.contained("hiding what was learned in the notes"):
            self._notes_hidden_at = settle_notes(context, self._notes_hidden_at)
        explained_since: Mapping[str, datetime] = {}
        with context.errors.contained("dating who is explained by whom"):
            explained_since = date_explanations(context, report)
        ended = context.monotonic()
        late_seconds = ended - started - context.scan_deadline_seconds
        self._reserve_seconds = min(max(0.0, self._reserve_seconds + late_seconds), context.scan_deadline_seconds / 2)
        context.scans.publish_diagnosis(
            DiagnoseScan(
                snapshot=snapshot,
                report=report,
                thresholds=context.thresholds,
                finished_at=context.now(),
                finished_monotonic=ended,
                duration_seconds=ended - started,
                log_events=log_events,
                muting=find_quiet(context, context.now(), snapshot.containers),
                explained_since=explained_since,
                disk=context.memory.memory.disk,
            )
        )

    def _judge(
        self, context: Context, snapshot: HostSnapshot, started: float
    ) -> tuple[DiagnoseAllReport, Mapping[str, Mapping[str, int]]]:
        """Return the report, and container id → level → events in its log; what is concluded is remembered."""
        deadline_seconds, memory = context.scan_deadline_seconds, context.memory.memory
        judging_ends = max(started + JUDGING_SHARE * deadline_seconds, context.monotonic() + GRACE_SECONDS)
        scan_ends = max(started + deadline_seconds, judging_ends)
        report, hysteresis = diagnose_host(
            snapshot,
            context.thresholds,
            context.catalogue,
            memory.hysteresis,
            context.policy,
            log_reader=self._log_reader,
            too_late_to_judge=lambda: context.monotonic() > judging_ends,
            too_late_for_causes=lambda: context.monotonic() > scan_ends,
        )
        report = self._date(context, report)
        count_rule_errors(context, report.reports)
        counts = count_events(
            memory.log_counts, snapshot, context.catalogue, self._log_reader, lambda: context.monotonic() > scan_ends
        )
        self._log_reader.end_scan()
        context.memory.conclude(hysteresis=hysteresis, log_counts=counts)
        return report, counts.totals

    def _date(self, context: Context, report: DiagnoseAllReport) -> DiagnoseAllReport:
        """Return the report with each symptom's first-seen time; what could not be judged now keeps its own."""
        unjudged = context.memory.first_seen("symptom").keys() & find_unjudged(report)
        present = {**dict.fromkeys(unjudged), **find_present(report)}
        since = context.memory.conclude_first_seen("symptom", present, report.timestamp, context.now())
        return set_first_seen(report, since)


def date_explanations(context: Context, report: DiagnoseAllReport) -> dict[str, datetime]:
    """Return container id → since when another one explains its trouble, over restarts of the exporter.

    Where an explanation comes and goes the first one counts, until the container is well: else it would never speak
    for itself.
    """
    known = context.memory.first_seen("explained")
    present = {
        container_key(diagnosis): None
        for diagnosis in report.reports
        if diagnosis.root is not None or (container_key(diagnosis) in known and _may_be_ill(diagnosis))
    }
    if not present and not known:
        return {}
    since = context.memory.conclude_first_seen("explained", present, report.timestamp, context.now())
    return {
        diagnosis.container_id: since.get(container_key(diagnosis), report.timestamp)
        for diagnosis in report.reports
        if diagnosis.root is not None
    }


def _may_be_ill(diagnosis: DiagnosisReport) -> bool:
    is_ill = any(symptom.severity is not Severity.INFO for symptom in diagnosis.symptoms)
    return is_ill or bool(diagnosis.not_evaluated)


def find_present(report: DiagnoseAllReport) -> dict[str, Severity | None]:
    """Return the keys of all symptoms that count, with their severities; history (severity info) is not present."""
    return {
        symptom_key(diagnosis, symptom.type): symptom.severity
        for diagnosis in report.reports
        for symptom in diagnosis.symptoms
        if symptom.severity is not Severity.INFO
    }


def find_unjudged(report: DiagnoseAllReport) -> frozenset[str]:
    """Return the keys of all symptoms that this scan could not judge."""
    return frozenset(
        symptom_key(diagnosis, missing.symptom) for diagnosis in report.reports for missing in diagnosis.not_evaluated
    )


def set_first_seen(report: DiagnoseAllReport, since: Mapping[str, datetime]) -> DiagnoseAllReport:
    """Return the report with the first-seen times of its present symptoms."""
    dated = tuple(date_symptoms(diagnosis, since) for diagnosis in report.reports)
    return report.model_copy(update={"reports": dated})
