"""Drift as a person wants to read it: by project and service, what the file says beside what runs."""

from collections.abc import Iterable
from itertools import groupby

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bcon_exporter.drift.wording import WOULD
from bcon_exporter.model.findings import ServiceDrift
from bcon_exporter.model.reports import DriftReport, DriftStatus
from bcon_exporter.outputs.text_style import DIM, SEVERITY_STYLES, join, name_text, plain, show_count, show_time, stack
from bcon_exporter.tools.drift import DriftFindings

_STATUS_STYLES = {
    DriftStatus.SYNCED: "bold green",
    DriftStatus.DRIFTED: "bold yellow",
    DriftStatus.UNKNOWN: "bold magenta",
}
_ORDER = {DriftStatus.DRIFTED: 0, DriftStatus.UNKNOWN: 1, DriftStatus.SYNCED: 2}


def show_findings(findings: DriftFindings) -> RenderableType:
    """Return every project, drifted ones first, and the containers that no file defines."""
    if not findings.reports:
        return stack([Text("No Compose project runs here and none is configured."), *_untracked(findings.untracked)])
    parts: list[RenderableType] = [_headline(findings.reports), Text()]
    for report in sorted(findings.reports, key=lambda one: (_ORDER[one.status], one.project_name)):
        parts += [show_report(report, untracked_too=False), Text()]
    return stack([*parts, *_untracked(findings.untracked)])


def show_report(report: DriftReport, *, untracked_too: bool = True) -> RenderableType:
    """Return one project."""
    parts: list[RenderableType] = [_title(report)]
    parts += [_indented(plain(sentence, "magenta")) for sentence in tell_doubts(report)]
    parts += _services(report.differences)
    if report.doubts:
        parts.append(_indented(Text("Drift or not, the unknown variables decide:", style="magenta")))
        parts += _services(report.doubts)
    if not report.differences and report.status is DriftStatus.SYNCED:
        parts.append(_indented(plain(report.summary, DIM)))
    parts += [_indented(Text.assemble(("○ ", DIM), plain(one.message, DIM))) for one in report.remarks]
    if report.ignored:
        parts.append(_indented(Text(f"{report.ignored} differences ignored by a rule", style=DIM)))
    return stack([*parts, *(_untracked(report.untracked) if untracked_too else ())])


def tell_doubts(report: DriftReport) -> tuple[str, ...]:
    """Return the sentences about what is unknown or failed."""
    told = [report.unknown_detail] if report.unknown_detail else []
    if report.unknown_reason is not None and not told:
        told.append(f"The wanted state is unknown: {report.unknown_reason.value.replace('_', ' ')}.")
    if report.unresolved and not any(all(name in text for name in report.unresolved) for text in told):
        told.append(f"Variables without a value: {', '.join(report.unresolved)}.")
    if report.rule_errors:
        told.append(f"Rules that failed: {', '.join(report.rule_errors)}; please report this.")
    return tuple(told)


def _services(differences: Iterable[ServiceDrift]) -> list[RenderableType]:
    by_service = groupby(differences, key=lambda one: one.service_name)
    return [_indented(_service(service, tuple(found))) for service, found in by_service]


def _indented(part: RenderableType) -> RenderableType:
    return Padding(part, (0, 0, 0, 2))


def _headline(reports: Iterable[DriftReport]) -> Text:
    reports = tuple(reports)
    counts = {status: sum(report.status is status for report in reports) for status in _ORDER}
    parts = [Text(show_count(len(reports), "Compose project"), style="bold")]
    seen = [status for status in _ORDER if counts[status]]
    parts += [Text(f"{counts[status]} {status.value}", style=_STATUS_STYLES[status]) for status in seen]
    return join([*parts, Text(show_time(max(report.timestamp for report in reports)), style=DIM)])


def _title(report: DriftReport) -> Text:
    status = Text(f" {report.status.value.upper()} ", style=_STATUS_STYLES[report.status])
    files = ", ".join(report.compose_files or (report.compose_file,))
    return join([status, name_text(report.project_name, "bold"), plain(files, DIM)])


def _service(name: str, differences: tuple[ServiceDrift, ...]) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    containers = {one.container_name for one in differences if one.container_name is not None}
    for difference in differences:
        label = Text.assemble(("● ", SEVERITY_STYLES[difference.severity]), difference.drift_type.value)
        grid.add_row(label, _difference(difference, tell_container=len(containers) > 1))
    would = {WOULD[one.compose_would] for one in differences if one.compose_would is not None}
    notes = [Padding(Text(note, style=DIM), (0, 0, 0, 2)) for note in sorted(would)]
    return stack([_heading(name, containers), Padding(grid, (0, 0, 0, 2)), *notes])


def _heading(service: str, containers: set[str]) -> Text:
    only = next(iter(containers)) if len(containers) == 1 else ""
    return join([name_text(service, "bold"), name_text(only, DIM)])


def tell_notes(difference: ServiceDrift) -> list[str]:
    """Return how it came about and how sure it is, where that is not plain."""
    notes = ["changed behind Compose's back"] if difference.outside_compose else []
    return notes if difference.confidence == 1 else [*notes, f"{difference.confidence:.0%} sure"]


def _difference(difference: ServiceDrift, *, tell_container: bool) -> RenderableType:
    """Return the sentence, or for a field the two values under one another, aligned."""
    notes = tell_notes(difference)
    if difference.field is None:
        return join([plain(difference.message), plain(", ".join(notes), DIM)])
    if tell_container and difference.container_name:
        notes.insert(0, f"on {difference.container_name}")
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(style=DIM, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("file", plain(difference.expected or "(none)", "green"))
    grid.add_row("runs", plain(difference.actual or "(none)", "red"))
    return stack([join([plain(difference.field, "bold"), plain(", ".join(notes), DIM)]), grid])


def _untracked(names: tuple[str, ...]) -> list[RenderableType]:
    if not names:
        return []
    head = Text(f"{show_count(len(names), 'running container')} in no Compose file: ", style=DIM)
    return [head.append_text(join([name_text(name, "default not dim") for name in names], ", "))]
