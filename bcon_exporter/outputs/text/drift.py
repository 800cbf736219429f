"""Drift as blocks: by project and service, what the file says beside what runs."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from bcon_exporter.drift.wording import WOULD
from bcon_exporter.model.findings import ServiceDrift
from bcon_exporter.model.quantities import show_count, show_time
from bcon_exporter.model.reports import DRIFT_STATUS_RANK, DriftReport, DriftStatus
from bcon_exporter.model.rule_faults import list_faults
from bcon_exporter.outputs.text.blocks import (
    EMPTY_LINE,
    Badge,
    Block,
    Field,
    Fields,
    Heading,
    Item,
    Line,
    Section,
    Span,
    Style,
    comma_list,
    dim,
    field,
    line,
    name,
    strong,
)
from bcon_exporter.outputs.text.diagnosis import severity_badge
from bcon_exporter.outputs.text.notes import note_fields
from bcon_exporter.tools.drift import DriftFindings

_STATUS_STYLES = {
    DriftStatus.DRIFTED: Style.WARNING,
    DriftStatus.UNKNOWN: Style.DOUBT,
    DriftStatus.SYNCED: Style.GOOD,
}


def findings_blocks(findings: DriftFindings) -> list[Block]:
    """Return every project, drifted ones first, and the containers that no file defines."""
    reports = sorted(findings.reports, key=lambda report: (DRIFT_STATUS_RANK[report.status], report.project_name))
    if not reports:
        return [line("No Compose project runs here and none is configured."), *_untracked(findings.untracked)]
    blocks: list[Block] = [Heading(_headline(reports)), EMPTY_LINE]
    for report in reports:
        blocks += [_project(report, level=2), EMPTY_LINE]
    return [*blocks, *_untracked(findings.untracked)]


def project_blocks(report: DriftReport) -> list[Block]:
    """Return one project."""
    return [_project(report, level=1), *_untracked(report.untracked)]


def _headline(reports: Sequence[DriftReport]) -> Line:
    counts = {status: sum(report.status is status for report in reports) for status in DRIFT_STATUS_RANK}
    notes = [Span(f"{count} {status.value}", _STATUS_STYLES[status]) for status, count in counts.items() if count]
    newest = dim(show_time(max(report.timestamp for report in reports)))
    return line(strong(show_count(len(reports), "Compose project")), notes=[*notes, newest])


def _project(report: DriftReport, *, level: int) -> Section:
    files = ", ".join(report.compose_files or (report.compose_file,))
    badge = Badge(report.status.value.upper(), _STATUS_STYLES[report.status])
    title = line(name(report.project_name, Style.STRONG), badge=badge, notes=(dim(files),))
    return Section(Heading(title, level), tuple(_project_body(report, level)))


def _project_body(report: DriftReport, level: int) -> Iterator[Block]:
    yield from (line(Span(doubt, Style.DOUBT)) for doubt in _doubts(report))
    yield from _services(report.differences, level)
    if report.doubts:
        yield line(Span("Drift or not, the unknown variables decide:", Style.DOUBT))
        yield from _services(report.doubts, level)
    if not report.differences and report.status is DriftStatus.SYNCED:
        yield line(dim(report.summary))
    yield from (line(dim(remark.message), badge=Badge("remark", Style.DIM, "○")) for remark in report.remarks)
    if report.notes:
        yield Fields(tuple(note_fields(report.notes)))
    if report.ignored:
        yield line(dim(f"{show_count(report.ignored, 'difference')} ignored by a rule"))


def _doubts(report: DriftReport) -> list[str]:
    """Return the sentences about what is unknown or failed."""
    doubts = [report.unknown_detail] if report.unknown_detail else []
    if report.unknown_reason is not None and not doubts:
        doubts.append(f"The wanted state is unknown: {report.unknown_reason.value.replace('_', ' ')}.")
    if report.unresolved and not any(all(variable in text for variable in report.unresolved) for text in doubts):
        doubts.append(f"Variables without a value: {', '.join(report.unresolved)}.")
    if report.rule_errors:
        doubts.append(list_faults(report.rule_errors, report.rule_faults))
    return doubts


def _services(differences: Iterable[ServiceDrift], level: int) -> Iterator[Section]:
    for service, group in groupby(differences, key=lambda difference: difference.service_name):
        yield _service(service, tuple(group), level + 1)


def _service(service: str, differences: Sequence[ServiceDrift], level: int) -> Section:
    containers = {difference.container_name for difference in differences} - {None}
    only = next(iter(containers)) if len(containers) == 1 else None
    fields = tuple(_difference(difference, name_container=len(containers) > 1) for difference in differences)
    actions = {difference.compose_would for difference in differences if difference.compose_would is not None}
    title = line(name(service, Style.STRONG), notes=(name(only or "", Style.DIM),))
    return Section(
        Heading(title, level),
        (Fields(fields), *(line(dim(text)) for text in sorted(WOULD[action] for action in actions))),
    )


def _difference(difference: ServiceDrift, *, name_container: bool) -> Field:
    """Return the sentence, or for a field the two values under one another."""
    label = line(Span(difference.drift_type.value, Style.CODE), badge=severity_badge(difference.severity))
    notes = [difference.origin] if difference.origin is not None else []
    if difference.confidence < 1:
        notes.append(f"{difference.confidence:.0%} sure")
    if difference.field is None:
        return Field(label, (Item(line(difference.message, notes=(dim(", ".join(notes)),))),))
    if name_container and difference.container_name:
        notes.insert(0, f"on {difference.container_name}")
    values = Fields(
        (
            field("file", Span(difference.expected or "(none)", Style.GOOD)),
            field("runs", Span(difference.actual or "(none)", Style.BAD)),
        )
    )
    return Field(label, (Item(line(strong(difference.field), notes=(dim(", ".join(notes)),)), (values,)),))


def _untracked(names: Sequence[str]) -> list[Line]:
    if not names:
        return []
    return [line(dim(f"{show_count(len(names), 'running container')} in no Compose file: "), *comma_list(names))]
