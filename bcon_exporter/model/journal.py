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
