"""Logs as blocks: the lines themselves, what a log says is wrong, and what a pattern found in one."""

from collections.abc import Iterator

from bcon_exporter.model.log_reports import ErrorExplanation, LogAnalysis, LogEventGroup, SampleLog
from bcon_exporter.model.quantities import show_count, show_time, show_times
from bcon_exporter.model.reports import ContainerLogs, LogEntry
from bcon_exporter.outputs.text.blocks import (
    EMPTY_LINE,
    Block,
    Field,
    Fields,
    Heading,
    Item,
    Line,
    Quote,
    Section,
    Span,
    Style,
    dim,
    field,
    line,
    name,
    plain,
    strong,
)
from bcon_exporter.outputs.text.diagnosis import LABEL_WIDTH, cause_fields, suggestion_fields, symptom_line

_SHOWN_GROUPS = 10
_SHOWN_SAMPLES = 3


def log_blocks(logs: ContainerLogs) -> list[Block]:
    """Return the lines as the container wrote them, with time; standard error in another colour."""
    if not logs.entries:
        return [line(dim("No log lines in this window."))]
    older = [line(dim("… older lines left out"))] if logs.truncated else []
    return [*older, Quote(tuple(map(_entry, logs.entries)), bar=False)]


def _entry(entry: LogEntry) -> Line:
    at = "" if entry.timestamp is None else f"{entry.timestamp:%Y-%m-%d %H:%M:%S.%f}"[:-3] + "  "
    return line(dim(at), Span(entry.message, Style.BAD if entry.stream == "stderr" else Style.PLAIN))


def analysis_section(report: LogAnalysis) -> Section:
    """Return the symptoms with causes and advice, then the groups of events."""
    symptoms = tuple(Item(symptom_line(symptom)) for symptom in report.symptoms)
    fields = [Field(line(dim("what")), symptoms) if symptoms else field("", dim("Nothing that counts."))]
    fields += cause_fields(report.causes)
    fields += suggestion_fields(report.suggestions)
    if report.events:
        fields.append(Field(line(dim("log")), tuple(Item(_group(group)) for group in report.events[:_SHOWN_GROUPS])))
    heading = Heading(line(strong(show_count(report.lines, "log line"))))
    return Section(heading, (Fields(tuple(fields), LABEL_WIDTH),))


def _group(group: LogEventGroup) -> Line:
    over = ", over" if group.history else ""
    return line(dim(f"{show_times(group.count)}{over}, line {group.line}: "), group.example)


def explanation_blocks(report: ErrorExplanation) -> list[Block]:
    """Return what a pattern found, with the newest occurrences in their context."""
    over = f" ({report.history_occurrences} of them history)" if report.history_occurrences else ""
    times = f"{show_times(report.occurrences)}{over} " if report.occurrences else "not found: "
    title = line(strong(times + repr(report.pattern)), plain(" in "), name(report.container_name, Style.STRONG))
    fields: list[Field] = []
    if report.first_seen is not None:
        fields += [field("first", show_time(report.first_seen)), field("last", show_time(report.last_seen))]
    fields.append(field("means", report.explanation))
    fields += cause_fields(report.causes)
    fields += suggestion_fields(report.actions)
    samples = (block for sample in report.samples[-_SHOWN_SAMPLES:] for block in _sample(sample))
    body = (Fields(tuple(fields), LABEL_WIDTH), *samples)
    searched = f"{show_count(report.lines_searched, 'log line')} searched"
    return [Section(Heading(title), body), EMPTY_LINE, line(dim(searched))]


def _sample(sample: SampleLog) -> Iterator[Block]:
    yield EMPTY_LINE
    if sample.history:
        yield line(dim("history"))
    hit = sample.match_index
    lines = (line(plain(text) if index == hit else dim(text)) for index, text in enumerate(sample.lines))
    yield Quote(tuple(lines), hit=hit)
