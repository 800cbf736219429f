"""The analysis of a log as a person wants to read it: what is wrong, why, what to do, and the lines that show it."""

from rich.console import RenderableType
from rich.text import Text

from bcon_exporter.model.log_reports import LogAnalysis, LogEventGroup
from bcon_exporter.outputs.text_diagnosis import show_cause, suggestions_rows
from bcon_exporter.outputs.text_style import DIM, SEVERITY_STYLES, pairs, plain, stack

_SHOWN_GROUPS = 10


def show_log(report: LogAnalysis) -> RenderableType:
    """Return the symptoms with causes and advice, then the groups of events."""
    rows: list[tuple[str, RenderableType]] = [
        ("" if index else "what", _symptom(one.type.value, one.description, SEVERITY_STYLES[one.severity]))
        for index, one in enumerate(report.symptoms)
    ]
    rows += [("" if index else "why", show_cause(cause)) for index, cause in enumerate(report.causes)]
    rows += suggestions_rows(report.suggestions, brief=False)
    rows += [("" if index else "log", _group(one)) for index, one in enumerate(report.events[:_SHOWN_GROUPS])]
    if not report.symptoms:
        rows.insert(0, ("", Text("Nothing that counts.", style=DIM)))
    return stack([Text(f"{report.lines} log lines", style="bold"), pairs(rows, indent=2, width=5)])


def _symptom(kind: str, description: str, style: str) -> Text:
    return Text.assemble(("● ", style), plain(description), (f"  {kind}", DIM))


def _group(group: LogEventGroup) -> Text:
    count = f"{group.count} times" if group.count > 1 else "once"
    over = ", over" if group.history else ""
    return Text.assemble((f"{count}{over}, line {group.line}: ", DIM), plain(group.example))
