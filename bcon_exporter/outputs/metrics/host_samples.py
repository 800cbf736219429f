"""The samples of the host, its projects and its services, from the last scans."""

from collections import Counter
from collections.abc import Iterator

from bcon_exporter.diagnosis import SYMPTOM_RULES
from bcon_exporter.latest_scans import DiagnoseScan, DriftScan
from bcon_exporter.model.container_facts import ContainerState, EngineFacts
from bcon_exporter.model.desired import ProjectProblem
from bcon_exporter.model.findings import STATUSES, DriftType, Severity, SymptomType
from bcon_exporter.model.reports import DriftReport, DriftStatus
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.outputs.metrics.container_samples import PRESSURE_KINDS, pressure_seconds
from bcon_exporter.outputs.metrics.families import BY_NAME
from bcon_exporter.outputs.metrics.series_labels import SeriesSubject
from bcon_exporter.outputs.metrics.writing import Samples, family_samples

Row = tuple[tuple[str | None, ...], float | None]
_NEED_CONFIGURATION = frozenset((DriftType.IMAGE_MISMATCH, DriftType.CONFIG_MISMATCH))


def host_samples(scan: DiagnoseScan, subjects: tuple[SeriesSubject, ...]) -> tuple[Samples, ...]:
    """Return the families about the host as a whole; they count the same containers that have series of their own."""
    states = Counter(subject.report.state for subject in subjects)
    statuses = Counter(subject.report.status for subject in subjects)
    symptoms = Counter(
        symptom
        for subject in subjects
        for symptom in {shown.type for shown in subject.report.symptoms if shown.severity is not Severity.INFO}
    )
    failures = Counter((run.project or "", run.name) for run in scan.report.ended)
    return (
        _rows("bcon_docker_info", _engine_rows(scan.snapshot.engine)),
        _rows("bcon_containers", (((status,), statuses[status]) for status in STATUSES)),
        _rows("bcon_containers_not_checked", iter([((), sum(subject.report.is_unchecked for subject in subjects))])),
        _rows("bcon_containers_by_state", (((state.value,), states[state]) for state in ContainerState)),
        _rows("bcon_removed_failures", iter(failures.items())),
        _rows("bcon_symptoms", (((symptom.value,), symptoms[symptom]) for symptom in SymptomType)),
        _rows("bcon_symptom_threshold_ratio", _threshold_rows(scan.thresholds)),
        *(_rows(f"bcon_host_pressure_{kind}_seconds_total", _pressure_rows(scan, kind)) for kind in PRESSURE_KINDS),
    )


def drift_samples(scan: DriftScan) -> tuple[Samples, ...]:
    """Return the families about projects and services."""
    return tuple(_rows(name, rows) for name, rows in drift_rows(scan).items())


def drift_rows(scan: DriftScan) -> dict[str, Iterator[Row]]:
    """Return the families about projects and services as label values and numbers."""
    reports = tuple({report.project_name: report for report in scan.reports}.values())
    drifts = Counter(difference.drift_type for report in reports for difference in report.differences)
    services = [(report.project_name, service) for report in reports for service in report.services]
    return {
        "bcon_drifts": (((drift.value,), drifts[drift]) for drift in DriftType),
        "bcon_drift_items": (row for report in reports for row in _item_rows(report)),
        "bcon_drift_start_timestamp_seconds": (row for report in reports for row in _start_rows(report)),
        "bcon_service_replicas_desired": (((p, s.service_name), s.desired) for p, s in services),
        "bcon_service_replicas_running": (((p, s.service_name), s.running) for p, s in services),
        "bcon_service_stop_requested": (((p, s.service_name), int(s.stop_requested)) for p, s in services),
        "bcon_compose_project_status": (row for report in reports for row in _status_rows(report)),
        "bcon_compose_unreadable": (row for report in reports for row in _problem_rows(report)),
        "bcon_untracked_containers": iter([((), len(scan.untracked))]),
    }


def _rows(name: str, rows: Iterator[Row]) -> Samples:
    return family_samples(BY_NAME[name], rows)


def _engine_rows(engine: EngineFacts | None) -> Iterator[Row]:
    if engine is not None:
        yield (
            (engine.name, engine.server_version, engine.api_version, engine.storage_driver, engine.cgroup_version),
            1,
        )


def _pressure_rows(scan: DiagnoseScan, kind: str) -> Iterator[Row]:
    pressure = scan.snapshot.pressure
    return (((resource,), seconds) for resource, seconds in (pressure_seconds(pressure, kind) if pressure else ()))


def _threshold_rows(thresholds: Thresholds) -> Iterator[Row]:
    return (((rule.type.value,), rule.threshold(thresholds)) for rule in SYMPTOM_RULES if rule.threshold is not None)


def _item_rows(report: DriftReport) -> Iterator[Row]:
    """Yield the number of differences of each type and service; nothing for types that could not be judged."""
    counts = Counter((difference.service_name, difference.drift_type) for difference in report.differences)
    names = {service.service_name for service in report.services}.union(name for name, _ in counts)
    for name in sorted(names):
        unjudged = _find_unjudged(report, name)
        for drift in DriftType:
            if drift not in unjudged or counts[name, drift]:
                yield ((report.project_name, name, drift.value), counts[name, drift])


def _find_unjudged(report: DriftReport, service: str) -> frozenset[DriftType]:
    """Return the types that could not be judged: their rule raised, or a variable or the containers are unknown."""
    partly = frozenset(doubt.drift_type for doubt in report.doubts if doubt.service_name == service)
    partly |= frozenset(report.rule_errors)
    if any(replicas.unread for replicas in report.services if replicas.service_name == service):
        partly |= _NEED_CONFIGURATION
    if report.status is DriftStatus.UNKNOWN and not (report.doubts or report.rule_errors):
        return frozenset(DriftType)
    return partly


def _start_rows(report: DriftReport) -> Iterator[Row]:
    starts: dict[tuple[str, DriftType], float] = {}
    for difference in report.differences:
        since = (difference.first_seen or report.timestamp).timestamp()
        key = (difference.service_name, difference.drift_type)
        starts[key] = min(since, starts.get(key, since))
    for (name, drift), since in sorted(starts.items()):
        yield ((report.project_name, name, drift.value), since)


def _status_rows(report: DriftReport) -> Iterator[Row]:
    return (((report.project_name, status.value), int(report.status is status)) for status in DriftStatus)


def _problem_rows(report: DriftReport) -> Iterator[Row]:
    return (((report.project_name, reason.value), int(report.unknown_reason is reason)) for reason in ProjectProblem)
