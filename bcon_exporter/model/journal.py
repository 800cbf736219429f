"""The journal: what happened on the host, written once and never changed."""

from datetime import timedelta
from typing import Annotated

from pydantic import JsonValue

from bcon_exporter.model.base import UNTRUSTED, Frozen, UtcDatetime
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.journal_kinds import JournalKind

HISTORY_KEPT = timedelta(days=90)
"""So long are entries kept, and incidents that are over."""


class JournalEntry(Frozen):
    """One thing that happened.

    Attributes:
        at: When; in UTC.
        host: The engine's name; empty while it is not known.
        container: Its name; None where the entry is about no container, or the name was never told.
        code: The symptom or drift type, for entries about those.
        text: One sentence of ours.
        data: More of it by name, such as `exit_code`; nothing that a container printed.
    """

    at: UtcDatetime
    kind: JournalKind
    host: str = ""
    project: str | None = None
    service: str | None = None
    container: str | None = None
    code: str | None = None
    severity: Severity | None = None
    text: str
    data: Annotated[dict[str, JsonValue], UNTRUSTED] = {}


class FoldedHistory(Frozen):
    """A history as people read it: a loop is one row.

    Attributes:
        since, until: Of which time.
        rows: How many rows the journal has of that time, each as it was written down.
        rows_read: How many of these were read, the newest.
        lines: How many rows are left once loops are folded.
        setup: Changes of images, configuration and deployments, newest first; empty where all is told in one list.
        entries: The other ones, newest first; both together are at most as many as were asked for.
        known_since: As in `HistoryReport`.
    """

    since: UtcDatetime
    until: UtcDatetime
    rows: int
    rows_read: int
    lines: int
    setup: tuple[JournalEntry, ...] = ()
    entries: tuple[JournalEntry, ...]
    known_since: UtcDatetime | None


class HistoryReport(Frozen):
    """Entries of the journal that were asked for.

    Attributes:
        since, until: Of which time.
        total: How many there are of that time, also beyond `limit`.
        entries: Newest first.
        known_since: Since when events are known; None when none could be read. Nothing before it is told.
    """

    since: UtcDatetime
    until: UtcDatetime
    total: int
    entries: tuple[JournalEntry, ...]
    known_since: UtcDatetime | None
