"""Finds events in log lines: filters the whole buffer once, then parses the few lines that may matter.

Lines → candidates (one RE2 pass, each line parsed once) → events (multi-line traces joined) → level → signature
→ template.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import re2

from bcon_exporter.diagnosis.candidate_lines import LineFilter, line_filter_of
from bcon_exporter.diagnosis.container_lookup import host_of, is_address
from bcon_exporter.diagnosis.failure_phrases import (
    is_fatal,
    is_lost_answer,
    is_timed_out_answer,
    looks_like_failure,
    names_failure,
)
from bcon_exporter.diagnosis.finding import quote
from bcon_exporter.diagnosis.joined_lines import LineBuffer
from bcon_exporter.diagnosis.log_levels import level_of, redis_warning
from bcon_exporter.diagnosis.log_recovery import (
    Recoveries,
    Try,
    gives_up,
    is_retried,
    passed_checks,
    subject_of_failed_check,
    tells_of_success,
    try_of,
)
from bcon_exporter.diagnosis.multiline import event_bounds, unwrapped
from bcon_exporter.diagnosis.peer_names import parse_peer, parse_peer_field
from bcon_exporter.diagnosis.signature_hits import Hit, Match, find_hits
from bcon_exporter.diagnosis.tolerated_errors import continued_after, find_tolerating_lines, is_tolerated
from bcon_exporter.diagnosis.working_again import ANSWERS, routine_resumed, same_server, works_again
from bcon_exporter.model.container_facts import LogLine, texts_of
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.signatures import Catalogue, Category, Level, Signature

MAX_CANDIDATES = 2_000
"""Lines of one container that are parsed; the newest are kept."""
_QUOTED = re2.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|»[^«]*«|«[^»]*»")
_VARIES = re2.compile(r"[0-9/@*]|^[a-f]{8,64}$")
JSON_LINES = 20
"""So many lines of a JSON object are searched for its level."""
SHAPE_LINES = 20
"""So many lines of an event without a level are searched for a failure."""
LOST_RATIO = 0.1
"""Lost answers (HTTP 500, 502, 504) count as failures from this share of all lines on."""
LOST_AT_LEAST = 3
"""And from this number on: a single one is normal for every service."""

REPEATS = 3
"""A retry that is logged as information counts as a failure after so many attempts without success."""
LAST_LINES = 2
"""And if the newest of them stands within so many lines of the log's end."""

LINES_AFTER_TRY = 2
"""After a failed attempt, so many lines without another attempt show that the program goes on."""

_WAITED_FOR_ANSWER = "slow_upstream_read"
"""The signature of a proxy that got no answer in time; its access log shows the same as 504."""

START_FAILURES, START_LINES, GOOD_LINES = 2, 20, 100
"""So few failures within so many first lines are over after so many lines without a failure."""

_NOT_BY_ROUTINE = frozenset({Category.OOM, Category.CRASH})
"""A program that goes on after these may have lost a part of itself."""

_OF_A_START = frozenset({Category.MISSING_DEPENDENCY, Category.PERMISSION, Category.CONFIG_ERROR, Category.OTHER})
"""What a program may do without: it tries it at its start, says that it failed, and gets ready."""
START_FAILURES_AT_MOST = 8

_NEVER_PASSED = frozenset({Category.OOM, Category.DISK})
"""A program that goes on after these still has the trouble."""


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One thing that happened, of one or more lines.

    Attributes:
        text: The line that says most: the one with the signature, else the first.
        failed: It counts for `log_error`.
        index: Place of its first line among the lines that were read.
        recovered: It was retried, and a later line tells of success: history.
    """

    at: datetime | None
    level: Level
    text: str
    line_count: int
    hits: tuple[Hit, ...] = ()
    failed: bool = False
    index: int = 0
    recovered: bool = False

    @property
    def is_final(self) -> bool:
        """Whether it is a final word, which stands until the next start or a sign of work."""
        return any(hit.signature.lasts_until is not None for hit in self.hits)

    @property
    def is_mild(self) -> bool:
        """Whether all that its lines tell of is a warning, however loudly it was said."""
        return bool(self.hits) and all(hit.signature.mild for hit in self.hits)

    def shows(self, symptom: SymptomType) -> bool:
        """Whether it is evidence for `symptom`."""
        if symptom is SymptomType.LOG_ERROR:
            return self.failed
        return any(hit.signature.symptom is symptom and hit.signature.blame == "program" for hit in self.hits)


@dataclass(frozen=True, slots=True)
class Template:
    """Events that differ only in numbers and names."""

    text: str
    count: int
    example: str


Candidates = Mapping[int, Sequence[int]]
"""Lines that may matter: index → patterns of the catalogue that match, by preference; oldest first."""


def find_events(
    lines: Sequence[LogLine], catalogue: Catalogue, candidates: Candidates | None = None
) -> tuple[LogEvent, ...]:
    """Find the events that count: of level warning or worse, or with a signature, and not recovered; oldest first."""
    events = read_events(lines, catalogue, candidates=candidates)
    return tuple(event for event in events if not event.recovered)


def read_events(
    lines: Sequence[LogLine],
    catalogue: Catalogue,
    max_candidates: int = MAX_CANDIDATES,
    candidates: Candidates | None = None,
) -> tuple[LogEvent, ...]:
    """Find the events of level warning or worse, and those with a signature; oldest first.

    Args:
        lines: Oldest first.
        catalogue: Signatures to recognise.
        max_candidates: So many of the newest lines that may matter are looked at closely.
        candidates: What `find_candidates` found in these lines; None where it was not called yet.
    """
    if not lines or (candidates is not None and not candidates):
        return ()
    lines, buffer = _to_buffer(lines)
    line_filter = line_filter_of(catalogue)
    if candidates is None:
        candidates = line_filter.find_lines(buffer)
    newest = list(candidates.items())[-max_candidates:]
    matches = {index: Match(buffer.texts[index], buffer.line(index), patterns) for index, patterns in newest}
    if not matches:
        return ()
    events = _marked(_events(lines, buffer, matches, line_filter), lines, buffer)
    if any(event.is_final for event in events):
        events = tuple(_while_it_stands(event, buffer, catalogue) if event.is_final else event for event in events)
    return events


def find_candidates(lines: Sequence[LogLine], catalogue: Catalogue) -> Candidates:
    """Return the lines that may matter. Each is decided by itself: its neighbours play no part."""
    return line_filter_of(catalogue).find_lines(_to_buffer(lines)[1]) if lines else {}


def _to_buffer(lines: Sequence[LogLine]) -> tuple[Sequence[LogLine], LineBuffer]:
    """Join the lines into a buffer; lone surrogates, which cannot be encoded, are replaced in both results."""
    try:
        return lines, LineBuffer(texts_of(lines))
    except UnicodeEncodeError:
        mended = [replace(line, text=line.text.encode("utf-8", "replace").decode()) for line in lines]
        return mended, LineBuffer([line.text for line in mended])


def _look_at(text: str, line_filter: LineFilter) -> Match:
    alone = LineBuffer([text])
    return Match(text, alone.raw, line_filter.find_lines(alone).get(0, []))


def _events(
    lines: Sequence[LogLine], buffer: LineBuffer, candidates: Mapping[int, Match], line_filter: LineFilter
) -> list[LogEvent]:
    events: list[LogEvent] = []
    quiet: list[LogEvent] = []
    done = 0
    for index in candidates:
        if index < done:
            continue
        start, end = event_bounds(lines, index, done)
        done = end
        level = _level_of_event(lines[start:end])
        fails = level is Level.UNKNOWN and _has_shape_of_failure(lines[start:end])
        matches = [candidates[at] for at in range(start, end) if at in candidates]
        if end - start > 1 and level >= Level.WARNING:
            whole = unwrapped(buffer.texts[start:end])
            matches += [] if whole is None else [_look_at(whole, line_filter)]
        hits = find_hits(matches, level, line_filter.catalogue, fails=fails)
        event = _judge(lines[start:end], start, level, hits, fails=fails)
        if event is not None:
            events.append(_with_peer(event, buffer.texts[start:end]))
        elif level in (Level.INFO, Level.UNKNOWN) and is_retried(buffer.texts[start]):
            hits = find_hits(matches, Level.WARNING, line_filter.catalogue, fails=False)
            event = _judge(lines[start:end], start, Level.WARNING, hits, fails=False)
            if event is not None and event.failed and _may_recover(event):
                quiet.append(event)
    return sorted([*events, *_still_retried(quiet, len(lines))], key=lambda event: event.index) if quiet else events


def _with_peer(event: LogEvent, texts: Sequence[str]) -> LogEvent:
    """Add the peer to a failed connection without one from another line of the event: `url: 'http://api'`."""
    lost = [hit for hit in event.hits if hit.signature.transient and hit.peer is None]
    if not lost or len(texts) == 1:
        return event
    peer = next(
        (peer_in_text for text in texts[:SHAPE_LINES] if (peer_in_text := parse_peer_field(text)) is not None), None
    )
    if peer is None:
        return event
    return replace(event, hits=tuple(replace(hit, peer=peer) if hit in lost else hit for hit in event.hits))


def _still_retried(quiet: Sequence[LogEvent], line_count: int) -> list[LogEvent]:
    """Return failures logged as information that repeat up to the end of the log."""
    if quiet[-1].index + quiet[-1].line_count < line_count - LAST_LINES:
        return []
    template = template_of(quiet[-1].text)
    same = [event for event in quiet if template_of(event.text) == template]
    return same if len(same) >= REPEATS else []


def _marked(events: list[LogEvent], lines: Sequence[LogLine], buffer: LineBuffer) -> tuple[LogEvent, ...]:
    """Mark recovered events, and count lost answers as failures where there are many."""
    lost = [event for event in events if is_lost_answer(event.text)]
    if any(hit.signature.id == _WAITED_FOR_ANSWER for event in events for hit in event.hits):
        lost = [event for event in lost if not is_timed_out_answer(event.text)]
    if len(lost) >= max(LOST_AT_LEAST, LOST_RATIO * len(buffer.texts)):
        events = [replace(event, failed=True) if event in lost else event for event in events]
    if any(_may_recover(event) for event in events):
        recoveries = Recoveries(buffer)
        events = [replace(event, recovered=True) if _is_over(event, recoveries) else event for event in events]
    events = _before_routine(_without_outages(events, buffer), lines, buffer)
    events = _before_ready(events, buffer)
    passed = _passed_over(events, buffer) | _long_ago(events, len(buffer.texts))
    passed |= _tried_again(events, buffer) | _passed_later(events, buffer)
    if passed:
        events = [replace(event, recovered=True) if event.index in passed else event for event in events]
    return tuple(_without_consequences(events))


def _while_it_stands(event: LogEvent, buffer: LineBuffer, catalogue: Catalogue) -> LogEvent:
    """Return a final word, recovered only where a later line says that what it is about works again."""
    ends = [
        catalogue.ends_final_word(hit.signature, hit.subject)
        for hit in event.hits
        if hit.signature.lasts_until is not None
    ]
    is_over = all(any(line >= _end(event) for line in buffer.lines_with(end)) for end in ends)
    return replace(event, recovered=is_over)


def _without_outages(events: list[LogEvent], buffer: LineBuffer) -> list[LogEvent]:
    """Mark failed connections after which the server answered, or after which work is done again."""
    lost = [event for event in events if not event.recovered and _is_outage(event)]
    if not lost:
        return events
    answers = _newest_by_kind(event for event in events if not event.recovered and _is_answer(event))
    newest = _newest_by_kind(lost) if answers else {}
    hosts = {event.index: _hosts_of(event) for event in (*answers.values(), *newest.values())} if answers else {}
    until = {
        kind: max((answer.index for answer in answers.values() if _answers(answer, event, hosts)), default=-1)
        for kind, event in newest.items()
    }
    over = {event.index for event in lost if event.index < until.get(_kind_of_event(event), -1)}
    unanswered = [event for event in lost if event.index not in over]
    if unanswered and works_again(buffer, unanswered[0].index, _end(unanswered[-1]) - 1, len(unanswered)):
        over.update(event.index for event in unanswered)
        over.update(event.index for event in events if _fell_with(event, unanswered[0].index, _end(unanswered[-1])))
    return [replace(event, recovered=True) if event.index in over else event for event in events] if over else events


def _fell_with(event: LogEvent, first: int, end: int) -> bool:
    """Whether an unknown error stands between failed connections, or right beside them."""
    unknown = event.failed and not event.hits and event.level <= Level.ERROR
    return unknown and first <= _end(event) and event.index <= end


def _before_routine(events: list[LogEvent], lines: Sequence[LogLine], buffer: LineBuffer) -> list[LogEvent]:
    """Mark failures of any kind if the program's routine stopped with them and goes on as before."""
    bad = [event for event in events if not event.recovered and (event.failed or event.hits)]
    if len(bad) < REPEATS or any(hit.signature.category in _NOT_BY_ROUTINE for event in bad for hit in event.hits):
        return events
    places = [(event.index, _end(event)) for event in bad]
    if not routine_resumed(buffer, [line.at for line in lines], places, REPEATS):
        return events
    over = {event.index for event in bad}
    return [replace(event, recovered=True) if event.index in over else event for event in events]


def _before_ready(events: list[LogEvent], buffer: LineBuffer) -> list[LogEvent]:
    """Mark the few failures of a start, if the program says after the last of them that it is ready."""
    bad = [event for event in events if event.failed and not event.recovered]
    if not 0 < len(bad) <= START_FAILURES_AT_MOST or not all(map(_may_do_without, bad)):
        return events
    if not Recoveries(buffer).got_ready_after(_end(bad[-1]) - 1):
        return events
    return [replace(event, recovered=True) if event in bad else event for event in events]


def _may_do_without(event: LogEvent) -> bool:
    signatures = [hit.signature for hit in event.hits]
    return event.level <= Level.ERROR and not any(
        signature.lasts_until is not None or signature.category not in _OF_A_START for signature in signatures
    )


def _newest_by_kind(events: Iterable[LogEvent]) -> dict[tuple[str, ...], LogEvent]:
    return {_kind_of_event(event): event for event in events}


def _kind_of_event(event: LogEvent) -> tuple[str, ...]:
    """Return signatures and peers of an event: the newest event with the same ones stands for all."""
    return tuple(part for hit in event.hits for part in (hit.signature.id, hit.peer or ""))


def _is_outage(event: LogEvent) -> bool:
    if _is_answer(event):
        return False  # its own last word is what the server said
    return is_lost_answer(event.text) or any(hit.signature.transient for hit in event.hits)


def _is_answer(event: LogEvent) -> bool:
    signatures = [hit.signature for hit in event.hits if hit.signature.blame == "program"]
    return any(signature.id.startswith(tuple(ANSWERS)) for signature in signatures)


def _answers(answer: LogEvent, failure: LogEvent, hosts: Mapping[int, frozenset[str]]) -> bool:
    """Whether a server's answer can belong to a connection that had failed before."""
    if is_lost_answer(failure.text):
        return False
    failed_hosts, answering_hosts = hosts[failure.index], hosts[answer.index]
    if failed_hosts and answering_hosts:
        return not failed_hosts.isdisjoint(answering_hosts)
    return same_server(answer.text, failure.text)


def _hosts_of(event: LogEvent) -> frozenset[str]:
    """Return the server names in an event; addresses do not count, since a restarted container may have another one."""
    peers = (parse_peer(hit.line, hit.peer) for hit in event.hits)
    return frozenset(host for host in (host_of(peer) for peer in peers if peer is not None) if not is_address(host))


def _without_consequences(events: list[LogEvent]) -> list[LogEvent]:
    """Leave out hits whose signature names a consequence, if the log also shows a possible reason."""
    hits = [hit for event in events if not event.recovered for hit in event.hits]
    named = {(hit.signature.category, hit.signature.id) for hit in hits if hit.signature.blame == "program"}
    gone = {hit.signature.id for hit in hits if _yields(hit.signature, named)}
    if not gone:
        return events
    return [replace(event, hits=tuple(hit for hit in event.hits if hit.signature.id not in gone)) for event in events]


def _yields(signature: Signature, named: set[tuple[Category, str]]) -> bool:
    return any(category in signature.yields_to and other != signature.id for category, other in named)


def _may_recover(event: LogEvent) -> bool:
    return any(hit.signature.transient for hit in event.hits) or is_retried(event.text)


def _is_over(event: LogEvent, recoveries: Recoveries) -> bool:
    if not _may_recover(event):
        return False
    is_waiting = event.level < Level.ERROR or is_retried(event.text)
    return recoveries.follow(event.index + event.line_count - 1, ready_counts=is_waiting)


def _passed_over(events: Sequence[LogEvent], buffer: LineBuffer) -> set[int]:
    """Return the indexes of the failures after which the program went on as if there were none."""
    failed = [event for event in events if event.failed and not event.recovered and not _is_grave(event)]
    if not failed:
        return set()
    tolerating_lines = find_tolerating_lines(buffer)
    passed = {
        event.index
        for event in failed
        if tolerating_lines and is_tolerated(buffer, event.index, _end(event), tolerating_lines)
    }
    last = failed[-1]
    if last is events[-1] and continued_after(buffer.texts, last.index, _end(last), is_known=bool(last.hits)):
        passed.add(last.index)
    return passed


def _tried_again(events: Sequence[LogEvent], buffer: LineBuffer) -> set[int]:
    """Return the indexes of failed attempts of which a later one succeeded, and of the failures that led to them.

    One has where the program goes on, or counts its tries anew, though more of them were to come.
    """
    failed = [event for event in events if event.failed or event.hits]
    tries = {event.index: counted_try for event in failed if (counted_try := try_of(event.text)) is not None}
    if not tries:
        return set()
    goes_on = sum(1 for text in buffer.texts[_end(failed[-1]) :] if text.strip()) >= LINES_AFTER_TRY
    following = Try(0, 0) if goes_on else None
    over: set[int] = set()
    is_over = False
    for event in reversed(failed):
        this = tries.get(event.index)
        if this is None:
            following = None if gives_up(event.text) else following
            continue
        is_over = this.number < this.limit and following is not None and (following.number <= this.number or is_over)
        if is_over:
            over.add(event.index)
        following = this
    return over | _led_up_to(over, failed, tries)


def _led_up_to(over: set[int], failed: Sequence[LogEvent], tries: Mapping[int, Try]) -> set[int]:
    """Return the indexes of the failures just before these attempts: a job logs the failure, then the attempt."""
    indexes: set[int] = set()
    for event, following in zip(reversed(failed[:-1]), reversed(failed[1:]), strict=True):
        leads = following.index in over or following.index in indexes
        if leads and event.index not in tries and _end(event) == following.index:
            indexes.add(event.index)
    return indexes


def _passed_later(events: Sequence[LogEvent], buffer: LineBuffer) -> set[int]:
    """Return the indexes of failed entries in a check list whose subject passed in a later entry."""
    failed = {event.index: subject for event in events if (subject := subject_of_failed_check(event.text)) is not None}
    if not failed:
        return set()
    passed = passed_checks(buffer)
    return {index for index, subject in failed.items() if passed.get(subject, -1) > index}


def _long_ago(events: Sequence[LogEvent], line_count: int) -> set[int]:
    """Return the indexes of the few failures of a start after which very many lines report nothing bad."""
    first = [event for event in events if not event.recovered and (event.failed or event.hits)]
    if not 0 < len(first) <= START_FAILURES or any(_is_grave(event) for event in first):
        return set()
    last = _end(first[-1])
    early = first[0].index <= START_LINES and last <= START_LINES + START_FAILURES
    return {event.index for event in first} if early and line_count - last >= GOOD_LINES else set()


def _is_grave(event: LogEvent) -> bool:
    return any(hit.signature.category in _NEVER_PASSED for hit in event.hits)


def _end(event: LogEvent) -> int:
    return event.index + event.line_count


def summarise(events: Iterable[LogEvent], limit: int = 5) -> tuple[Template, ...]:
    """Group events by template, the most frequent first."""
    groups: dict[str, list[LogEvent]] = {}
    for event in events:
        groups.setdefault(template_of(event.text), []).append(event)
    ranked = sorted(groups.items(), key=lambda item: -len(item[1]))[:limit]
    return tuple(Template(text, len(group), quote(group[-1].text)) for text, group in ranked)


def template_of(text: str) -> str:
    """Return a line with `*` for words with a digit, `/` or `@`, for quoted text and hex; runs of `*` are one."""
    short: str = _QUOTED.sub(" * ", quote(text))
    words = ["*" if _VARIES.search(word) is not None else word for word in short.split()]
    return " ".join(word for at, word in enumerate(words) if word != "*" or at == 0 or words[at - 1] != "*")


def _level_of_event(lines: Sequence[LogLine]) -> Level:
    """Read the level of the first line; for a JSON object printed over several lines, of all of them.

    Some loggers know nothing worse than a warning: one that tells of the program's end is an error, and so is what
    Redis says of a failure. That the next try went well is none, whatever level the line has.
    """
    text = lines[0].text
    level = level_of(" ".join(line.text.strip() for line in lines[:JSON_LINES]) if text.strip() == "{" else text)
    if level >= Level.ERROR and tells_of_success(text):
        return Level.INFO
    if level is not Level.WARNING:
        return level
    message = redis_warning(text)
    return Level.ERROR if is_fatal(text) or (message is not None and names_failure(message)) else level


def _judge(
    lines: Sequence[LogLine], index: int, level: Level, hits: tuple[Hit, ...], *, fails: bool
) -> LogEvent | None:
    if any(hit.signature.benign for hit in hits):
        return None
    failed = _failed(level, hits, fails=fails)
    if not hits and not failed and level < Level.WARNING:
        return None
    text = hits[0].line if hits else lines[0].text
    if failed and level is Level.UNKNOWN:
        level = Level.ERROR
    if failed and hits:
        level = _level_by_signatures(level, hits)
    return LogEvent(lines[0].at, level, text.strip(), len(lines), hits, failed, index)


def _level_by_signatures(level: Level, hits: tuple[Hit, ...]) -> Level:
    """Return the level of a failure by what its signatures say: a final word is an error, however calmly it is said."""
    if all(hit.signature.mild for hit in hits):
        return Level.WARNING
    is_final = any(hit.signature.lasts_until is not None and not hit.signature.mild for hit in hits)
    return max(level, Level.ERROR) if is_final else level


def _failed(level: Level, hits: tuple[Hit, ...], *, fails: bool) -> bool:
    if hits and all(hit.signature.blame == "client" or _is_late_only(hit.signature) for hit in hits):
        return False
    if level >= Level.ERROR:
        return True
    if any(hit.signature.error and hit.signature.blame == "program" for hit in hits):
        return True
    return fails


def _is_late_only(signature: Signature) -> bool:
    """Whether a signature only reports a late answer: that is no error, at whatever level it is logged."""
    return signature.category is Category.SLOW and not signature.error


def _has_shape_of_failure(lines: Sequence[LogLine]) -> bool:
    """Search the lines at the left margin: a trace may quote its source before it names the error."""
    heads = [lines[0], *(line for line in lines[1:SHAPE_LINES] if line.text[:1] not in {" ", "\t"}), lines[-1]]
    return any(looks_like_failure(line.text) for line in heads)
