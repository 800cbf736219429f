"""A diagnosis as blocks: what is wrong, why, and what to do; the worst first."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from bcon_exporter.diagnosis.wording import worst_first
from bcon_exporter.model.findings import LikelyCause, Severity, Status, Suggestion, Symptom, Urgency
from bcon_exporter.model.log_reports import ExplainedCause, LogSymptom
from bcon_exporter.model.notes import ShownNote
from bcon_exporter.model.quantities import show_count, show_duration, show_time, show_times
from bcon_exporter.model.reports import ContainerHealthSummary, DiagnoseAllReport, DiagnosisReport, RootCause
from bcon_exporter.model.rule_faults import list_faults
from bcon_exporter.outputs.text.blocks import (
    EMPTY_LINE,
    SEVERITY_STYLES,
    Badge,
    Block,
    Field,
    Fields,
    Heading,
    Item,
    Items,
    Line,
    Quote,
    Section,
    Span,
    Style,
    comma_list,
    dim,
    field,
    line,
    name,
    plain,
    strong,
)
from bcon_exporter.outputs.text.notes import note_fields

STATUS_STYLES: dict[Status, Style] = {
    "critical": Style.WORST,
    "error": Style.BAD,
    "warning": Style.WARNING,
    "healthy": Style.GOOD,
}
NOT_CHECKED = Badge("NOT CHECKED", Style.DOUBT)
"""In place of "healthy" for a container of which a deciding rule could not be judged."""
LABEL_WIDTH = 5
_WHEN = {Urgency.IMMEDIATE: "now", Urgency.SHORT_TERM: "today", Urgency.LONG_TERM: "week"}
_SHOWN_NAMES = 5
_BRIEF_EVIDENCE, _BRIEF_CAUSES, _BRIEF_SUGGESTIONS = 2, 1, 2
_OUR_WORDS = (("", " times"), ("probe exit ", ""), ("probe exit -", ""))
"""What stands before and behind a number that we put before a line of evidence."""


def host_blocks(report: DiagnoseAllReport, *, healthy_too: bool, brief: bool) -> list[Block]:
    """Return the counts, then each ailing container with what, why and what to do."""
    if not report.total_containers and not report.ignored:
        nothing = line("This host has no containers.", notes=(dim(show_time(report.timestamp)),))
        return [nothing, *_failed_runs(report), *_unread_blocks(report)]
    blocks: list[Block] = [Heading(_headline(report)), EMPTY_LINE]
    if report.roots:
        blocks += [*(line(_root(root)) for root in report.roots), EMPTY_LINE]
    if not report.reports:  # the tool's own answer has a line of each
        blocks.append(Items(tuple(Item(_summary(summary)) for summary in _all_summaries(report))))
    for diagnosis in report.reports:
        if diagnosis.status != "healthy" or healthy_too:
            blocks += [container_section(diagnosis, level=2, brief=brief), EMPTY_LINE]
    if report.reports and not healthy_too:
        blocks += _healthy_lines(report)
    notes = tuple(note_fields(_notes_left(report, healthy_too=healthy_too)))
    shown: list[Block] = [EMPTY_LINE, Fields(notes, LABEL_WIDTH)] if notes else []
    return [*blocks, *_failed_runs(report), *shown, *_unread_blocks(report)]


def _notes_left(report: DiagnoseAllReport, *, healthy_too: bool) -> tuple[ShownNote, ...]:
    """Return the notes that stand beside none of the containers that are shown in full."""
    sections = [one for one in report.reports if one.status != "healthy" or healthy_too]
    shown = {note.id for one in sections for note in one.notes}
    return tuple(note for note in report.notes if note.id not in shown)


def _failed_runs(report: DiagnoseAllReport) -> list[Block]:
    """Return a line for all failed runs of one name."""
    lines: list[Block] = []
    for run_name in dict.fromkeys(run.name for run in report.ended):
        runs = [run for run in report.ended if run.name == run_name]
        ago = show_duration((report.timestamp - runs[0].ended_at).total_seconds())
        how = "killed for want of memory" if runs[0].oom else f"exit code {runs[0].exit_code}"
        times = "" if len(runs) == 1 else f", {show_times(len(runs))} in a day"
        lines.append(line(name(run_name, Style.STRONG), f" failed and was removed {ago} ago: {how}{times}."))
    return lines and [*lines, EMPTY_LINE]


def container_section(report: DiagnosisReport, *, level: int = 1, brief: bool = False) -> Section:
    """Return one container; brief has the top cause, the newest evidence and two suggestions only."""
    fields: list[Field] = []
    symptoms = tuple(_symptoms(report, brief=brief))
    causes = report.likely_causes[: _BRIEF_CAUSES if brief else None]
    if symptoms:
        fields.append(Field(line(dim("what")), symptoms))
    fields += cause_fields(causes)
    fields += suggestion_fields(report.suggestions[: _BRIEF_SUGGESTIONS if brief else None], brief=brief)
    fields += note_fields(report.notes)
    if not symptoms:
        fields.append(field("", dim(report.summary)))
    if unjudged := _unjudged(report):
        sentences = (f"{', '.join(names)} not judged: {reason}" for reason, names in unjudged.items())
        fields.append(field("unknown", dim("; ".join(sentences))))
    if report.rule_errors:
        fields.append(field("bug", Span(list_faults(report.rule_errors, report.rule_faults), Style.BAD)))
    return Section(Heading(_title(report), level), (Fields(tuple(fields), LABEL_WIDTH),))


def cause_fields(causes: Sequence[LikelyCause]) -> Iterator[Field]:
    """Yield why, and how sure that is."""
    if causes:
        yield Field(line(dim("why")), tuple(Item(_cause(cause)) for cause in causes))


def _cause(cause: LikelyCause) -> Line:
    notes = [dim(f"{cause.confidence:.0%}")]
    if isinstance(cause, ExplainedCause) and cause.history:
        notes.append(dim("history"))
    return line(Span(cause.full_text, Style.CAUSE), notes=notes)


def suggestion_fields(suggestions: Sequence[Suggestion], *, brief: bool = False) -> Iterator[Field]:
    """Yield what to do, by when; a command that several suggestions share stands once, after the last of them."""
    last_use = {suggestion.check: suggestion for suggestion in suggestions}
    for urgency, group in groupby(suggestions, key=lambda suggestion: suggestion.urgency):
        items = tuple(_suggestion(advice, brief=brief, show_check=last_use[advice.check] is advice) for advice in group)
        yield Field(line(dim(_WHEN[urgency])), items)


def _suggestion(suggestion: Suggestion, *, brief: bool, show_check: bool) -> Item:
    rationale = () if brief or not suggestion.rationale else (plain(" "), dim(suggestion.rationale))
    check = line(Span(suggestion.check or "", Style.COMMAND))
    return Item(line(strong(suggestion.full_text), *rationale), (check,) if show_check and suggestion.check else ())


def severity_badge(severity: Severity) -> Badge:
    """Return the point before a symptom or a difference."""
    return Badge(severity.value, SEVERITY_STYLES[severity], "●")


def symptom_line(symptom: Symptom | LogSymptom, *notes: str) -> Line:
    """Return what is seen, and the symptom's name."""
    tag = (Span(symptom.type.value, Style.TAG), dim("".join(f", {note}" for note in notes)))
    return line(symptom.description, "  ", *tag, badge=severity_badge(symptom.severity))


def _symptoms(report: DiagnosisReport, *, brief: bool) -> Iterator[Item]:
    """Yield what is seen and its evidence; a line that another symptom of the container quoted stands once."""
    quoted: set[str] = set()
    for symptom in worst_first(report.symptoms):
        notes = [f"{symptom.confidence:.0%} sure"] if symptom.confidence < 1 else []
        if symptom.first_seen is not None:
            notes.append(f"since {show_duration((report.timestamp - symptom.first_seen).total_seconds())} ago")
        evidence = [text for text in dict.fromkeys(symptom.evidence) if quoted_part(text) not in quoted]
        evidence = evidence[-_BRIEF_EVIDENCE if brief else 0 :]
        quoted.update(map(quoted_part, evidence))
        shown = [text for text in evidence if not (brief and quoted_part(text) in symptom.description)]
        quote = Quote(tuple(line(dim(text)) for text in shown))
        yield Item(symptom_line(symptom, *notes), (quote,) if shown else ())


def quoted_part(text: str) -> str:
    """Return what a line of evidence quotes, without what we say about it."""
    head, separator, quoted = text.partition(": ")
    is_ours = head == "the engine says" or any(
        head.startswith(before) and head.endswith(after) and head[len(before) : len(head) - len(after)].isdigit()
        for before, after in _OUR_WORDS
    )
    return quoted if separator and is_ours else text


def _headline(report: DiagnoseAllReport) -> Line:
    counts: tuple[tuple[Badge, int], ...] = (
        *((_status_badge(status), getattr(report, status)) for status in ("critical", "error", "warning")),
        (NOT_CHECKED, report.not_checked),
        (_status_badge("healthy"), report.healthy - report.not_checked),
    )
    notes: list[Span | Badge] = [
        Badge(f"{count} {badge.word.lower()}", badge.style) for badge, count in counts if count
    ]
    if report.ignored:
        notes.append(dim(f"{report.ignored} ignored"))
    return line(
        strong(show_count(report.total_containers, "container")), notes=[*notes, dim(show_time(report.timestamp))]
    )


def _title(report: DiagnosisReport) -> Line:
    where = "/".join(part for part in (report.project, report.service) if part)
    state = report.state.value
    if report.uptime is not None:
        state = f"{state} for {show_duration(report.uptime)}"
    return line(
        name(report.container_name, Style.STRONG), badge=_badge_of(report), notes=(name(where, Style.DIM), dim(state))
    )


def _badge_of(report: DiagnosisReport | ContainerHealthSummary) -> Badge:
    return NOT_CHECKED if report.is_unchecked else _status_badge(report.status)


def _status_badge(status: Status) -> Badge:
    return Badge(status.upper(), STATUS_STYLES[status])


def _summary(summary: ContainerHealthSummary) -> Line:
    issue = f"  {summary.top_issue}" if summary.top_issue else ""
    return line(name(summary.container_name, Style.STRONG), issue, badge=_badge_of(summary))


def _all_summaries(report: DiagnoseAllReport) -> Iterator[ContainerHealthSummary]:
    """Yield a line of each container that is ailing or not checked, and of the others that were asked for."""
    yield from report.summaries
    listed = {summary.container_id for summary in report.summaries}
    yield from (summary for summary in report.unchecked if summary.container_id not in listed)


def _healthy_lines(report: DiagnoseAllReport) -> Iterator[Line]:
    """Yield the names of those that are not checked, and of those that are healthy."""
    checked = (diagnosis for diagnosis in report.reports if diagnosis.checked)
    well = [diagnosis.container_name for diagnosis in checked if diagnosis.status == "healthy"]
    unchecked = [summary.container_name for summary in report.unchecked]
    for badge, names in ((NOT_CHECKED, unchecked), (_status_badge("healthy"), well)):
        if names:
            yield line(*comma_list(sorted(names)), badge=badge)


def _unread_blocks(report: DiagnoseAllReport) -> list[Block]:
    """Return what of the host could not be read: silence is never health."""
    unread = [f"not read: {what}: {reason}" for what, reason in sorted(report.unread.items())]
    if report.incomplete:
        unread.append(f"incomplete facts of: {_some(report.incomplete)}")
    lines = [line(Span(text, Style.WARNING)) for text in unread]
    lines += [line(dim(f"not judged: {text}")) for text in _unjudged_of_healthy(report)]
    return [EMPTY_LINE, *lines] if lines else []


def _root(root: RootCause) -> Span:
    text = f"begin with {root.container_name}: its trouble explains that of {_some(root.explains)}"
    return Span(text, Style.ROOT)


def _unjudged_of_healthy(report: DiagnoseAllReport) -> Iterator[str]:
    """Yield which rules could not be judged on which healthy containers, and why; the others tell it themselves."""
    names: dict[tuple[str, str], list[str]] = {}
    for diagnosis in report.reports:
        for reason, symptoms in _unjudged(diagnosis).items() if diagnosis.status == "healthy" else ():
            names.setdefault((", ".join(symptoms), reason), []).append(diagnosis.container_name)
    for (rules, reason), containers in names.items():
        yield f"{rules} of {_some(containers)}: {reason}"


def _unjudged(report: DiagnosisReport) -> dict[str, list[str]]:
    """Return each reason for which rules could not be judged, with their symptoms, but for what only advises."""
    by_reason: dict[str, list[str]] = {}
    for rule in report.not_evaluated:
        if rule.is_advisory:
            continue
        by_reason.setdefault(rule.reason, []).append(rule.symptom.value)
    return by_reason


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")
