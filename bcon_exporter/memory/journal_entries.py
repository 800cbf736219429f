"""What is new in a memory, as entries of the journal."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bcon_exporter.memory.event_coverage import Coverage
from bcon_exporter.memory.exit_reasons import ImageChange, Shutdown
from bcon_exporter.memory.fair_share import share_out
from bcon_exporter.memory.runs import Run
from bcon_exporter.memory.timeline import Past, Timeline, is_to_be_journaled, with_timeline
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.image_versions import name_image
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.lifecycle import SELF_REMOVAL_TAKES, ExitFacts, FailedRun, name_job
from bcon_exporter.model.naming import normalise_name
from bcon_exporter.model.quantities import show_duration

SETTLED_AFTER = timedelta(seconds=5)
"""Whether an end was asked for is known once the events around it are there."""

FAILED = (JournalKind.CRASH, JournalKind.OOM)
FAILED_RUNS_FOR = timedelta(hours=24)
FAILED_RUNS_AT_MOST = 50

STOPPED_ON_REQUEST = "stopped on request"
"""How the journal begins to tell of an end that somebody asked for."""

_SAME_END = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Subject:
    """Who an entry is about; see `JournalEntry`."""

    project: str | None = None
    service: str | None = None
    container: str | None = None

    def tell(self, at: datetime, kind: JournalKind, text: str, **data: object) -> JournalEntry:
        """Return an entry about it; data without a value is left out."""
        known = {name: value for name, value in data.items() if value is not None}
        return JournalEntry.model_validate(
            {
                "at": at,
                "kind": kind,
                "project": self.project,
                "service": self.service,
                "container": self.container,
                "text": text,
                "data": known,
            }
        )


def journal_lifecycles(
    pasts: Mapping[str, Past], shutdowns: tuple[Shutdown, ...], now: datetime
) -> tuple[dict[str, Past], list[JournalEntry]]:
    """Return the pasts with what was told of them noted, and the entries that tell what happened since."""
    noted, entries = dict(pasts), list[JournalEntry]()
    for identity, past in pasts.items():
        if not has_events_to_journal(past):
            continue
        new = {
            event.at for event in past.events if is_to_be_journaled(past, event.at) and event.at <= now - SETTLED_AFTER
        }
        if new:
            told, timeline = with_timeline(past, shutdowns)
            entries += _tell_past(identity, told, timeline, new.__contains__)
            until = max(new if past.journaled_until is None else (past.journaled_until, *new))
            noted[identity] = replace(told, journaled_until=until, late_events=past.late_events - new, untold=0)
    return noted, sorted(entries, key=lambda entry: entry.at)


def has_events_to_journal(past: Past) -> bool:
    """Whether something has happened that is not in the journal yet."""
    return bool(past.late_events) or (bool(past.events) and is_to_be_journaled(past, past.events[-1].at))


def _tell_past(
    identity: str, past: Past, timeline: Timeline, is_new: Callable[[datetime], bool]
) -> Iterator[JournalEntry]:
    restarts = set(timeline.restarts)
    for run in timeline.runs:
        if run.started_at is not None and is_new(run.started_at):
            by_policy = (run.container_id, run.started_at) in restarts
            text = "restarted by its restart policy" if by_policy else "started"
            subject = _subject(identity, past, run.container_id)
            yield subject.tell(run.started_at, JournalKind.START, text, by_policy=by_policy or None)
    for run, end in timeline.exits:
        if is_new(end.at):
            kind, text = _judge_end(end)
            more = {"exit_code": end.exit_code, "image": end.image, "removed_itself": _is_job(past, run, end)}
            yield _subject(identity, past, run.container_id).tell(end.at, kind, text, **more)
    for container_id, at in timeline.oom_kills:
        if is_new(at) and not any(end.oom and abs(end.at - at) <= _SAME_END for _, end in timeline.exits):
            text = "a process in it was killed for want of memory"
            yield _subject(identity, past, container_id).tell(at, JournalKind.OOM, text)
    change = timeline.image_change
    if change is not None and is_new(change.at):
        after = next((event.image for event in past.events if event.at >= change.at and event.image), "")
        text = _tell_image(after, change)
        container_id = next((event.container_id for event in past.events if event.at >= change.at), "")
        subject = _subject(identity, past, container_id)
        versions = {"version": change.version, "version_before": change.previous_version}
        yield subject.tell(change.at, JournalKind.IMAGE_CHANGE, text, image=after, before=change.previous, **versions)
    if past.untold:
        text = "more events of it came between two scans than are kept, so that some are not told"
        newest = past.events[-1]
        subject = _subject(identity, past, newest.container_id)
        yield subject.tell(newest.at, JournalKind.GAP, text, lost_events=past.untold)
    yield from _tell_events(identity, past, is_new)


def _tell_image(after: str, change: ImageChange) -> str:
    if after != change.previous:
        before = name_image(change.previous, change.previous_version)
        return f"another image: {name_image(after, change.version)}, before {before}"
    text = f"another image under the same name: {after}"
    if None in (change.version, change.previous_version) or change.version == change.previous_version:
        return text
    return f"{text}, {change.version}, before {change.previous_version}"


_EVENTS = {
    "pause": (JournalKind.PAUSE, "paused"),
    "unpause": (JournalKind.UNPAUSE, "resumed"),
    "destroy": (JournalKind.REMOVE, "removed"),
}


def _tell_events(identity: str, past: Past, is_new: Callable[[datetime], bool]) -> Iterator[JournalEntry]:
    """Tell what an event says by itself; that a container that just started is healthy is no news."""
    health: dict[str, str] = {}
    for event in past.events:
        known = _EVENTS.get(event.action)
        if known is not None and is_new(event.at):
            yield _subject(identity, past, event.container_id).tell(event.at, *known)
        if event.action == "start":
            health.pop(event.container_id, None)
        if event.action == "health_status" and event.health in ("healthy", "unhealthy"):
            before = health.get(event.container_id, "healthy")
            health[event.container_id] = event.health
            if before != event.health and is_new(event.at):
                text = "became unhealthy" if event.health == "unhealthy" else "healthy again"
                yield _subject(identity, past, event.container_id).tell(event.at, JournalKind.HEALTH, text)


def _is_job(past: Past, run: Run, end: ExitFacts) -> bool | None:
    """Return True for a run with `--rm` that ended by itself, away from a terminal; else None: it is not written down.

    A shell at a terminal ends with the code of its last command, and whoever typed that has seen it. Events tell of the
    terminal where the client set its size while the run lasted, and how the container is made where a scan saw it.
    """
    configured = past.containers.get(run.container_id)
    has_person = run.has_terminal or bool(configured and configured.has_person)
    removed = run.destroyed_at is not None and not run.kills and run.destroyed_at - end.at <= SELF_REMOVAL_TAKES
    return (removed and not has_person) or None


def add_failed_runs(
    known: tuple[FailedRun, ...],
    entries: Iterable[JournalEntry],
    now: datetime,
    watching_since: datetime | None = None,
) -> tuple[FailedRun, ...]:
    """Return the failed runs of the last day that removed themselves, newest first, with those that entries tell of.

    One that was followed by a run of the same job that ended with 0 says when.

    Args:
        known: Those of earlier entries.
        entries: New ones of the journal.
        now: The wall clock.
        watching_since: Of an exporter without a past; None where an earlier process has watched.
    """
    entries = tuple(entries)
    new = [
        FailedRun(
            name=entry.container or "",
            project=entry.project,
            image=str(entry.data.get("image", "")),
            ended_at=entry.at,
            exit_code=code if isinstance(code := entry.data.get("exit_code"), int) else None,
            oom=entry.kind is JournalKind.OOM,
            is_from_before=watching_since is not None and entry.at <= watching_since,
        )
        for entry in entries
        if entry.kind in FAILED and entry.data.get("removed_itself")
    ]
    recent = [run for run in (*known, *new) if now - FAILED_RUNS_FOR < run.ended_at]
    good = {
        name_job(entry.container or "", str(entry.data.get("image", ""))): entry.at
        for entry in sorted(entries, key=lambda entry: entry.at)
        if entry.kind is JournalKind.STOP and entry.data.get("removed_itself") and entry.data.get("exit_code") == 0
    }
    if len(recent) == len(known) and not new and not good:
        return known
    return _bound_failed_runs(_note_mended(run, good.get(run.job)) for run in recent)


def _note_mended(run: FailedRun, good_at: datetime | None) -> FailedRun:
    if run.mended_at is not None or good_at is None or good_at <= run.ended_at:
        return run
    return run.model_copy(update={"mended_at": good_at})


def join_failed_runs(stored: tuple[FailedRun, ...], current: tuple[FailedRun, ...]) -> tuple[FailedRun, ...]:
    """Return the failed runs that either knows."""
    return current if stored == current else _bound_failed_runs(dict.fromkeys((*current, *stored)))


def _bound_failed_runs(runs: Iterable[FailedRun]) -> tuple[FailedRun, ...]:
    """Return runs, the newest first; a job that fails each minute pushes out none that fails once a day."""
    ordered = sorted(runs, key=lambda run: run.ended_at, reverse=True)
    if len(ordered) <= FAILED_RUNS_AT_MOST:
        return tuple(ordered)
    left = share_out(Counter(run.name for run in ordered), FAILED_RUNS_AT_MOST)
    kept = []
    for run in ordered:
        if left[run.name]:
            left[run.name] -= 1
            kept.append(run)
    return tuple(kept)


def _judge_end(end: ExitFacts) -> tuple[JournalKind, str]:
    code = "" if end.exit_code is None else f", exit code {end.exit_code}"
    lived = "" if end.lifetime_seconds is None else f" after {show_duration(end.lifetime_seconds)}"
    if end.oom:
        return JournalKind.OOM, f"killed for want of memory{lived}{code}"
    if end.shutdown:
        return JournalKind.STOP, f"ended with the engine or its host{code}"
    if end.requested:
        forced = " and killed, since it did not end" if end.forced else ""
        return JournalKind.STOP, f"{STOPPED_ON_REQUEST}{forced}{code}"
    if end.killed:
        return JournalKind.KILL, f"killed through the engine (docker kill){code}"
    if end.exit_code == 0:
        return JournalKind.STOP, f"ended by itself{lived}{code}"
    return JournalKind.CRASH, f"crashed{lived}{code}"


def _subject(identity: str, past: Past, container_id: str) -> Subject:
    configured = past.containers.get(container_id)
    parts = json.loads(identity)
    if len(parts) == 1:
        return Subject(container=(configured.name if configured else None) or parts[0])
    return Subject(parts[0], parts[1], normalise_name(configured.name) if configured and configured.name else None)


def journal_coverage(before: Coverage, after: Coverage) -> Iterator[JournalEntry]:
    """Yield an entry for each new gap, and for each time that the engine or its host was down."""
    for gap in after.gaps:
        if gap not in before.gaps:
            lost = show_duration((gap.ended_at - gap.began_at).total_seconds())
            text = f"what the engine told in {lost} was lost"
            yield Subject().tell(gap.ended_at, JournalKind.GAP, text, began_at=gap.began_at.isoformat())
    for down in after.shutdowns:
        if down not in before.shutdowns:
            away = show_duration((down.ended_at - down.began_at).total_seconds())
            text = f"the engine or its host was down for {away}"
            yield Subject().tell(down.ended_at, JournalKind.ENGINE_RESTART, text, began_at=down.began_at.isoformat())


def journal_findings(
    kind: str, before: Iterable[str], after: Mapping[str, Severity | None], now: datetime
) -> Iterator[JournalEntry]:
    """Yield an entry for each symptom or difference that came or went.

    Args:
        kind: "symptom" or "drift".
        before: Keys of the last scan: project, service, for symptoms the container, and the code, each after U+001F.
        after: Keys of this one, each with its severity.
        now: When it was found.
    """
    on, off = JournalKind(f"{kind}_on"), JournalKind(f"{kind}_off")
    known = set(before)
    for key in sorted(after.keys() - known):
        severity = after[key]
        yield _finding(key, on, now, f"{_code(key)} found").model_copy(update={"severity": severity})
    for key in sorted(known - after.keys()):
        yield _finding(key, off, now, f"{_code(key)} is over")


def _code(key: str) -> str:
    return key.rpartition("\x1f")[2]


def _finding(key: str, kind: JournalKind, now: datetime, text: str) -> JournalEntry:
    *names, code = key.split("\x1f")
    project, service, container = (name or None for name in (*names, "", "", "")[:3])
    return Subject(project, service, container).tell(now, kind, text).model_copy(update={"code": code})
