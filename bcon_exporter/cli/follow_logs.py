"""`logs --follow`: prints the newest lines, then each new one, until Ctrl-C."""

import threading
from collections import Counter
from collections.abc import Sequence

from bcon_exporter.cli.parsing import Invocation
from bcon_exporter.cli.screen import Screen, complain
from bcon_exporter.cli.tool_runner import close_context, exit_of, make_context
from bcon_exporter.diagnosis.explain import find_lines
from bcon_exporter.errors import InternalError, SettingsError
from bcon_exporter.model.reports import ContainerLogs, LogEntry
from bcon_exporter.model.tool_inputs import MAX_TAIL, Words
from bcon_exporter.tools import call_tool

_PAUSE_SECONDS = 1.0


class Unseen:
    """Remembers which lines were shown: each poll begins at the time of the last line, so some lines come twice."""

    def __init__(self) -> None:
        self._at_last: Counter[LogEntry] = Counter()
        self.last: LogEntry | None = None

    def take(self, entries: Sequence[LogEntry]) -> tuple[LogEntry, ...]:
        """Return the entries that were not taken before; each must carry its time."""
        seen = self._at_last.copy()
        fresh = []
        for entry in entries:
            if seen[entry] > 0:
                seen[entry] -= 1
            else:
                fresh.append(entry)
        for entry in fresh:
            if self.last is None or entry.timestamp != self.last.timestamp:
                self._at_last.clear()
            self._at_last[entry] += 1
            self.last = entry
        return tuple(fresh)


def follow_log(call: Invocation, payload: dict[str, object], pattern: str | None) -> int:
    """Show the newest lines, then new ones as they come, also after a restart of the container.

    Raises:
        BconError: The pattern is invalid, or a snapshot is read.
    """
    if call.arguments.select is not None:
        msg = "--follow: lines are printed as they come, so nothing is selected of them; leave --select out"
        raise SettingsError(msg, {"flag": "--follow"})
    if call.arguments.from_snapshot is not None:
        msg = "--follow: a snapshot gets no new lines; leave one of the two out"
        raise SettingsError(msg, {"flag": "--follow"})
    fits = find_lines(pattern) if pattern is not None else lambda _: True
    screen, unseen = Screen(call.arguments.format), Unseen()
    context = make_context(call)
    wanted = payload | {"timestamps": True}
    try:
        while True:
            envelope = call_tool(context, "get_container_logs", Words(wanted))
            if envelope.error is not None:
                screen.show(envelope)
                return exit_of(envelope, "never")
            logs: ContainerLogs = envelope.value
            last, fresh = unseen.last, unseen.take(logs.entries)
            if last is not None and last not in logs.entries:
                complain(InternalError("lines came faster than they could be read; some are left out", {}))
            _show(screen, call, logs, [entry for entry in fresh if fits(entry.message)])
            if unseen.last is not None and unseen.last.timestamp is not None:
                wanted = payload | {"timestamps": True, "tail": MAX_TAIL, "since": unseen.last.timestamp.isoformat()}
            threading.Event().wait(_PAUSE_SECONDS)
    finally:
        close_context(context)


def _show(screen: Screen, call: Invocation, logs: ContainerLogs, entries: list[LogEntry]) -> None:
    if not entries:
        return
    if call.arguments.no_timestamps:
        entries = [entry.model_copy(update={"timestamp": None}) for entry in entries]
    if screen.form == "json":
        screen.write("".join(entry.model_dump_json() + "\n" for entry in entries))
    else:
        screen.show_value(logs.model_copy(update={"entries": tuple(entries), "truncated": False}))
