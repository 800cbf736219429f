"""Memory's values as rows of the state file: one key each, so that only what has changed is written.

Keys: `coverage`, `times`, `alerts`, `incidents`, `quiets`, `notes`, `note_callers`, `failed_runs`, `disk/logs`,
`disk/stored`, `disk/asked`, `past/IDENTITY`, `container/ID`, `usage/ID`, `window/ID`, `lines/ID/MICROSECONDS`,
`seen/KIND/KEY`, `messages/RECEIVER`, `repeated/WHAT`. An identity's events, and sizes of earlier hours, are rows of
tables of their own.
"""

import json
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from math import isfinite, isnan, nan
from typing import Any, NamedTuple, TypeVar, cast, get_args

from pydantic import TypeAdapter, ValidationError

from bcon_exporter.journal.schema import from_micros, to_micros
from bcon_exporter.memory import (
    NO_PAST,
    Configured,
    CountedContainer,
    Coverage,
    DiskMemory,
    FindingKind,
    Gap,
    Memory,
    Past,
    Repetitions,
    Shutdown,
    Tally,
)
from bcon_exporter.model.base import UtcDatetime
from bcon_exporter.model.container_facts import UsageFacts
from bcon_exporter.model.disk import LogReading, StoredData
from bcon_exporter.model.incidents import IncidentState
from bcon_exporter.model.lifecycle import FailedRun
from bcon_exporter.model.messages import ReceiverState
from bcon_exporter.model.notes import NoteBook
from bcon_exporter.model.quiet import Quiet
from bcon_exporter.model.repetitions import Repeated, name_repeated
from bcon_exporter.readings import UsageRow, UsageSample, UsageWindow

Value = TypeVar("Value")


class Record(NamedTuple):
    """One value as it is stored; an empty one is to be deleted."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class _Losses:
    gaps: tuple[Gap, ...] = ()
    shutdowns: tuple[Shutdown, ...] = ()


@dataclass(frozen=True, slots=True)
class _Times:
    since: UtcDatetime | None
    until: UtcDatetime | None


@dataclass(frozen=True, slots=True)
class _Container:
    identity: str
    restart_count: int | None
    started_at: UtcDatetime | None


@dataclass(frozen=True, slots=True)
class _Past:
    restarts_total: int
    oom_kills_total: int
    containers: dict[str, Configured] = field(default_factory=dict)
    journaled_until: UtcDatetime | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    at: UtcDatetime
    problem: str


@dataclass(frozen=True, slots=True)
class _NoteCallers:
    """Who wrote the notes that wait; a key of its own, since 0.2.0 drops a book with fields that it does not know."""

    callers: dict[str, str] = field(default_factory=dict)
    displaced: int = 0


@dataclass(frozen=True, slots=True)
class _Window:
    """As a `UsageWindow`; None where a number is unknown, which JSON has no NaN for."""

    newest: UsageSample
    rows: tuple[float | None, ...]


@cache
def _adapter(of: Any) -> TypeAdapter[Any]:
    return TypeAdapter(of)


def encode(value: object) -> str:
    """Return a value as JSON."""
    return str(_adapter(cast("Any", type(value))).dump_json(value), "utf-8")


def decode(of: type[Value], text: str) -> Value | None:
    """Return the value that JSON holds; None when it is damaged."""
    try:
        return cast("Value", _adapter(cast("Any", of)).validate_json(text))
    except ValidationError:
        return None


def past_record(identity: str, past: Past) -> Record:
    """Return what is stored of a past beside its events and last lines."""
    return Record(f"past/{identity}", encode(_to_stored(past)))


def _to_stored(past: Past) -> _Past:
    return _Past(past.restarts_total, past.oom_kills_total, dict(past.containers), past.journaled_until)


def read_past(text: str) -> Past:
    """Return the past of `past_record`, without events and last lines."""
    stored = decode(_Past, text)
    if stored is None:
        return NO_PAST
    return Past(
        restarts_total=stored.restarts_total,
        oom_kills_total=stored.oom_kills_total,
        containers=stored.containers,
        journaled_until=stored.journaled_until,
    )


def container_record(container_id: str, identity: str, counted: CountedContainer) -> Record:
    """Return what is stored of a container."""
    return Record(f"container/{container_id}", encode(_Container(identity, counted.restart_count, counted.started_at)))


def losses_record(coverage: Coverage) -> Record:
    """Return the gaps and shutdowns that are stored."""
    return Record("coverage", encode(_Losses(coverage.gaps, coverage.shutdowns)))


def times_record(coverage: Coverage) -> Record:
    """Return since and until when events are known, as stored."""
    return Record("times", encode(_Times(*coverage.times)))


def lines_key(container_id: str, at: datetime) -> str:
    """Return the key of the last lines before an end."""
    return f"lines/{container_id}/{to_micros(at)}"


def read_lines(key: str, text: str) -> tuple[tuple[str, datetime], tuple[str, ...]] | None:
    """Return container id and time of an end, and its lines; None when they are damaged."""
    _, container_id, micros = key.split("/")
    lines = decode(list[str], text)
    return None if lines is None else ((container_id, from_micros(int(micros))), tuple(lines))


def find_changed(before: Memory, after: Memory) -> Iterator[Record]:
    """Yield what has changed between two memories, save events, usage and the times of the coverage."""
    if (before.coverage.gaps, before.coverage.shutdowns) != (after.coverage.gaps, after.coverage.shutdowns):
        yield losses_record(after.coverage)
    for identity, past in after.pasts.items():
        earlier = before.pasts.get(identity)
        if past is not earlier:
            yield from _changed_past(identity, earlier or NO_PAST, past)
    for container_id, counted in after.counted.items():
        own = after.identities[container_id]
        if before.counted.get(container_id) is not counted or before.identities.get(container_id) != own:
            yield container_record(container_id, own, counted)
    for kind in get_args(FindingKind):
        yield from _changed_first_seen(kind, before.first_seen.get(kind, {}), after.first_seen.get(kind, {}))
    yield from _changed_talk(before, after)
    yield from _changed_repetitions(before.repetitions, after.repetitions)
    if after.failed_runs != before.failed_runs:
        yield Record("failed_runs", encode_failed_runs(after.failed_runs))
    yield from _changed_disk(before.disk, after.disk)
    if after.incidents is not before.incidents and after.incidents != before.incidents:
        yield Record("incidents", after.incidents.model_dump_json(exclude_defaults=True))
    if after.alerts is not None and after.alerts != before.alerts:
        yield Record("alerts", after.alerts)


def _changed_disk(before: DiskMemory, after: DiskMemory) -> Iterator[Record]:
    if after.logs is not None and after.logs is not before.logs:
        yield Record("disk/logs", after.logs.model_dump_json(exclude_defaults=True))
    if after.stored is not None and after.stored is not before.stored:
        yield Record("disk/stored", after.stored.model_dump_json(exclude_defaults=True))
    if after.asked_at is not None and (after.asked_at, after.problem) != (before.asked_at, before.problem):
        yield Record("disk/asked", encode(_Asked(after.asked_at, after.problem)))


def _read_disk(stored: Mapping[str, str]) -> DiskMemory:
    asked = decode(_Asked, stored["asked"]) if "asked" in stored else None
    return DiskMemory(
        logs=decode(LogReading, stored["logs"]) if "logs" in stored else None,
        stored=decode(StoredData, stored["stored"]) if "stored" in stored else None,
        asked_at=asked.at if asked is not None else None,
        problem=asked.problem if asked is not None else "",
    )


def _changed_talk(before: Memory, after: Memory) -> Iterator[Record]:
    """Yield what has changed of what people told the exporter, and it them."""
    if after.quiets != before.quiets:
        yield Record("quiets", encode_quiets(after.quiets))
    if after.notes is not before.notes and after.notes != before.notes:
        yield Record("notes", after.notes.model_dump_json(exclude_defaults=True))
        yield Record("note_callers", encode(_NoteCallers(after.notes.callers, after.notes.displaced)))
    for name, state in after.messages.items():
        if before.messages.get(name) != state:
            yield Record(f"messages/{name}", state.model_dump_json(exclude_defaults=True))


def encode_failed_runs(runs: tuple[FailedRun, ...]) -> str:
    """Return the failed runs of the last day as JSON; also none of them is stored."""
    return str(_adapter(tuple[FailedRun, ...]).dump_json(runs), "utf-8")


def _changed_repetitions(before: Repetitions, after: Repetitions) -> Iterator[Record]:
    """Yield what is counted in hours that go on; what is told each time has its row in the journal."""
    if before.tallies is after.tallies:
        return
    counted = {repeated: tally for repeated, tally in after.tallies.items() if tally.counted is not None}
    for repeated, tally in before.tallies.items():
        if tally.counted is not None and repeated not in counted:
            yield Record(_repeated_key(repeated), "")
    for repeated, tally in counted.items():
        if before.tallies.get(repeated) is not tally:
            yield Record(_repeated_key(repeated), encode(tally))


def _repeated_key(repeated: Repeated) -> str:
    return f"repeated/{json.dumps(repeated)}"


def encode_quiets(quiets: tuple[Quiet, ...]) -> str:
    """Return what people have muted as JSON; nothing for none."""
    return str(_adapter(tuple[Quiet, ...]).dump_json(quiets), "utf-8") if quiets else ""


def _changed_past(identity: str, before: Past, after: Past) -> Iterator[Record]:
    if _to_stored(after) != _to_stored(before):
        yield past_record(identity, after)
    for end, lines in after.last_lines.items():
        if before.last_lines.get(end) != lines:
            yield Record(lines_key(*end), encode(list(lines)))


def _changed_first_seen(
    kind: FindingKind, before: Mapping[str, datetime], after: Mapping[str, datetime]
) -> Iterator[Record]:
    if before is after:
        return
    for key in before.keys() - after.keys():
        yield Record(f"seen/{kind}/{key}", "")
    for key, since in after.items():
        if before.get(key) != since:
            yield Record(f"seen/{kind}/{key}", str(to_micros(since)))


def usage_records(usage: Mapping[str, UsageFacts], due: Collection[str]) -> Iterator[Record]:
    """Yield the last usage of the containers for which it is due."""
    for container_id in due:
        if container_id in usage:
            yield Record(f"usage/{container_id}", usage[container_id].model_dump_json(exclude_defaults=True))


def read_usage(text: str) -> UsageFacts | None:
    """Return stored usage; None when it is damaged."""
    try:
        return UsageFacts.model_validate_json(text)
    except ValidationError:
        return None


def window_records(windows: Mapping[str, UsageWindow]) -> Iterator[Record]:
    """Yield the samples of usage of each container."""
    for container_id, window in windows.items():
        rows = tuple(None if isnan(number) else number for number in window.numbers())
        yield Record(f"window/{container_id}", encode(_Window(window.newest, rows)))


def read_window(text: str) -> UsageWindow | None:
    """Return stored samples; None when they are damaged."""
    stored = decode(_Window, text)
    width = len(UsageRow._fields)
    if stored is None or not stored.rows or len(stored.rows) % width or stored.newest.read_at.tzinfo is None:
        return None
    if None in stored.rows[::width] or not all(number is None or isfinite(number) for number in stored.rows):
        return None
    rows = array("d", (nan if number is None else number for number in stored.rows))
    return UsageWindow(stored.newest, rows.tobytes())


def read_memory(records: Iterable[Record]) -> Memory:
    """Return the memory of stored values; pasts and usage are loaded when they are asked for."""
    identities, counted = {}, {}
    first_seen: dict[FindingKind, dict[str, datetime]] = {kind: {} for kind in get_args(FindingKind)}
    whole: dict[str, str] = {}
    messages: dict[str, ReceiverState] = {}
    disk: dict[str, str] = {}
    tallies: dict[Repeated, Tally] = {}
    for key, value in records:
        kind, _, rest = key.partition("/")
        match kind:
            case "container":
                container = decode(_Container, value)
                if container is not None:
                    identities[rest] = container.identity
                    counted[rest] = CountedContainer(container.restart_count, container.started_at)
            case "seen":
                finding, _, name = rest.partition("/")
                since = read_time(value)
                if finding in first_seen and since is not None:
                    first_seen[finding][name] = since
            case "repeated":
                tally = decode(Tally, value)
                if tally is not None and tally.newest is not None:
                    tallies[name_repeated(tally.newest)] = tally
            case "disk":
                disk[rest] = value
            case "messages":
                messages[rest] = decode(ReceiverState, value) or ReceiverState()
            case _:
                whole[key] = value
    return Memory(
        coverage=_read_coverage(whole),
        identities=identities,
        counted=counted,
        first_seen=first_seen,
        incidents=_read_incidents(whole["incidents"]) if "incidents" in whole else IncidentState(),
        quiets=decode(tuple[Quiet, ...], whole.get("quiets", "[]")) or (),
        notes=_read_notes(whole),
        messages=messages,
        failed_runs=decode(tuple[FailedRun, ...], whole.get("failed_runs", "[]")) or (),
        repetitions=Repetitions(tallies),
        disk=_read_disk(disk),
        alerts=whole.get("alerts"),
    )


def _read_notes(whole: Mapping[str, str]) -> NoteBook:
    book = decode(NoteBook, whole.get("notes", "{}")) or NoteBook()
    known = decode(_NoteCallers, whole.get("note_callers", "{}")) or _NoteCallers()
    return book.model_copy(update={"callers": known.callers, "displaced": known.displaced})


def read_time(value: str) -> datetime | None:
    """Return a stored time; None when it is damaged."""
    try:
        return from_micros(int(value))
    except (ValueError, OverflowError):
        return None


def _read_coverage(whole: Mapping[str, str]) -> Coverage:
    losses = (decode(_Losses, whole["coverage"]) if "coverage" in whole else None) or _Losses()
    times = (decode(_Times, whole["times"]) if "times" in whole else None) or _Times(None, None)
    return Coverage(
        gaps=losses.gaps, shutdowns=losses.shutdowns, observed_since=times.since, observed_until=times.until
    )


def _read_incidents(text: str) -> IncidentState:
    try:
        return IncidentState.model_validate_json(text)
    except ValidationError:
        return IncidentState()
