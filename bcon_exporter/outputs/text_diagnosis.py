"""A diagnosis as a person wants to read it: what is wrong, why, what to do; the worst first."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from bcon_exporter.model.findings import LikelyCause, Suggestion, Symptom, Urgency
from bcon_exporter.model.log_reports import ErrorExplanation, ExplainedCause, SampleLog
from bcon_exporter.model.reports import ContainerHealthSummary, DiagnoseAllReport, DiagnosisReport
from bcon_exporter.outputs.text_style import (
    DIM,
    NOT_CHECKED,
    NOT_CHECKED_STYLE,
    SEVERITY_STYLES,
    STATUS_STYLES,
    join,
    name_text,
    pairs,
    plain,
    show_age,
    show_count,
    show_seconds,
    show_time,
    stack,
)

_WHEN = {Urgency.IMMEDIATE: "now", Urgency.SHORT_TERM: "today", Urgency.LONG_TERM: "week"}
_LABEL_WIDTH = 5
_SHOWN_SAMPLES = 3
_SHOWN_NAMES = 5
_BRIEF_EVIDENCE, _BRIEF_CAUSES, _BRIEF_SUGGESTIONS = 2, 1, 2


def show_host(report: DiagnoseAllReport, *, healthy_too: bool = False) -> RenderableType:
    """Return the host: counts, then each ailing container with what, why and what to do."""
    parts: list[RenderableType] = [_headline(report), Text()]
    roots = [plain(told, "bold cyan") for told in tell_roots(report)]
    parts += [*roots, Text()] if roots else []
    if not report.reports:  # the tool's own answer has a line of each
        parts += map(_summary_line, all_lines(report))
    for one in report.reports:
        if one.status != "healthy" or healthy_too:
            parts += [show_container(one, brief=True), Text()]
    well = [one.container_name for one in report.reports if one.status == "healthy" and one.checked]
    if report.unchecked and report.reports and not healthy_too:
        parts.append(_names_line(NOT_CHECKED, NOT_CHECKED_STYLE, [one.container_name for one in report.unchecked]))
    if well and not healthy_too:
        parts.append(_names_line("healthy", STATUS_STYLES["healthy"], well))
    parts += _blind_spots(report)
    return stack(parts)


def show_container(report: DiagnosisReport, *, brief: bool = False) -> RenderableType:
    """Return one container; brief shows the top cause and the newest evidence only."""
    parts: list[RenderableType] = [_title(report)]
    rows: list[tuple[str, RenderableType]] = []
    told: set[str] = set()
    for index, symptom in enumerate(worst_first(report.symptoms)):
        rows += _symptom_rows(symptom, report, told, label="" if index else "what", brief=brief)
    causes = report.likely_causes[: _BRIEF_CAUSES if brief else None]
    rows += [("why" if index == 0 else "", show_cause(cause)) for index, cause in enumerate(causes)]
    suggestions = report.suggestions[: _BRIEF_SUGGESTIONS if brief else None]
    rows += suggestions_rows(suggestions, brief=brief)
    if not report.symptoms:
        rows.append(("", plain(report.summary, DIM)))
    if report.not_evaluated:
        rows.append(("blind", _not_evaluated(report)))
    if report.rule_errors:
        names = ", ".join(report.rule_errors)
        rows.append(("bug", Text(f"rules that failed: {names}; please report this", style="red")))
    return stack([*parts, pairs(rows, indent=2, width=_LABEL_WIDTH)])


def _headline(report: DiagnoseAllReport) -> Text:
    styles = {str(word): style for word, style in STATUS_STYLES.items()} | {NOT_CHECKED: NOT_CHECKED_STYLE}
    parts = [Text(show_count(report.total_containers, "container"), style="bold")]
    parts += [Text(f" {count} {word} ", style=styles[word]) for word, count in count_words(report) if count]
    if report.ignored:
        parts.append(Text(f"{report.ignored} ignored", style=DIM))
    parts.append(Text(show_time(report.timestamp), style=DIM))
    return join(parts)


def all_lines(report: DiagnoseAllReport) -> list[ContainerHealthSummary]:
    """Return a line of each container that is ailing or not checked, and of the others that were asked for."""
    shown = {one.container_id for one in report.summaries}
    return [*report.summaries, *(one for one in report.unchecked if one.container_id not in shown)]


def count_words(report: DiagnoseAllReport) -> tuple[tuple[str, int], ...]:
    """Return how many containers each word stands for, the worst first; together they are all."""
    return (
        ("critical", report.critical),
        ("error", report.error),
        ("warning", report.warning),
        (NOT_CHECKED, report.not_checked),
        ("healthy", report.healthy - report.not_checked),
    )


def status_word(report: DiagnosisReport | ContainerHealthSummary) -> str:
    """Return a container's status, and "not checked" for one that is not known to be healthy."""
    return NOT_CHECKED if report.is_unchecked else report.status


def _status_text(report: DiagnosisReport | ContainerHealthSummary) -> Text:
    word = status_word(report)
    style = NOT_CHECKED_STYLE if word == NOT_CHECKED else STATUS_STYLES[report.status]
    return Text(f" {word.upper()} ", style=style)


def _title(report: DiagnosisReport) -> Text:
    status = _status_text(report)
    where = "/".join(part for part in (report.project, report.service) if part)
    state = report.state.value
    if report.uptime is not None:
        state = f"{state} for {show_seconds(report.uptime)}"
    return join([status, name_text(report.container_name, "bold"), name_text(where, DIM), Text(state, style=DIM)])


def _summary_line(summary: ContainerHealthSummary) -> Text:
    return join([_status_text(summary), name_text(summary.container_name, "bold"), plain(summary.top_issue or "")])


def _symptom_rows(
    symptom: Symptom, report: DiagnosisReport, told: set[str], *, label: str, brief: bool
) -> Iterator[tuple[str, RenderableType]]:
    """Yield what is seen and by which sign; a line that another symptom of the container quoted stands once."""
    sentence = plain(symptom.description)
    tag = symptom.type.value
    if symptom.confidence < 1:
        tag += f", {symptom.confidence:.0%} sure"
    if symptom.first_seen is not None:
        tag += f", since {show_age(symptom.first_seen, report.timestamp)}"
    sentence.append(f"  {tag}", style=DIM)
    yield label, Text.assemble(("● ", SEVERITY_STYLES[symptom.severity]), sentence)
    evidence = [line for line in dict.fromkeys(symptom.evidence) if quoted_part(line) not in told]
    for line in evidence[-_BRIEF_EVIDENCE if brief else 0 :]:
        told.add(quoted_part(line))
        if not (brief and quoted_part(line) in symptom.description):
            yield "", _quote(line)


def worst_first(symptoms: Iterable[Symptom]) -> list[Symptom]:
    """Return the worst first; of equal ones in the order of the report."""
    return sorted(symptoms, key=lambda one: -one.severity.rank)


_TOLD = (("", " times"), ("probe exit ", ""), ("probe exit -", ""))
"""What stands before and behind a number that we say about a line of evidence."""


def quoted_part(line: str) -> str:
    """Return what a line of evidence quotes, without what we say about it."""
    head, separator, quoted = line.partition(": ")
    told = head == "the engine says" or any(
        head.startswith(before) and head.endswith(after) and head[len(before) : len(head) - len(after)].isdigit()
        for before, after in _TOLD
    )
    return quoted if separator and told else line


def show_cause(cause: LikelyCause) -> Text:
    """Return a cause and how sure it is."""
    text = plain(cause.description, "cyan")
    text.append(f"  {cause.confidence:.0%}", style=DIM)
    return text


def suggestions_rows(suggestions: tuple[Suggestion, ...], *, brief: bool) -> Iterator[tuple[str, RenderableType]]:
    """Yield what to do and by when; a command that several suggest stands once, after the last of them."""
    last_use = {one.check: index for index, one in enumerate(suggestions)}
    before = None
    for index, one in enumerate(suggestions):
        rationale = "" if brief else one.rationale
        label = "" if one.urgency is before else _WHEN[one.urgency]
        yield label, Text(" ").join([plain(one.action, "bold"), plain(rationale, DIM)])
        if one.check and last_use[one.check] == index:
            yield "", Text.assemble(("$ ", DIM), plain(one.check, "dim italic"))
        before = one.urgency


def _quote(line: str) -> Text:
    quoted = Text("│ ", style=DIM)
    quoted.append_text(plain(line.replace("\n", "\n│ "), DIM))
    return quoted


def _not_evaluated(report: DiagnosisReport) -> Text:
    sentences = [f"{', '.join(names)} not judged: {reason}" for reason, names in _unjudged(report).items()]
    return plain("; ".join(sentences), DIM)


def _names_line(word: str, style: str, names: list[str]) -> Text:
    line = Text(f" {word.upper()} ", style=style)
    line.append("  ")
    line.append_text(join([name_text(name) for name in sorted(names)], ", "))
    return line


def _blind_spots(report: DiagnoseAllReport) -> list[RenderableType]:
    """Return what of the host could not be read: silence is never health."""
    lines = [plain(f"not read: {what}: {reason}", "yellow") for what, reason in sorted(report.unread.items())]
    if report.incomplete:
        lines.append(plain(f"incomplete facts of: {_some(report.incomplete)}", "yellow"))
    lines += [plain(f"not judged: {told}", DIM) for told in tell_unjudged(report)]
    return [Text(), *lines] if lines else []


def tell_roots(report: DiagnoseAllReport) -> Iterator[str]:
    """Yield where to begin: each container whose trouble explains that of others."""
    for root in report.roots:
        yield f"begin with {root.container_name}: its trouble explains that of {_some(root.explains)}"


def tell_unjudged(report: DiagnoseAllReport) -> Iterator[str]:
    """Yield which rules could not be judged on which healthy containers, and why; the others tell it themselves."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in report.reports:
        for reason, symptoms in _unjudged(one).items() if one.status == "healthy" else ():
            found.setdefault((", ".join(symptoms), reason), []).append(one.container_name)
    for (told, reason), names in found.items():
        yield f"{told} of {_some(names)}: {reason}"


def _unjudged(report: DiagnosisReport) -> dict[str, list[str]]:
    """Return each reason for which rules could not be judged, with their symptoms."""
    by_reason: dict[str, list[str]] = {}
    for rule in report.not_evaluated:
        by_reason.setdefault(rule.reason, []).append(rule.symptom.value)
    return by_reason


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def show_explanation(report: ErrorExplanation) -> RenderableType:
    """Return what a pattern found, with the newest occurrence in its context."""
    over = f" ({report.history_occurrences} of them history)" if report.history_occurrences else ""
    found = f"{_times(report.occurrences)}{over} " if report.occurrences else "not found: "
    parts = [plain(found + repr(report.pattern), "bold"), Text("in"), name_text(report.container_name, "bold")]
    head = join(parts, " ")
    rows: list[tuple[str, RenderableType]] = []
    if report.first_seen is not None:
        rows.append(("first", Text(show_time(report.first_seen))))
        rows.append(("last", Text(show_time(report.last_seen))))
    rows.append(("means", plain(report.explanation)))
    rows += [("why" if index == 0 else "", _explained(cause)) for index, cause in enumerate(report.causes)]
    rows += suggestions_rows(report.actions, brief=False)
    samples = [_sample(sample) for sample in report.samples[-_SHOWN_SAMPLES:]]
    searched = Text(f"{report.lines_searched} log lines searched", style=DIM)
    return stack([head, pairs(rows, indent=2, width=_LABEL_WIDTH), *samples, Text(), searched])


def _explained(cause: ExplainedCause) -> Text:
    text = show_cause(cause)
    return text.append("  history", style=DIM) if cause.history else text


def _sample(sample: SampleLog) -> RenderableType:
    text = Text("history\n" if sample.history else "", style=DIM)
    for index, line in enumerate(sample.lines):
        hit = index == sample.match_index
        text.append("> " if hit else "│ ", style="bold red" if hit else DIM)
        text.append_text(plain(line, "" if hit else DIM))
        text.append("" if index == len(sample.lines) - 1 else "\n")
    return Padding(text, (1, 0, 0, 2))
