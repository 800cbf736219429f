"""The same results as Markdown, for issues, chats and agents; untrusted text cannot become markup."""

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from typing import Any

from bcon_exporter.drift.wording import WOULD
from bcon_exporter.model.alerts import AlertsReport
from bcon_exporter.model.cleaning import strip_controls
from bcon_exporter.model.findings import ServiceDrift, Suggestion, Urgency
from bcon_exporter.model.log_reports import ErrorExplanation, LogAnalysis
from bcon_exporter.model.reports import (
    ContainerHealthSummary,
    ContainerInfo,
    ContainerLogs,
    ContainerStats,
    CostReport,
    DiagnoseAllReport,
    DiagnosisReport,
    DriftReport,
    HealthCheck,
)
from bcon_exporter.outputs.text_diagnosis import (
    all_lines,
    count_words,
    quoted_part,
    status_word,
    tell_roots,
    tell_unjudged,
    worst_first,
)
from bcon_exporter.outputs.text_drift import tell_doubts, tell_notes
from bcon_exporter.outputs.text_style import NOT_CHECKED, show_count, show_percent, show_seconds, show_size, show_time
from bcon_exporter.tools.drift import DriftFindings

_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_{}[]<>#|~&$"})
_WHEN = {Urgency.IMMEDIATE: "now", Urgency.SHORT_TERM: "today", Urgency.LONG_TERM: "this week"}


def escape(raw: str) -> str:
    """Return untrusted text as one line in which nothing is markup."""
    text = " ".join(strip_controls(raw).split("\n")).translate(_SPECIAL)
    if text[:1] in ("-", "+", "="):
        return f"\\{text}"  # a list or a heading
    return f"{text[0]}\\{text[1:]}" if text[:1].isdigit() and text[1:2] in (".", ")") else text


def fence(lines: Iterable[str]) -> list[str]:
    """Return untrusted lines as a code block whose fence is longer than any within."""
    body = [part for line in lines for part in strip_controls(line).split("\n")]
    longest = max((len(list(run)) for line in body for char, run in groupby(line) if char == "`"), default=0)
    mark = "`" * max(3, longest + 1)
    return [f"{mark}text", *body, mark]


def write_markdown(value: Any) -> str:
    """Return a tool's result as Markdown.

    Raises:
        TypeError: No tool returns such a value.
    """
    lines: Iterable[str]
    match value:
        case DiagnoseAllReport():
            lines = _host(value)
        case DiagnosisReport():
            lines = _container(value, "#")
        case ErrorExplanation():
            lines = _explanation(value)
        case LogAnalysis():
            lines = _log(value)
        case DriftFindings():
            lines = _findings(value)
        case DriftReport():
            lines = _drift(value, "#")
        case AlertsReport():
            lines = _alerts(value)
        case _:
            lines = _small(value)
    return "\n".join(lines) + "\n"


def _small(value: Any) -> Iterable[str]:
    match value:
        case ContainerInfo():
            return _pairs(value.name, value.model_dump(exclude_none=True, exclude={"name"}))
        case HealthCheck():
            return _pairs("bcon-exporter", value.model_dump(exclude_none=True))
        case ContainerLogs():
            times = (f"{show_time(one.timestamp)}  " if one.timestamp else "" for one in value.entries)
            messages = (one.message for one in value.entries)
            body = [time + message for time, message in zip(times, messages, strict=True)]
            return [f"# Log of {escape(value.container_name)}", "", *fence(body)]
        case CostReport():
            return _cost(value)
        case ContainerStats():
            return _stats((value,))
        case (ContainerStats(), *_):
            return _stats(tuple(value))
        case (ContainerInfo(), *_):
            return _list(tuple(value))
        case ():
            return ["Nothing matches."]
        case _:
            msg = f"no Markdown form of {type(value).__name__}"
            raise TypeError(msg)


def _rows(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return a table; its cells must be escaped."""
    lines = [head, tuple("---" for _ in head), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def _pairs(title: str, fields: dict[str, Any]) -> list[str]:
    told = (
        (key.removesuffix("_seconds").replace("_", " "), _cell(value))
        for key, value in fields.items()
        if value not in ({}, ())
    )
    return [f"# {escape(title)}", "", *_rows(("what", "value"), told)]


def _cell(value: Any) -> str:
    """Return a field's value, escaped; of a mapping each pair on a line of its own."""
    match value:
        case bool():
            return "yes" if value else "no"
        case float():
            return show_seconds(value)
        case datetime():
            return show_time(value)
        case dict():
            return "<br>".join(f"{escape(str(key))}: {_cell(one)}" for key, one in sorted(value.items()))
        case None:
            return "-"
        case _:
            return escape(str(value))


def _host(report: DiagnoseAllReport) -> list[str]:
    shown = [one for one in count_words(report) if one[1] or one[0] != NOT_CHECKED]
    counts = ", ".join(f"{count} {word}" for word, count in shown)
    lines = [f"# {show_count(report.total_containers, 'container')}: {counts}", "", show_time(report.timestamp)]
    lines += [line for told in tell_roots(report) for line in ("", f"**{escape(told[:1].upper() + told[1:])}**")]
    lines_of_all = all_lines(report)
    if lines_of_all and not report.reports:  # the tool's own answer has a line of each
        lines += ["", *map(_summary, lines_of_all)]
    for one in report.reports:
        if one.status != "healthy":
            lines += ["", *_container(one, "##")]
    if report.unchecked and report.reports:
        names = ", ".join(escape(one.container_name) for one in report.unchecked)
        lines += ["", f"Not checked: {names}"]
    for what, reason in sorted(report.unread.items()):
        lines += ["", f"Not read: {escape(what)}: {escape(reason)}"]
    lines += [line for told in tell_unjudged(report) for line in ("", f"Not judged: {escape(told)}")]
    return lines


def _summary(summary: ContainerHealthSummary) -> str:
    issue = f": {escape(summary.top_issue)}" if summary.top_issue else ""
    return f"- **{escape(summary.container_name)}** ({status_word(summary)}){issue}"


def _container(report: DiagnosisReport, level: str) -> list[str]:
    lines = [f"{level} {escape(report.container_name)}: {report.status}", ""]
    symptoms = worst_first(report.symptoms)
    if not symptoms:
        lines.append(escape(report.summary))
    lines += [f"- `{one.type}` ({one.severity}): {escape(one.description)}" for one in symptoms]
    evidence: dict[str, str] = {}
    for line in (line for one in symptoms for line in one.evidence):
        evidence.setdefault(quoted_part(line), line)
    if report.likely_causes:
        lines += ["", "Why:", ""]
        lines += [f"- {escape(cause.description)} ({cause.confidence:.0%})" for cause in report.likely_causes]
    if report.suggestions:
        lines += ["", "What to do:", "", *_suggestions(report.suggestions)]
    if evidence:
        lines += ["", "Evidence:", "", *fence(evidence.values())]
    if report.not_evaluated:
        names = ", ".join(f"`{rule.symptom}`" for rule in report.not_evaluated)
        lines += ["", f"Not judged, because facts were missing: {names}"]
    return lines


def _suggestions(suggestions: Iterable[Suggestion]) -> list[str]:
    return [f"- {_WHEN[one.urgency]}: {escape(one.action)}" for one in suggestions]


def _explanation(report: ErrorExplanation) -> list[str]:
    lines = [
        f"# {show_count(report.occurrences, 'occurrence')} in {escape(report.container_name)}",
        "",
        escape(report.explanation),
    ]
    if report.causes:
        lines += ["", "Why:", ""]
        lines += [
            f"- {escape(cause.description)} ({cause.confidence:.0%}{', history' if cause.history else ''})"
            for cause in report.causes
        ]
    if report.actions:
        lines += ["", "What to do:", "", *_suggestions(report.actions)]
    for sample in report.samples:
        lines += ["", *(["History:", ""] if sample.history else []), *fence(sample.lines)]
    return lines


def _log(report: LogAnalysis) -> list[str]:
    lines = [f"# {len(report.symptoms)} symptoms in {report.lines} log lines", ""]
    lines += [f"- `{one.type}` ({one.severity}): {escape(one.description)}" for one in report.symptoms]
    if report.causes:
        lines += ["", "Why:", "", *(f"- {escape(one.description)} ({one.confidence:.0%})" for one in report.causes)]
    if report.suggestions:
        lines += ["", "What to do:", "", *_suggestions(report.suggestions)]
    if report.events:
        lines += ["", "Events:", "", *fence(f"{one.count} times: {one.example}" for one in report.events)]
    return lines


def _findings(findings: DriftFindings) -> list[str]:
    lines = [f"# Compose projects: {len(findings.reports)}"]
    for report in findings.reports:
        lines += ["", *_drift(report, "##")]
    if findings.untracked:
        lines += ["", f"In no Compose file: {', '.join(escape(name) for name in findings.untracked)}"]
    return lines


def _drift(report: DriftReport, level: str) -> list[str]:
    lines = [f"{level} {escape(report.project_name)}: {report.status.value}", "", escape(report.summary)]
    for sentence in tell_doubts(report):
        lines += ["", escape(sentence)]
    for service, found in groupby(report.differences, key=lambda one: one.service_name):
        lines += ["", f"{level}# {escape(service)}", "", *_differences(found)]
    for service, found in groupby(report.doubts, key=lambda one: one.service_name):
        lines += [
            "",
            f"{level}# {escape(service)}: drift or not, the unknown variables decide",
            "",
            *_differences(found),
        ]
    if report.remarks:
        lines += ["", *(f"- {escape(one.message)}" for one in report.remarks)]
    if report.untracked and level == "#":
        lines += ["", f"In no Compose file: {', '.join(escape(name) for name in report.untracked)}"]
    return lines


def _differences(found: Iterable[ServiceDrift]) -> list[str]:
    rows = (
        (
            one.drift_type.value.replace("_", "\\_"),
            escape(one.field or ""),
            escape(one.expected),
            escape(one.actual),
            escape(_notes(one)),
        )
        for one in found
    )
    return _rows(("drift", "field", "file", "runs", "note"), rows)


def _notes(difference: ServiceDrift) -> str:
    would = WOULD[difference.compose_would] if difference.compose_would else ""
    return ", ".join(note for note in (*tell_notes(difference), would) if note)


def _list(containers: tuple[ContainerInfo, ...]) -> list[str]:
    rows = (
        (
            escape(one.name),
            one.state.value,
            *map(escape, (one.status, one.image, one.compose_project or "", one.compose_service or "", one.id)),
        )
        for one in containers
    )
    return _rows(("name", "state", "status", "image", "project", "service", "id"), rows)


def _stats(stats: tuple[ContainerStats, ...]) -> list[str]:
    rows = (
        (
            escape(one.container_name),
            show_percent(one.cpu_percent),
            show_size(one.memory_usage_bytes),
            show_percent(one.memory_percent),
            *map(show_size, (one.network_rx_bytes, one.network_tx_bytes, one.block_read_bytes, one.block_write_bytes)),
        )
        for one in stats
    )
    head = ("name", "CPU", "memory", "of limit", "net in", "net out", "read", "written")
    return _rows(head, rows)


def _alerts(report: AlertsReport) -> list[str]:
    rows = (
        (one.state, one.severity, one.name, *(escape(one.annotations.get(key, "")) for key in ("summary", "cause")))
        for one in report.alerts
    )
    return ["# Alerts", "", *_rows(("state", "severity", "alert", "summary", "cause"), rows)]


def _cost(report: CostReport) -> list[str]:
    rows = (
        (
            escape(name),
            str(cost.operations),
            str(cost.input_tokens + cost.output_tokens),
            str(cost.docker_calls),
            show_seconds(cost.seconds),
        )
        for name, cost in report.by_operation.items()
    )
    head = ("operation", "calls", "tokens", "engine calls", "time")
    return [f"# {show_count(report.total_operations, 'tool call')}", "", *_rows(head, rows), "", report.note]
