"""What the alerts are judged by: the samples that /metrics shows, as values."""

from collections.abc import Iterable, Iterator

from bcon_exporter.alerting import Labels, Watched
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.outputs.metrics.container_samples import STATUS_VALUES
from bcon_exporter.outputs.metrics.families import BY_NAME
from bcon_exporter.outputs.metrics.host_samples import drift_rows
from bcon_exporter.outputs.metrics.own import Row
from bcon_exporter.outputs.metrics.subjects import Subject, choose_subjects, identity_of
from bcon_exporter.outputs.metrics.writing import plain_label
from bcon_exporter.store import DiagnoseScan, DriftScan


def make_labels(names: Iterable[str], values: Iterable[str | None]) -> Labels:
    """Return labels as Prometheus stores them: clipped, sorted, without empty ones."""
    pairs = ((name, plain_label(value)) for name, value in zip(names, values, strict=True))
    return tuple(sorted((name, value) for name, value in pairs if value))


def row_vectors(rows: dict[str, Iterable[Row]]) -> Watched:
    """Return families that are told as rows."""
    return {
        name: {make_labels(BY_NAME[name].labels, values): float(n) for values, n in family if n is not None}
        for name, family in rows.items()
    }


def drift_vectors(scan: DriftScan) -> Watched:
    """Return what the alerts ask of a drift scan."""
    return row_vectors({name: tuple(rows) for name, rows in drift_rows(scan).items()})


def labels_of(subject: Subject) -> Labels:
    """Return what names a container in alerts and metrics."""
    return make_labels(("container", "project", "service"), identity_of(subject.facts))


def diagnosis_vectors(scan: DiagnoseScan) -> Watched:
    """Return what the alerts ask of a diagnosis."""
    symptoms: dict[Labels, float] = {}
    status: dict[Labels, float] = {}
    unjudged: dict[Labels, float] = {}
    subjects = choose_subjects(scan.snapshot, scan.report)
    for subject in subjects:
        labels = labels_of(subject)
        status[labels] = float(STATUS_VALUES[subject.report.status])
        unjudged[labels] = float(len(subject.report.not_evaluated))
        for kind, present in _judged(subject.report):
            symptoms[tuple(sorted((*labels, ("symptom", kind.value))))] = present
    return {
        "bcon_containers": {(): float(len(subjects))},
        "bcon_container_symptom": symptoms,
        "bcon_container_status": status,
        "bcon_container_not_evaluated": unjudged,
    }


def _judged(report: DiagnosisReport) -> Iterator[tuple[SymptomType, float]]:
    """Yield 0 or 1 for every symptom that was judged; history (severity info) is 0."""
    present = {symptom.type for symptom in report.symptoms if symptom.severity is not Severity.INFO}
    unjudged = {missing.symptom for missing in report.not_evaluated}.union(report.rule_errors) - present
    for kind in SymptomType:
        if kind not in unjudged:
            yield kind, 1.0 if kind in present else 0.0
