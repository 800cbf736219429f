"""Since when symptoms and drift have been there: under which keys they are remembered, and reports that say so."""

from collections.abc import Mapping
from datetime import datetime

from bcon_exporter.model.findings import Severity
from bcon_exporter.model.reports import DiagnosisReport, DriftReport


def container_key(diagnosis: DiagnosisReport) -> str:
    """Return what an explanation is remembered by."""
    return "\x1f".join((diagnosis.project or "", diagnosis.service or "", diagnosis.container_name))


def symptom_key(diagnosis: DiagnosisReport, symptom: str) -> str:
    """Return what a symptom is remembered by: it outlives the container's recreation, so no id is in it."""
    return f"{container_key(diagnosis)}\x1f{symptom}"


def drift_key(project: str, service: str, drift_type: str) -> str:
    """Return what a drift is remembered by, as coarse as its gauge."""
    return "\x1f".join((project, service, drift_type))


def date_symptoms(diagnosis: DiagnosisReport, since: Mapping[str, datetime]) -> DiagnosisReport:
    """Return the report with the first-seen times of its present symptoms; history (severity info) has none."""
    if not diagnosis.symptoms:
        return diagnosis
    dated = tuple(
        symptom
        if symptom.severity is Severity.INFO
        else symptom.model_copy(update={"first_seen": since.get(symptom_key(diagnosis, symptom.type))})
        for symptom in diagnosis.symptoms
    )
    return diagnosis.model_copy(update={"symptoms": dated})


def date_differences(report: DriftReport, since: Mapping[str, datetime]) -> DriftReport:
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
