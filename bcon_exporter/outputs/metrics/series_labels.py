"""Chooses the containers that get series, and their labels: no duplicates, no temporary names, no one-off runs."""

from dataclasses import dataclass

from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot
from bcon_exporter.model.naming import normalise_name
from bcon_exporter.model.reports import DiagnoseAllReport, DiagnosisReport
from bcon_exporter.outputs.metrics.families import CONTAINER_LABELS
from bcon_exporter.outputs.metrics.writing import label_set


@dataclass(frozen=True, slots=True)
class SeriesSubject:
    """One container with its report.

    Attributes:
        labels: `container="…",project="…",service="…"`, written once for all its series.
    """

    facts: ContainerFacts
    report: DiagnosisReport
    labels: str


def settled_name(facts: ContainerFacts) -> str:
    """Return the name without the prefix that Compose gives a container while it recreates it (`<12hex>_name`)."""
    return facts.name if facts.compose is None else normalise_name(facts.name)


def choose_subjects(snapshot: HostSnapshot, report: DiagnoseAllReport) -> tuple[SeriesSubject, ...]:
    """Return the containers that get series, one for each label set.

    Of two that would share their labels (while Compose recreates one), the running one counts, else the newest.
    """
    reports = {diagnosis.container_id[:12]: diagnosis for diagnosis in report.reports}
    chosen: dict[str, SeriesSubject] = {}
    for facts in sorted(snapshot.containers, key=_precedence, reverse=True):
        diagnosis = reports.get(facts.short_id)
        if diagnosis is None or (facts.compose is not None and facts.compose.oneoff):
            continue
        labels = label_set(CONTAINER_LABELS, identity_of(facts))
        chosen.setdefault(labels, SeriesSubject(facts, diagnosis, labels))
    return tuple(chosen[labels] for labels in sorted(chosen))


def identity_of(facts: ContainerFacts) -> tuple[str, str, str]:
    """Return the values of the labels `CONTAINER_LABELS`."""
    compose = facts.compose
    return (settled_name(facts), compose.project if compose else "", compose.service if compose else "")


def _precedence(facts: ContainerFacts) -> tuple[bool, float, str]:
    return (facts.is_running, facts.created_at.timestamp(), facts.id)
