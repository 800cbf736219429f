"""Logs of a scan, by cursor: only what was written since the last one crosses the wire."""

from collections.abc import Callable
from datetime import datetime, timedelta

from bcon_exporter.clock import monotonic
from bcon_exporter.docker_host.failures import UnreadableLogError
from bcon_exporter.docker_host.inventory import Inventory, Known
from bcon_exporter.docker_host.log_mark import LogMark, look_at_log
from bcon_exporter.docker_host.logs import LogCursors, LogSource
from bcon_exporter.docker_host.pipeline import Outcome
from bcon_exporter.docker_host.scan import Scan
from bcon_exporter.docker_host.session import EngineSession
from bcon_exporter.errors import BconError
from bcon_exporter.model.facts import ContainerState, LogFacts

LOG_ANSWER_CAP_BYTES = 4 * 1024 * 1024
"""`tail` counts pieces of at most 16 KiB, so 200 of them never reach this; what does is cut at its end."""


def read_logs_of_all(
    session: EngineSession, inventory: Inventory, cursors: LogCursors, scan: Scan
) -> dict[str, LogFacts]:
    """Read the new log lines of all containers of a scan; return each one's window of lines."""
    found: dict[str, LogFacts] = {}
    wanted = []
    marks: dict[str, LogMark | None] = {}
    for container_id in scan.present():
        known = inventory.known[container_id]
        _widen(known, cursors, scan)
        mark = _look(known) if session.options.log_files else None
        kept = _settled(known, cursors, scan, mark)
        if kept is not None:
            found[container_id] = kept
        elif (reason := _refusal(known)) is not None:
            scan.unread.setdefault(container_id, {})["logs"] = reason
        else:
            wanted.append(container_id)
            marks[container_id] = mark

    def take(container_id: str, outcome: Outcome) -> None:
        if scan.is_gone(container_id, outcome):
            return
        known = inventory.known[container_id]
        if isinstance(outcome, BconError):
            _note_failure(known, scan, outcome)
            return
        found[container_id] = _take(known, cursors, scan, outcome.body)
        known.log_mark = marks[container_id]

    not_asked = session.gate("logs", wanted, lambda ids: _ask(session, inventory, cursors, scan, ids, take))
    for container_id, reason in not_asked.items():
        scan.miss(container_id, "logs", reason)
    return found


def _look(known: Known) -> LogMark | None:
    facts, placement = known.facts, known.placement
    if not facts.is_running or placement is None:
        return None
    return look_at_log(placement.log_file, facts.log_driver, facts.id, monotonic())


def _settled(known: Known, cursors: LogCursors, scan: Scan, mark: LogMark | None) -> LogFacts | None:
    """Return the lines of a container whose log has not grown."""
    driver = known.facts.log_driver
    if known.log_mark is not None and known.log_mark.still_holds(mark):
        return cursors.kept(known.facts.id, since=_since(known, scan), driver=driver, known=known.hidden)
    if known.facts.state is ContainerState.CREATED:
        return LogFacts(lines=(), driver=driver)
    if known.logs_done and not known.facts.is_running:
        return cursors.kept(known.facts.id, since=None, driver=driver, known=known.hidden)
    return None


def _refusal(known: Known) -> str | None:
    """Return why the engine is known to refuse a log; None where it may be asked for."""
    if known.facts.state is ContainerState.DEAD:
        return "the engine gives no log of a container that it could not remove"
    return known.logs_refused


def _widen(known: Known, cursors: LogCursors, scan: Scan) -> None:
    """Read a log anew when more of it is wanted than before."""
    wants = scan.wants
    if wants.log_tail > known.log_tail or wants.log_window_seconds > known.log_window_seconds:
        if known.log_tail:
            cursors.forget((known.facts.id,))
        known.log_tail, known.log_window_seconds = wants.log_tail, wants.log_window_seconds
        known.logs_done, known.log_mark = False, None


def _ask(
    session: EngineSession,
    inventory: Inventory,
    cursors: LogCursors,
    scan: Scan,
    ids: list[str],
    take: Callable[[str, Outcome], None],
) -> None:
    prefix = session.negotiate(scan.deadline)

    def path(container_id: str) -> str:
        since = _since(inventory.known[container_id], scan)
        query = cursors.query(container_id, tail=scan.wants.log_tail, now=scan.now, since=since)
        return f"{prefix}/containers/{container_id}/logs?{query}"

    batch = session.bulk_batch("reading logs", scan.deadline, body_cap_bytes=LOG_ANSWER_CAP_BYTES)
    session.ask_containers("logs", ids, path, batch, take)


def _take(known: Known, cursors: LogCursors, scan: Scan, body: bytes) -> LogFacts:
    facts = known.facts
    source = LogSource(facts.tty, facts.log_driver, known.hidden)
    logs = cursors.take(facts.id, body, source, since=_since(known, scan), tail=scan.wants.log_tail)
    known.logs_done = not facts.is_running and facts.state is not ContainerState.RESTARTING
    return logs


def _since(known: Known, scan: Scan) -> datetime | None:
    """Return from when on lines count; of a container that does not run, the last ones before its exit do."""
    return scan.now - timedelta(seconds=scan.wants.log_window_seconds) if known.facts.is_running else None


def _note_failure(known: Known, scan: Scan, error: BconError) -> None:
    if isinstance(error, UnreadableLogError):
        known.logs_refused = f"the log driver {known.facts.log_driver or ''} cannot be read back".replace("  ", " ")
        scan.unread.setdefault(known.facts.id, {})["logs"] = known.logs_refused
        return
    scan.miss(known.facts.id, "logs", error.message)
