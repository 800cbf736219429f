"""New lines of one container's log, each once, for who watches it.

Each reading begins some lines before the newest that was read: what masks a secret sees what stands before it too, as
the prompt before a password, or the first line of a key.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bcon_exporter.model.container_facts import LogLine, times_of
from bcon_exporter.tools.context import Context

FIRST_LINES = 200
MOST_LINES = 5_000
"""Of one reading; a container that prints more between two loses some to the watcher, who is told so."""
_LINES_BEFORE = 100
_LATE_NANOSECONDS = 2_000_000_000
"""Lines of stdout and stderr may come out of order by less."""


@dataclass(frozen=True, slots=True)
class NewLines:
    """What one reading brought, oldest first. `has_gap`: lines before these came faster than they could be read."""

    lines: tuple[LogLine, ...]
    has_gap: bool = False


class LogTail:
    """Reads one container's log again and again.

    Raises:
        BconError: There is no such container, or its log cannot be read; by `read` too.
    """

    def __init__(self, context: Context, container: str) -> None:
        self._host = context.host
        self._id = context.host.resolve(container)
        self._newest = -1
        self._seen: Counter[int] = Counter()
        self._begin: LogLine | None = None

    def read(self) -> NewLines:
        """Return the lines that were not returned before; at first the newest `FIRST_LINES`."""
        since = None if self._begin is None else self._begin.at
        tail = FIRST_LINES if since is None else MOST_LINES
        lines = self._host.read_logs(self._id, tail=tail, since=since, until=None).lines
        times = times_of(lines)
        seen, horizon = self._seen.copy(), self._newest - _LATE_NANOSECONDS
        fresh: list[int] = []
        for place, at in enumerate(times):
            if at is None or at < horizon:
                continue
            if seen[at] > 0:
                seen[at] -= 1
            else:
                fresh.append(place)
        has_gap = self._newest >= 0 and bool(times) and (times[0] or 0) > self._newest
        self._remember(lines, times, fresh)
        return NewLines(tuple(lines[place] for place in fresh), has_gap)

    def _remember(self, lines: Sequence[LogLine], times: Sequence[int | None], fresh: Sequence[int]) -> None:
        self._seen.update(at for place in fresh if (at := times[place]) is not None)
        self._newest = max((at for at in times if at is not None), default=self._newest)
        for at in [at for at in self._seen if at < self._newest - _LATE_NANOSECONDS]:
            del self._seen[at]
        if len(lines):
            self._begin = lines[max(0, len(lines) - _LINES_BEFORE)]
