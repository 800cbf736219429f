"""One container's log on request, with `since` and `until` meaning what a reader expects.

The engine applies `until` after `tail` (20.10): of the newest 200 lines perhaps none is old enough. So with `until` we
ask for longer and longer tails until more than enough lines lie before it (the first may be the rest of a longer one),
and for shorter ones when an answer is too long: a cut answer lacks its newest part.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bcon_exporter.docker_host.failures import UnreadableLogError
from bcon_exporter.docker_host.log_stream import drop_cut_line, finish_entries, split_entries
from bcon_exporter.docker_host.session import Deadline, EngineSession
from bcon_exporter.errors import BconError
from bcon_exporter.model.facts import LogFacts, LogLine
from bcon_exporter.model.known_secrets import NO_SECRETS, KnownSecrets

_CAP_BYTES = 4 * 1024 * 1024
_LONGEST_TAIL = 200_000
_FACTOR = 8
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LogQuery:
    """What is asked of one container's log: the newest `tail` lines at or after `since` and before `until`.

    Attributes:
        name: For messages; the short id where the name is not known.
        known: Values that must not be shown of the container, masked in its lines.
    """

    container_id: str
    name: str
    tty: bool | None
    driver: str | None
    tail: int
    since: datetime | None
    until: datetime | None
    known: KnownSecrets = NO_SECRETS


def query_logs(session: EngineSession, query: LogQuery, deadline: Deadline) -> LogFacts:
    """Read one container's log.

    Raises:
        InvalidInputError: Its driver keeps nothing to read back.
        BconError: It could not be read at all.
    """
    best: tuple[LogLine, ...] = ()
    too_few, too_many, asked = 0, _LONGEST_TAIL + 1, query.tail
    while too_many - too_few > 1:
        try:
            lines, cut = _ask(session, query, asked, deadline)
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


def _ask(session: EngineSession, query: LogQuery, tail: int, deadline: Deadline) -> tuple[tuple[LogLine, ...], bool]:
    """Return the lines in the window among the newest `tail`, and whether the answer was cut."""
    target = f"{session.negotiate(deadline)}/containers/{query.container_id}/logs"
    target += f"?stdout=1&stderr=1&timestamps=1&tail={tail + 1}"  # one more, in case the first is cut
    if query.since is not None:
        target += f"&since={_stamp(query.since)}"
    if query.until is not None:
        target += f"&until={_stamp(query.until)}"
    answer = session.get("logs", "reading logs", target, deadline, body_cap_bytes=_CAP_BYTES)
    entries, _ = drop_cut_line(split_entries(answer.body, tty=query.tty), tail + 1)
    lines = finish_entries(entries, query.known)
    if query.since is not None or query.until is not None:
        lines = tuple(line for line in lines if _is_within(line, query))
    return lines, answer.cut


def _is_within(line: LogLine, query: LogQuery) -> bool:
    if line.at is None:
        return True
    return (query.since is None or line.at >= query.since) and (query.until is None or line.at < query.until)


def _stamp(at: datetime) -> str:
    """Write a time as the engine reads it, exactly: seconds and nanoseconds since the epoch."""
    micros = (at - _EPOCH) // timedelta(microseconds=1)
    return f"{max(micros, 0) // 1_000_000}.{max(micros, 0) % 1_000_000 * 1000:09d}"
