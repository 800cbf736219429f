"""Explains what a pattern found in a container's log: how often, since when, and what it means."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

import re2

from bcon_exporter.catalogue.causes import known_step
from bcon_exporter.diagnosis.causes import MAX_CAUSES, SURE, causes_of_hits, known_facts, rank, suggestions_of
from bcon_exporter.diagnosis.container_lookup import ContainerLookup
from bcon_exporter.diagnosis.evidence import TimedHit, group_failures
from bcon_exporter.diagnosis.exit_codes import cause_of_exit, explain_exit
from bcon_exporter.diagnosis.finding import Finding, likely_cause, quote
from bcon_exporter.diagnosis.host_outages import find_shutdowns
from bcon_exporter.diagnosis.last_exit import EndKind, classify_ending, last_crash
from bcon_exporter.diagnosis.log_events import LogEvent, read_events, template_of
from bcon_exporter.diagnosis.log_windows import is_before_start
from bcon_exporter.diagnosis.named_in_line import steps_of
from bcon_exporter.diagnosis.peer_state import HostContext
from bcon_exporter.diagnosis.peers import find_peer_causes
from bcon_exporter.diagnosis.program_advice import find_advice
from bcon_exporter.diagnosis.quoted_messages import (
    ids_to_quote,
    message_in,
    message_of_hit,
    newest_hit_for,
    with_message,
    with_step_of_message,
)
from bcon_exporter.diagnosis.signature_hits import Hit
from bcon_exporter.diagnosis.unknown_errors import explain_by_shape
from bcon_exporter.diagnosis.usage_in_words import safe_name
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot, LogLine, texts_of
from bcon_exporter.model.findings import LikelyCause, SymptomType
from bcon_exporter.model.log_reports import ErrorExplanation, ExplainedCause, SampleLog
from bcon_exporter.model.quantities import show_count, show_duration
from bcon_exporter.model.signatures import Catalogue, Need, SuggestionText
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.regexes import compile_pattern

PREFIX = "re:"
MAX_PATTERN_CHARS = 256
MAX_PROGRAM = 5_000
MAX_SAMPLES = 5
LAST_WORDS, LAST_WORDS_SECONDS = 5, 5.0
"""A line is among the last words if so few follow it, and if the end came so soon after it."""
_LENGTH = f"it must have 1 to {MAX_PATTERN_CHARS} characters"
_TOO_LARGE = "it is too large; avoid counted repeats"


class Surroundings(NamedTuple):
    """The host around the container, and the thresholds to judge it by: another container may be the cause."""

    host: HostSnapshot
    thresholds: Thresholds


class _End(NamedTuple):
    """A failed end of the container just after a line that the pattern matches."""

    exit_code: int
    seconds_after: float | None
    line: str


class _Found(NamedTuple):
    """A line that the pattern matches, with its event; `event` is None where it belongs to no event that counts."""

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
    surroundings: Surroundings | None = None,
) -> ErrorExplanation:
    """Explain the lines that `pattern` matches; recovered ones are told apart from current ones.

    Args:
        container: With its logs; None of them means that nothing was searched.
        pattern: Literal text, found in any case; or an RE2 expression after `re:`.
        context_lines: Lines to show before and after each sample.
        catalogue: Signatures to recognise.
        well: It has run well since its last start: what it logged before is history.
        surroundings: Where given, failed connections are followed to the other containers.

    Raises:
        InvalidInputError: The pattern is empty, too long, or not RE2.
    """
    finds = find_lines(pattern)
    lines = container.logs.lines if container.logs is not None else ()
    indexes = [index for index, text in enumerate(texts_of(lines)) if finds(text)]
    matches = _place(lines, indexes, container if well else None, catalogue)
    current, over = _hits_of(matches, history=False), _hits_of(matches, history=True)
    peers = _peer_findings(lines, matches, container, surroundings) if surroundings is not None else []
    suggestions = [text for finding in peers if finding.cause.confidence >= SURE for text in finding.suggestions]
    known = known_facts(container)
    causes = _causes([*(finding.cause for finding in peers), *causes_of_hits(current, known)], current, over, known)
    if not causes and (unknown := _by_shape(matches, lines, container)) is not None:
        causes, suggestions = (unknown[0],), unknown[1]
    end = _find_end(lines, matches, container, surroundings) if surroundings is not None else None
    if not causes and end is not None:
        causes, suggestions = _explain_end(lines, end)
    return ErrorExplanation(
        container_id=container.short_id,
        container_name=container.name,
        pattern=pattern,
        occurrences=len(matches),
        history_occurrences=sum(match.history for match in matches),
        first_seen=_time(lines, indexes, newest=False),
        last_seen=_time(lines, indexes, newest=True),
        explanation=_explanation(container, lines, matches, end),
        causes=causes,
        actions=suggestions_of(
            (
                *suggestions,
                *(text for hit in current or over for text in steps_of(hit)),
            ),
            {"name": safe_name(container)},
        ),
        samples=tuple(_sample(lines, match, context_lines) for match in matches[-MAX_SAMPLES:]),
        lines_searched=len(lines),
    )


def find_last_words(container: ContainerFacts, catalogue: Catalogue) -> str | None:
    """Return a pattern for the newest error in a log, or else for its newest line; None for an empty log."""
    lines = container.logs.lines if container.logs is not None else ()
    failed = [event for event in read_events(lines, catalogue, len(lines)) if event.failed] if lines else []
    still = [event for event in failed if not event.recovered] or failed
    texts = [lines[still[-1].index].text] if still else [text for text in texts_of(lines) if text.strip()][-1:]
    return texts[0].strip().removeprefix(PREFIX)[:MAX_PATTERN_CHARS].strip() if texts else None


def find_lines(pattern: str) -> Callable[[str], bool]:
    """Return a function that decides whether a line matches a pattern: literal text of any case, or RE2 after "re:".

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
        message = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise _bad(message.partition(":")[0]) from None  # after the colon it quotes the expression as we compile it
    if compiled.programsize > MAX_PROGRAM:
        raise _bad(_TOO_LARGE)
    return lambda text: compiled.search(text.encode("utf-8", "replace")) is not None


def _bad(reason: str) -> InvalidInputError:
    msg = f"The error pattern cannot be used: {reason}. Give literal text, or an RE2 expression after `{PREFIX}`."
    return InvalidInputError(msg, {"errors": [{"field": "error_pattern", "message": reason}]})


def _place(
    lines: Sequence[LogLine], indexes: Sequence[int], runs_well: ContainerFacts | None, catalogue: Catalogue
) -> list[_Found]:
    """Find the event of each matching line, stack traces included, and whether it is history.

    Args:
        lines: All that were read: what follows tells what recovered.
        indexes: Indexes of the matching lines.
        runs_well: The container, if what it logged before its last start is history.
        catalogue: Signatures to recognise.
    """
    events = read_events(lines, catalogue, len(lines)) if indexes else ()
    starts = [event.index for event in events]
    matches = []
    for index in indexes:
        place = bisect_right(starts, index) - 1
        event = events[place] if place >= 0 and index < starts[place] + events[place].line_count else None
        over = runs_well is not None and is_before_start(lines[index].at, runs_well)
        matches.append(_Found(index, event, over or (event is not None and event.recovered)))
    return matches


def _by_shape(
    matches: Sequence[_Found], lines: Sequence[LogLine], container: ContainerFacts
) -> tuple[ExplainedCause, list[SuggestionText]] | None:
    """Explain errors that no signature knows: the current ones, or else those in the history."""
    for history in (False, True):
        events = {match.event.index: match.event for match in matches if match.event and match.history is history}
        finding = explain_by_shape([event for event in events.values() if event.failed], lines, container)
        if finding is not None:
            return ExplainedCause(**dict(finding.cause), history=history), list(finding.suggestions)
    return None


def _find_end(
    lines: Sequence[LogLine], matches: Sequence[_Found], container: ContainerFacts, surroundings: Surroundings
) -> _End | None:
    """Return the failed end right before which a matching line stands; None where there is none."""
    host, thresholds = surroundings
    ending = classify_ending(
        container, host.taken_at, thresholds, find_shutdowns(host), engine_started_at=host.engine_started_at
    )
    crash = last_crash(container) if container.is_running else None
    at, code = (crash.at, crash.exit_code) if crash is not None else (ending.at, ending.exit_code)
    if not matches or not code or (crash is None and ending.kind is not EndKind.FAILED):
        return None
    written = [index for index, text in enumerate(texts_of(lines)) if text.strip()]
    if crash is None:
        last = [match for match in matches if match.line in written[-LAST_WORDS:]]
    else:
        last = [match for match in matches if lines[match.line].at is not None]
    for match in reversed(last):
        said_at = lines[match.line].at
        after = None if said_at is None or at is None else (at - said_at).total_seconds()
        if after is None or -1 <= after <= LAST_WORDS_SECONDS:
            return _End(code, None if after is None else max(0.0, after), lines[match.line].text.strip())
    return None


def _explain_end(lines: Sequence[LogLine], end: _End) -> tuple[tuple[ExplainedCause, ...], list[SuggestionText]]:
    """Explain a line by the end that followed it, where nothing else does."""
    cause = cause_of_exit(end.exit_code)
    likely = likely_cause(cause, (quote(end.line),), (SymptomType.EXIT_ERROR,))
    likely = with_message((likely,), ids_to_quote((cause,)), message_in(end.line))[0]
    explained = ExplainedCause(**dict(likely), history=False)
    return (explained,), with_step_of_message(
        [known_step("read_log_around")], likely, lambda: find_advice(lines, end.line)
    )


def _hits_of(matches: Sequence[_Found], *, history: bool) -> list[Hit]:
    return [hit for match in matches if match.history is history for hit in match.hits]


def _peer_findings(
    lines: Sequence[LogLine], matches: Sequence[_Found], container: ContainerFacts, surroundings: Surroundings
) -> list[Finding]:
    """Find causes at the other end of failed connections; recovered connections are left out."""
    timed_hits = [TimedHit(lines[match.line].at, hit) for match in matches if not match.history for hit in match.hits]
    failures = group_failures(timed_hits)
    if not failures:
        return []
    host = surroundings.host
    context = HostContext(host.taken_at, surroundings.thresholds, {}, find_shutdowns(host), host.engine_started_at)
    return find_peer_causes(failures, container, ContainerLookup(host), context)


def _causes(
    current: Sequence[LikelyCause], hits: Sequence[Hit], over: Sequence[Hit], known: frozenset[Need]
) -> tuple[ExplainedCause, ...]:
    """Return the current causes first; a cause that both show counts as current."""
    quoted = ids_to_quote(cause for hit in hits for cause in hit.signature.causes)
    telling = newest_hit_for(ranked := rank(current), hits)
    now = ranked if telling is None else with_message(ranked, quoted, message_of_hit(telling))
    current_ids = {cause.id for cause in now}
    earlier_causes = [cause for cause in rank(causes_of_hits(over, known)) if cause.id not in current_ids]
    marked = [(cause, False) for cause in now] + [(cause, True) for cause in earlier_causes]
    return tuple(ExplainedCause(**dict(cause), history=history) for cause, history in marked[:MAX_CAUSES])


def _time(lines: Sequence[LogLine], indexes: Sequence[int], *, newest: bool) -> datetime | None:
    times = [at for index in indexes if (at := lines[index].at) is not None]
    if not times:
        return None
    return max(times) if newest else min(times)


def _explanation(
    container: ContainerFacts, lines: Sequence[LogLine], matches: Sequence[_Found], end: _End | None
) -> str:
    if container.logs is None:
        return f"The log could not be read: {container.unread.get('logs', 'not read')}."
    if not matches:
        return f"The pattern does not occur in the {len(lines)} lines that were searched."
    kinds = len({template_of(lines[match.line].text) for match in matches})
    counted = f"It occurs in {len(matches)} of {len(lines)} lines, in {show_count(kinds, 'form')}."
    sentences = [counted, *_history(matches), *_tell_end(end)]
    meanings = dict.fromkeys(hit.signature.explanation for match in matches for hit in match.hits)
    if meanings:
        return " ".join((*sentences, *meanings))
    fails = any(match.event is not None and match.event.failed for match in matches)
    if not fails and end is not None:
        return " ".join((*sentences, "No signature knows these words."))
    unknown = "No signature knows this error." if fails else "By level and shape these lines report no error."
    return " ".join((*sentences, unknown))


def _tell_end(end: _End | None) -> tuple[str, ...]:
    if end is None:
        return ()
    after = "" if end.seconds_after is None else f", {show_duration(end.seconds_after)} after it"
    return (
        f"It is among the last words of the container, which ended with code {explain_exit(end.exit_code)}{after}.",
    )


def _history(matches: Sequence[_Found]) -> tuple[str, ...]:
    over = sum(match.history for match in matches)
    if not over:
        return ()
    subject = "All of it is" if over == len(matches) else f"{over} of these {'is' if over == 1 else 'are'}"
    return (f"{subject} history: retried with success, or said before the last start, since which it runs well.",)


def _sample(lines: Sequence[LogLine], match: _Found, context_lines: int) -> SampleLog:
    start = max(0, match.line - context_lines)
    shown = lines[start : match.line + context_lines + 1]
    return SampleLog(
        timestamp=lines[match.line].at,
        lines=tuple(line.text for line in shown),
        match_index=match.line - start,
        history=match.history,
    )
