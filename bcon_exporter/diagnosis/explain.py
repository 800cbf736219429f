"""Explains what a pattern found in a container's log: how often, since when, and what it means."""

from collections.abc import Callable, Sequence
from datetime import datetime

import re2

from bcon_exporter.diagnosis.causes import causes_of_hits, rank, suggestions_of
from bcon_exporter.diagnosis.logs import Hit, find_events, template_of
from bcon_exporter.diagnosis.multiline import event_bounds
from bcon_exporter.diagnosis.numbers import safe_name
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.model.facts import ContainerFacts, LogLine
from bcon_exporter.model.reports import ErrorExplanation, SampleLog
from bcon_exporter.model.signatures import Catalogue, compile_pattern

PREFIX = "re:"
MAX_PATTERN_CHARS = 256
MAX_PROGRAM = 5_000
MAX_SAMPLES = 5
_LENGTH = f"it must have 1 to {MAX_PATTERN_CHARS} characters"
_TOO_LARGE = "it is too large; avoid counted repeats"


def explain(container: ContainerFacts, pattern: str, context_lines: int, catalogue: Catalogue) -> ErrorExplanation:
    """Explain the lines that `pattern` finds.

    Args:
        container: With its logs; None of them means that nothing was searched.
        pattern: Literal text, found in any case; or an RE2 expression after `re:`.
        context_lines: Lines to show before and after each sample.
        catalogue: Signatures to recognise.

    Raises:
        InvalidInputError: The pattern is empty, too long, or not RE2.
    """
    finds = _finder(pattern)
    lines = container.logs.lines if container.logs is not None else ()
    found = [index for index, line in enumerate(lines) if finds(line.text)]
    hits = _hits(lines, found, catalogue)
    return ErrorExplanation(
        container_id=container.short_id,
        container_name=container.name,
        pattern=pattern,
        occurrences=len(found),
        first_seen=_time(lines, found, newest=False),
        last_seen=_time(lines, found, newest=True),
        explanation=_explanation(container, lines, found, hits),
        likely_causes=rank(causes_of_hits(hits)),
        suggestions=suggestions_of(
            (text for hit in hits for text in hit.signature.suggestions), {"name": safe_name(container)}
        ),
        sample_logs=tuple(_sample(lines, index, context_lines) for index in found[-MAX_SAMPLES:]),
        lines_searched=len(lines),
    )


def _finder(pattern: str) -> Callable[[str], bool]:
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


def _hits(lines: Sequence[LogLine], found: Sequence[int], catalogue: Catalogue) -> list[Hit]:
    """Signatures in the events that the found lines belong to; the traces around them included."""
    hits: list[Hit] = []
    done = -1
    for index in found[-200:]:
        if index <= done:
            continue
        start, end = event_bounds(lines, index)
        done = end - 1
        hits += [hit for event in find_events(lines[start:end], catalogue) for hit in event.hits]
    return hits


def _time(lines: Sequence[LogLine], found: Sequence[int], *, newest: bool) -> datetime | None:
    times = [at for index in found if (at := lines[index].at) is not None]
    if not times:
        return None
    return max(times) if newest else min(times)


def _explanation(container: ContainerFacts, lines: Sequence[LogLine], found: Sequence[int], hits: Sequence[Hit]) -> str:
    if container.logs is None:
        return f"The log could not be read: {container.unread.get('logs', 'not read')}."
    if not found:
        return f"The pattern does not occur in the {len(lines)} lines that were searched."
    kinds = len({template_of(lines[index].text) for index in found})
    counted = f"It occurs in {len(found)} of {len(lines)} lines, in {kinds} form{'' if kinds == 1 else 's'}."
    meanings = dict.fromkeys(hit.signature.explanation for hit in hits)
    if not meanings:
        return f"{counted} No known failure is recognised in these lines."
    return " ".join((counted, *meanings))


def _sample(lines: Sequence[LogLine], index: int, context_lines: int) -> SampleLog:
    start = max(0, index - context_lines)
    shown = lines[start : index + context_lines + 1]
    return SampleLog(timestamp=lines[index].at, lines=tuple(line.text for line in shown), match_index=index - start)
