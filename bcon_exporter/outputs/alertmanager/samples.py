"""What the alerts are judged by: the samples that /metrics shows, as values."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from bcon_exporter.alerting import Labels, Vector, Watched
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.outputs.metrics.container_samples import STATUS_VALUES
from bcon_exporter.outputs.metrics.families import BY_NAME, C
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
    return make_labels(C, identity_of(subject.facts))


class DiagnosisRead(NamedTuple):
    """A diagnosis as the alerts see it.

    Attributes:
        vectors: What they ask of it.
        subjects: The containers that there is something to tell of.
    """

    vectors: Watched
    subjects: Mapping[Labels, Subject]


def read_diagnosis(scan: DiagnoseScan, held: Collection[Labels]) -> DiagnosisRead:
    """Read a diagnosis: of most containers there is nothing to tell, hence no sample.

    Args:
        scan: The diagnosis.
        held: Containers of which something was held before; their zeros count.
    """
    chosen = choose_subjects(scan.snapshot, scan.report)
    named = ((labels_of(one), one) for one in chosen if held or not _is_quiet(one.report))
    subjects = {labels: one for labels, one in named if labels in held or not _is_quiet(one.report)}
    symptoms = {
        tuple(sorted((*labels, ("symptom", kind.value)))): present
        for labels, one in subjects.items()
        for kind, present in _judged(one.report)
    }
    vectors: dict[str, Vector] = {
        "bcon_containers": {(): float(len(chosen))},
        "bcon_container_symptom": symptoms,
        "bcon_container_status": {key: float(STATUS_VALUES[one.report.status]) for key, one in subjects.items()},
        "bcon_container_not_evaluated": {key: float(len(one.report.not_evaluated)) for key, one in subjects.items()},
    }
    return DiagnosisRead(vectors, subjects)


def _is_quiet(report: DiagnosisReport) -> bool:
    return not (report.symptoms or report.not_evaluated or report.rule_errors)


def container_of(labels: Labels) -> Labels:
    """Return of an alert's or a symptom's labels those that name the container."""
    return tuple(pair for pair in labels if pair[0] in C)


def _judged(report: DiagnosisReport) -> Iterator[tuple[SymptomType, float]]:
    """Yield 0 or 1 for every symptom that was judged; history (severity info) is 0."""
    present = {symptom.type for symptom in report.symptoms if symptom.severity is not Severity.INFO}
    unjudged = {missing.symptom for missing in report.not_evaluated}.union(report.rule_errors) - present
    for kind in SymptomType:
        if kind not in unjudged:
            yield kind, 1.0 if kind in present else 0.0
