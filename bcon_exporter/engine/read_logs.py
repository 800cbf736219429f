"""Reads logs: of all containers of a scan, by cursor; and of one container on request.

A scan reads only the lines written since the last scan. Most containers write seldom, but an engine opens and searches
the log file even to answer that there is nothing new. Where the file can be seen (its folder is root's), its size and
time show whether a request is needed.

On request `since` and `until` mean what a reader expects. The engine applies `until` after `tail` (20.10): of the
newest 200 lines perhaps none is old enough. So with `until` we request longer and longer tails until more than enough
lines lie before it (the first may be the rest of a longer one), and shorter ones when an answer is too long: a cut
answer lacks its newest part.
"""

import os
from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.clock import monotonic
from bcon_exporter.engine.containers import Inventory, InventoryEntry
from bcon_exporter.engine.failures import UnreadableLogError
from bcon_exporter.engine.log_cursors import LogCursors, LogSource
from bcon_exporter.engine.parse import drop_cut_line, finish_entries, split_entries
from bcon_exporter.engine.parse.json_fields import format_nanoseconds
from bcon_exporter.engine.scan import Deadline, Scan
from bcon_exporter.engine.session import BulkRequest, EngineSession
from bcon_exporter.errors import BconError
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, LogFacts, LogLines, nanoseconds_of
from bcon_exporter.readings import LogMark
from bcon_exporter.secrets.known_secrets import NO_SECRETS, KnownSecrets

_FILE_DRIVER = "json-file"
"""This driver writes each line at once to one file. Others have no file (journald), or their own format."""
LOG_ANSWER_CAP_BYTES = 4 * 1024 * 1024
"""`tail` counts pieces of at most 16 KiB, so 200 of them never reach this; what does is cut at its end."""
_LONGEST_TAIL = 200_000
_SECRETS_UNKNOWN = "it could not be inspected, so nobody knows which secrets its log must not show"
_FACTOR = 8


def read_log_mark(log_file: str | None, driver: str | None, container_id: str, now: float) -> LogMark | None:
    """Return the state of a container's log file; None when the file cannot be seen.

    Args:
        log_file: Path as the engine reports it; it does not exist here when the engine is on another machine.
        driver: Log driver.
        container_id: Full id; a path without it is not this container's.
        now: On the monotonic clock.
    """
    if log_file is None or driver != _FILE_DRIVER or container_id not in log_file:
        return None
    try:
        status = os.lstat(log_file)
    except (OSError, ValueError):
        return None
    return LogMark(now, (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns))


def read_logs_of_all(
    session: EngineSession, inventory: Inventory, cursors: LogCursors, scan: Scan
) -> dict[str, LogFacts]:
    """Read the new log lines of all containers of a scan; return container id → its window of lines."""
    logs: dict[str, LogFacts] = {}
    targets: dict[str, str] = {}
    marks: dict[str, LogMark | None] = {}
    for container_id in scan.present():
        entry = inventory.entries[container_id]
        cursors.note_wanted(container_id, tail=scan.wants.log_tail, window_seconds=scan.wants.log_window_seconds)
        mark = _read_mark_of(entry) if session.options.log_files else None
        unchanged = _find_unchanged_lines(entry, cursors, scan, mark)
        if unchanged is not None:
            logs[container_id] = unchanged
        elif not inventory.knows_secrets_of(container_id):
            scan.unread.setdefault(container_id, {})["logs"] = _SECRETS_UNKNOWN
        elif (reason := _find_refusal(entry, cursors)) is not None:
            scan.unread.setdefault(container_id, {})["logs"] = reason
        else:
            query = cursors.query(
                container_id, tail=scan.wants.log_tail, now=scan.now, since=_window_start(entry, scan)
            )
            targets[container_id] = f"/containers/{container_id}/logs?{query}"
            marks[container_id] = mark
    request = BulkRequest("logs", "reading logs", targets, scan.deadline, LOG_ANSWER_CAP_BYTES)
    for container_id, outcome in session.query_containers(request):
        entry = inventory.entries[container_id]
        if scan.is_gone(container_id, outcome):
            continue
        if isinstance(outcome, BconError):
            _record_failure(entry, cursors, scan, outcome)
            continue
        logs[container_id] = _add_answer(entry, cursors, scan, outcome.body, marks[container_id])
    return logs


def _read_mark_of(entry: InventoryEntry) -> LogMark | None:
    facts, placement = entry.facts, entry.placement
    if not facts.is_running or placement is None:
        return None
    return read_log_mark(placement.log_file, facts.log_driver, facts.id, monotonic())


def _find_unchanged_lines(
    entry: InventoryEntry, cursors: LogCursors, scan: Scan, mark: LogMark | None
) -> LogFacts | None:
    """Return the lines of a container whose log has not grown; None when it must be read."""
    facts, driver = entry.facts, entry.facts.log_driver
    window = cursors.window(facts.id)
    if window.mark is not None and window.mark.is_current(mark):
        return cursors.get_lines(facts.id, since=_window_start(entry, scan), driver=driver, secrets=entry.hidden)
    if facts.state is ContainerState.CREATED:
        return LogFacts(lines=(), driver=driver)
    if not facts.is_running and window.ended_run == _run_of(facts):
        return cursors.get_lines(facts.id, since=None, driver=driver, secrets=entry.hidden)
    return None


def _run_of(facts: ContainerFacts) -> tuple[object, ...]:
    """What tells one run of a container from another."""
    return facts.state, facts.started_at, facts.finished_at, facts.exit_code


def _find_refusal(entry: InventoryEntry, cursors: LogCursors) -> str | None:
    """Return why the engine will refuse the log; None when it can be requested."""
    if entry.facts.state is ContainerState.DEAD:
        return "the engine gives no log of a container that it could not remove"
    refused_run = cursors.window(entry.facts.id).refused_run
    return None if refused_run is None or refused_run != _run_of(entry.facts) else _tell_refusal(entry.facts)


def _tell_refusal(facts: ContainerFacts) -> str:
    return f"the log driver {facts.log_driver or ''} cannot be read back".replace("  ", " ")


def _add_answer(entry: InventoryEntry, cursors: LogCursors, scan: Scan, body: bytes, mark: LogMark | None) -> LogFacts:
    facts = entry.facts
    source = LogSource(facts.tty, facts.log_driver, entry.hidden)
    logs = cursors.take(facts.id, body, source, since=_window_start(entry, scan), tail=scan.wants.log_tail)
    # without a time of its end, one run that has ended looks like the next
    has_ended = not facts.is_running and facts.state is not ContainerState.RESTARTING and facts.finished_at is not None
    cursors.note_read(facts.id, mark=mark, ended_run=_run_of(facts) if has_ended else None)
    return logs


def _window_start(entry: InventoryEntry, scan: Scan) -> datetime | None:
    """Return the start of the log window; None for a container that does not run: its last lines always count."""
    return scan.now - timedelta(seconds=scan.wants.log_window_seconds) if entry.facts.is_running else None


def _record_failure(entry: InventoryEntry, cursors: LogCursors, scan: Scan, error: BconError) -> None:
    facts = entry.facts
    if isinstance(error, UnreadableLogError):
        cursors.note_refused(facts.id, _run_of(facts))
        scan.unread.setdefault(facts.id, {})["logs"] = _tell_refusal(facts)
        return
    scan.record_unread(facts.id, "logs", error.message)


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Which lines of one container's log to read: the newest `tail` lines at or after `since` and before `until`.

    Attributes:
        name: For messages; the short id where the name is unknown.
        secrets: Values to mask in the lines.
    """

    container_id: str
    name: str
    tty: bool | None
    driver: str | None
    tail: int
    since: datetime | None
    until: datetime | None
    secrets: KnownSecrets = NO_SECRETS


def query_logs(session: EngineSession, query: LogQuery, deadline: Deadline) -> LogFacts:
    """Read one container's log.

    Raises:
        InvalidInputError: Its driver keeps nothing to read back.
        BconError: It could not be read at all.
    """
    best = LogLines()
    too_few, too_many, asked = 0, _LONGEST_TAIL + 1, query.tail
    while too_many - too_few > 1:
        try:
            lines, cut = _read_tail(session, query, asked, deadline)
        except UnreadableLogError as error:
            raise _unreadable(query, error) from None
        except BconError:
            if too_few == 0 and too_many > _LONGEST_TAIL:
                raise
            too_many = asked
            break
        if cut:
            best, too_many = best or lines, asked
        else:
            best, too_few = lines, asked
            if len(lines) > query.tail or (query.until is None and too_many > _LONGEST_TAIL):
                break
        if too_few and too_many <= 2 * too_few:
            break
        asked = _choose_tail(too_few, too_many)
    was_cut = too_many <= _LONGEST_TAIL
    if was_cut and query.until is not None:
        best = best[1:]
    return LogFacts(lines=best[-query.tail :], truncated=was_cut or len(best) >= query.tail, driver=query.driver)


def _unreadable(query: LogQuery, error: UnreadableLogError) -> UnreadableLogError:
    """Say whose log it is, why, and what to do."""
    driver = f"the log driver {query.driver}" if query.driver else "its log driver"
    text = (
        f"logs of {query.name} cannot be read back: {driver} keeps nothing that the engine could return. Look where "
        "that driver sends them, or recreate the container with json-file, local or journald"
    )
    return UnreadableLogError(text, {**error.details, "container_id": query.container_id, "driver": query.driver})


def _choose_tail(too_few: int, too_many: int) -> int:
    """Choose the next tail between one that brought too few lines and one that brought too many bytes."""
    if too_few == 0:
        return max(too_many // _FACTOR, 1)
    if too_many > _LONGEST_TAIL:
        return min(too_few * _FACTOR, _LONGEST_TAIL)
    return (too_few + too_many) // 2


def _read_tail(session: EngineSession, query: LogQuery, tail: int, deadline: Deadline) -> tuple[LogLines, bool]:
    """Return the lines in the window among the newest `tail`, and whether the answer was cut."""
    target = f"{session.negotiate(deadline)}/containers/{query.container_id}/logs"
    target += f"?stdout=1&stderr=1&timestamps=1&tail={tail + 1}"  # one more, in case the first is cut
    if query.since is not None:
        target += f"&since={format_nanoseconds(nanoseconds_of(query.since))}"
    if query.until is not None:
        target += f"&until={format_nanoseconds(nanoseconds_of(query.until))}"
    answer = session.get("logs", "reading logs", target, deadline, body_cap_bytes=LOG_ANSWER_CAP_BYTES)
    entries, _ = drop_cut_line(split_entries(answer.body, tty=query.tty), tail + 1)
    lines = finish_entries(entries, query.secrets)
    if query.since is not None or query.until is not None:
        lines = lines.pick([place for place, at in enumerate(lines.nanoseconds) if _is_within(at, query)])
    return lines, answer.cut


def _is_within(at: int | None, query: LogQuery) -> bool:
    if at is None:
        return True
    return (query.since is None or at >= nanoseconds_of(query.since)) and (
        query.until is None or at < nanoseconds_of(query.until)
    )
