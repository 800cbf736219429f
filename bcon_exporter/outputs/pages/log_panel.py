"""The log of a container on its page: which part is shown, what is marked in it, and how severe each line is.

Without a wish it is the end of what the last scan has read, with the lines that the diagnosis quotes; the engine is
asked only for what somebody asks for: more lines, some words, the run before.
"""

import re  # noqa: TID251 -- finds the reader's own words, escaped, in lines that are bounded
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from markupsafe import escape

from bcon_exporter.diagnosis import level_of
from bcon_exporter.errors import BconError
from bcon_exporter.model.container_facts import ContainerFacts, LogLine
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.model.tool_inputs import GetContainerLogsInput
from bcon_exporter.tools import Context
from bcon_exporter.tools.log_views import get_container_logs

Part = Literal["newest", "crash", "previous"]
_LINES_AROUND = 4
_NEWEST_LINES = 60
_LINES_AT_MOST = 150
_COUNTS = (200, 500, 2000)
"""How many lines can be asked for; each click brings the next."""
_SHOWN_BYTES = 500_000
"""Of HTML: a page stays below 1 MiB whatever a container prints."""
_WORDS_AT_MOST = 200


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A log line.

    Attributes:
        level: "error" and the like, in which it is coloured.
        marked: The diagnosis quotes it.
        skipped: Lines before it are left out.
        pieces: Its text, in turn what does not and what does fit the words that are looked for.
    """

    line: LogLine
    marked: bool
    skipped: bool
    level: str = "unknown"
    pieces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogPanel:
    """What is shown of a log.

    Attributes:
        lines: Oldest first.
        count: How many were asked for; 0 where nobody has asked, and the last scan's are shown.
        more: How many to ask for next; 0 where no more can be had.
        problem: Why it cannot be read; empty where it can.
    """

    lines: tuple[ShownLine, ...]
    part: Part = "newest"
    count: int = 0
    find: str = ""
    more: int = _COUNTS[0]
    problem: str = ""


def read_log_panel(
    context: Context, facts: ContainerFacts, report: DiagnosisReport, query: Mapping[str, str]
) -> LogPanel:
    """Return what a query asks for of a container's log; a log that cannot be read is said, and costs nothing else."""
    find = query.get("find", "").strip()[:_WORDS_AT_MOST]
    part: Part = next((name for name in get_args(Part) if name == query.get("part")), "newest")
    asked = query.get("lines", "")
    if not asked and not find and part == "newest":
        return LogPanel(pick_lines(facts, report))
    count = next((count for count in _COUNTS if str(count) == asked), _COUNTS[0])
    try:
        request = GetContainerLogsInput(container_id=facts.id, tail=count, part=part, grep=find or None)
        entries = get_container_logs(context, request).entries
    except BconError as error:
        return LogPanel((), part, count, find, 0, error.message)
    lines = [LogLine(entry.timestamp, entry.stream, entry.message) for entry in entries]
    quotes = _quotes_of(report)
    shown = tuple(_show(line, quotes, find) for line in _newest_that_fit(lines))
    more = next((more for more in _COUNTS if more > count), 0)
    return LogPanel(shown, part, count, find, more if len(shown) == len(lines) >= count else 0)


def _newest_that_fit(lines: Sequence[LogLine]) -> list[LogLine]:
    kept: list[LogLine] = []
    left = _SHOWN_BYTES
    for line in reversed(lines):
        left -= len(escape(line.text).encode(errors="replace")) + 100
        if left < 0:
            break
        kept.append(line)
    return kept[::-1]


def _show(line: LogLine, quotes: Sequence[str], find: str, *, skipped: bool = False) -> ShownLine:
    return ShownLine(
        line, _is_quoted(line.text, quotes), skipped, level_of(line.text).name.lower(), tuple(_cut(line.text, find))
    )


def _cut(text: str, find: str) -> Iterator[str]:
    """Return a text in turn what does not and what does fit some words, which are found in any case."""
    if not find or find.startswith("re:"):
        return iter((text,))
    return iter(re.split(f"({re.escape(find)})", text, flags=re.IGNORECASE))


def _quotes_of(report: DiagnosisReport) -> list[str]:
    quotes = [text for symptom in report.symptoms for text in symptom.evidence]
    return quotes + [text for cause in report.likely_causes for text in cause.evidence]


def _is_quoted(text: str, quotes: Sequence[str]) -> bool:
    return bool(text.strip()) and any(text in quote for quote in quotes)


def pick_lines(facts: ContainerFacts, report: DiagnosisReport) -> tuple[ShownLine, ...]:
    """Return the newest lines of the last scan, and before them those that the diagnosis quotes, with neighbours."""
    lines = facts.logs.lines if facts.logs is not None else ()
    quotes = _quotes_of(report)
    marked = {index for index, line in enumerate(lines) if _is_quoted(line.text, quotes)}
    near = {at for index in marked for at in range(index - _LINES_AROUND, index + _LINES_AROUND + 1)}
    newest = range(max(0, len(lines) - _NEWEST_LINES), len(lines))
    chosen = sorted({*near, *newest} & set(range(len(lines))))[-_LINES_AT_MOST:]
    return tuple(
        _show(lines[index], quotes, "", skipped=position > 0 and chosen[position - 1] != index - 1)
        for position, index in enumerate(chosen)
    )
