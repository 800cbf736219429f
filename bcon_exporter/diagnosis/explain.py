"""Explains what a pattern found in a container's log: how often, since when, and what it means."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

import re2

from bcon_exporter.diagnosis.causes import MAX_CAUSES, SURE, causes_of_hits, rank, suggestions_of
from bcon_exporter.diagnosis.finding import Finding
from bcon_exporter.diagnosis.hits import Hit
from bcon_exporter.diagnosis.logs import LogEvent, read_events, template_of
from bcon_exporter.diagnosis.neighbours import Neighbours
from bcon_exporter.diagnosis.numbers import safe_name
from bcon_exporter.diagnosis.peer_state import Around
from bcon_exporter.diagnosis.peers import find_peer_causes
from bcon_exporter.diagnosis.shutdowns import find_shutdowns
from bcon_exporter.diagnosis.signs import Seen, failures_in
from bcon_exporter.diagnosis.unrecognised import explain_by_shape
from bcon_exporter.diagnosis.windows import is_before_start
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.model.automata import compile_pattern
from bcon_exporter.model.facts import ContainerFacts, HostSnapshot, LogLine
from bcon_exporter.model.findings import LikelyCause
from bcon_exporter.model.log_reports import ErrorExplanation, ExplainedCause, SampleLog
from bcon_exporter.model.signatures import Catalogue, SuggestionText
from bcon_exporter.model.thresholds import Thresholds

PREFIX = "re:"
MAX_PATTERN_CHARS = 256
MAX_PROGRAM = 5_000
MAX_SAMPLES = 5
_LENGTH = f"it must have 1 to {MAX_PATTERN_CHARS} characters"
_TOO_LARGE = "it is too large; avoid counted repeats"


class Beside(NamedTuple):
    """The host around the container, and the numbers to judge it by: others may be why something failed."""

    host: HostSnapshot
    thresholds: Thresholds


class _Found(NamedTuple):
    """A line that the pattern finds, with the event that it belongs to; None where it belongs to none that counts."""

    line: int
    event: LogEvent | None
    history: bool

    @property
    def hits(self) -> tuple[Hit, ...]:
        return self.event.hits if self.event is not None else ()


def explain(
    container: ContainerFacts,
    pattern: str,
    context_lines: int,
    catalogue: Catalogue,
    *,
    well: bool = False,
    beside: Beside | None = None,
) -> ErrorExplanation:
    """Explain the lines that `pattern` finds, those that are over apart from those of now.

    Args:
        container: With its logs; None of them means that nothing was searched.
        pattern: Literal text, found in any case; or an RE2 expression after `re:`.
        context_lines: Lines to show before and after each sample.
        catalogue: Signatures to recognise.
        well: It runs well since its last start: what it said before is history.
        beside: Where given, failed connections are followed to the other containers.

    Raises:
        InvalidInputError: The pattern is empty, too long, or not RE2.
    """
    finds = find_lines(pattern)
    lines = container.logs.lines if container.logs is not None else ()
    indexes = [index for index, line in enumerate(lines) if finds(line.text)]
    found = _place(lines, indexes, container if well else None, catalogue)
    current, over = _hits_of(found, history=False), _hits_of(found, history=True)
    peers = _peer_findings(lines, found, container, beside) if beside is not None else []
    told = [text for finding in peers if finding.cause.confidence >= SURE for text in finding.suggestions]
    causes = _causes([*(finding.cause for finding in peers), *causes_of_hits(current)], over)
    if not causes and (unknown := _by_shape(found, lines, container)) is not None:
        causes, told = (unknown[0],), unknown[1]
    return ErrorExplanation(
        container_id=container.short_id,
        container_name=container.name,
        pattern=pattern,
        occurrences=len(found),
        history_occurrences=sum(one.history for one in found),
        first_seen=_time(lines, indexes, newest=False),
        last_seen=_time(lines, indexes, newest=True),
        explanation=_explanation(container, lines, found),
        causes=causes,
        actions=suggestions_of(
            (*told, *(text for hit in current or over for text in hit.signature.suggestions)),
            {"name": safe_name(container)},
        ),
        samples=tuple(_sample(lines, one, context_lines) for one in found[-MAX_SAMPLES:]),
        lines_searched=len(lines),
    )


def find_lines(pattern: str) -> Callable[[str], bool]:
    """Return what tells whether a line fits a pattern: literal text of any case, or RE2 after "re:".

    Raises:
        InvalidInputError: It cannot be read as one.
    """
    if not pattern.startswith(PREFIX):
        if not pattern or len(pattern) > MAX_PATTERN_CHARS:
            raise _bad(_LENGTH)
        wanted = pattern.casefold()
        return lambda text: wanted in text.casefold()
    expression = pattern.removeprefix(PREFIX)
    if not expression or len(expression) > MAX_PATTERN_CHARS:
        raise _bad(_LENGTH)
    try:
        compiled = compile_pattern(expression)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if isinstance(error, re2.error) and error.args else "not valid text"
        said = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise _bad(said.partition(":")[0]) from None  # after the colon it quotes the expression as we compile it
    if compiled.programsize > MAX_PROGRAM:
        raise _bad(_TOO_LARGE)
    return lambda text: compiled.search(text.encode("utf-8", "replace")) is not None


def _bad(reason: str) -> InvalidInputError:
    msg = f"The error pattern cannot be used: {reason}. Give literal text, or an RE2 expression after `{PREFIX}`."
    return InvalidInputError(msg, {"errors": [{"field": "error_pattern", "message": reason}]})


def _place(
    lines: Sequence[LogLine], indexes: Sequence[int], runs_well: ContainerFacts | None, catalogue: Catalogue
) -> list[_Found]:
    """Say of each found line to which event it belongs, traces around it included, and whether that is over.

    Args:
        lines: All that were read: what follows tells what recovered.
        indexes: Of the found lines.
        runs_well: The container, where what it said before its last start is history.
        catalogue: Signatures to recognise.
    """
    events = read_events(lines, catalogue, len(lines)) if indexes else ()
    starts = [event.index for event in events]
    found = []
    for index in indexes:
        place = bisect_right(starts, index) - 1
        event = events[place] if place >= 0 and index < starts[place] + events[place].line_count else None
        over = runs_well is not None and is_before_start(lines[index].at, runs_well)
        found.append(_Found(index, event, over or (event is not None and event.recovered)))
    return found


def _by_shape(
    found: Sequence[_Found], lines: Sequence[LogLine], container: ContainerFacts
) -> tuple[ExplainedCause, list[SuggestionText]] | None:
    """Explain what no signature knows: what is current where anything is, else what is over."""
    for history in (False, True):
        events = {one.event.index: one.event for one in found if one.event and one.history is history}
        finding = explain_by_shape([event for event in events.values() if event.failed], lines, container)
        if finding is not None:
            return ExplainedCause(**dict(finding.cause), history=history), list(finding.suggestions)
    return None


def _hits_of(found: Sequence[_Found], *, history: bool) -> list[Hit]:
    return [hit for one in found if one.history is history for hit in one.hits]


def _peer_findings(
    lines: Sequence[LogLine], found: Sequence[_Found], container: ContainerFacts, beside: Beside
) -> list[Finding]:
    """What the containers at the other end of failed connections tell; of what is over, nothing."""
    seen = [Seen(lines[one.line].at, hit) for one in found if not one.history for hit in one.hits]
    failures = failures_in(seen)
    if not failures:
        return []
    host = beside.host
    around = Around(host.taken_at, beside.thresholds, {}, find_shutdowns(host), host.engine_started_at)
    return find_peer_causes(failures, container, Neighbours(host), around)


def _causes(current: Sequence[LikelyCause], over: Sequence[Hit]) -> tuple[ExplainedCause, ...]:
    """Those of now first; a cause that both show is one of now."""
    now = rank(current)
    known = {cause.id for cause in now}
    then = [cause for cause in rank(causes_of_hits(over)) if cause.id not in known]
    marked = [(cause, False) for cause in now] + [(cause, True) for cause in then]
    return tuple(ExplainedCause(**dict(cause), history=history) for cause, history in marked[:MAX_CAUSES])


def _time(lines: Sequence[LogLine], found: Sequence[int], *, newest: bool) -> datetime | None:
    times = [at for index in found if (at := lines[index].at) is not None]
    if not times:
        return None
    return max(times) if newest else min(times)


def _explanation(container: ContainerFacts, lines: Sequence[LogLine], found: Sequence[_Found]) -> str:
    if container.logs is None:
        return f"The log could not be read: {container.unread.get('logs', 'not read')}."
    if not found:
        return f"The pattern does not occur in the {len(lines)} lines that were searched."
    kinds = len({template_of(lines[one.line].text) for one in found})
    counted = f"It occurs in {len(found)} of {len(lines)} lines, in {kinds} form{'' if kinds == 1 else 's'}."
    told = [counted, *_history(found)]
    meanings = dict.fromkeys(hit.signature.explanation for one in found for hit in one.hits)
    if meanings:
        return " ".join((*told, *meanings))
    fails = any(one.event is not None and one.event.failed for one in found)
    unknown = "No signature knows this error." if fails else "By level and shape these lines report no error."
    return " ".join((*told, unknown))


def _history(found: Sequence[_Found]) -> tuple[str, ...]:
    over = sum(one.history for one in found)
    if not over:
        return ()
    who = "All of it is" if over == len(found) else f"{over} of these {'is' if over == 1 else 'are'}"
    return (f"{who} history: retried with success, or said before the last start, since which it runs well.",)


def _sample(lines: Sequence[LogLine], found: _Found, context_lines: int) -> SampleLog:
    start = max(0, found.line - context_lines)
    shown = lines[start : found.line + context_lines + 1]
    return SampleLog(
        timestamp=lines[found.line].at,
        lines=tuple(line.text for line in shown),
        match_index=found.line - start,
        history=found.history,
    )
