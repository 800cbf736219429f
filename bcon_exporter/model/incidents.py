"""Incidents: one failure with everything that belongs to it, from its first sign to its end."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

from bcon_exporter.model.base import Frozen, Untrusted, UtcDatetime
from bcon_exporter.model.findings import DriftType, LikelyCause, Severity, Suggestion
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.notes import ShownNotes

HOST_CODE = "host"
"""Code of the one incident that an engine or a host makes which went down or does not answer."""
FIRST_LOOK_DIAGNOSES = 3
"""So many at most, where logs of some containers are too slow to be read."""
FIRST_LOOK_IS_NEWS = timedelta(minutes=10)
_DRIFT_CODES = frozenset(drift.value for drift in DriftType)


class EndedBy(StrEnum):
    """What ended an incident, as far as events tell."""

    RECREATED = "recreated"
    RESTARTED = "restarted"
    STARTED = "started"
    RESUMED = "resumed"
    RECONNECTED = "reconnected"
    CHANGED_BACK = "changed_back"
    REMOVED = "removed"
    BY_ITSELF = "by_itself"


class IncidentRoot(Frozen):
    """Where the trouble comes from.

    Attributes:
        container: Its name; None for a service without a container, and for the host.
        code: Its worst symptom, else its drift type, else the id of the cause that names it.
    """

    container: str | None
    project: str | None = None
    service: str | None = None
    code: str

    @property
    def name(self) -> str:
        """What people call it."""
        return self.container or self.service or "the host"


class IncidentMember(Frozen):
    """A container, or a service without one, that belongs to an incident.

    Attributes:
        symptoms: Codes, the worst first; of symptoms and differences. They stay after these are over.
        since: When the first of them was seen.
    """

    container: str | None
    project: str | None = None
    service: str | None = None
    role: Literal["root", "suffers"]
    symptoms: tuple[str, ...] = ()
    since: UtcDatetime

    @property
    def name(self) -> str:
        """What people call it."""
        return self.container or self.service or "the host"


class IncidentChange(Frozen):
    """Something that happened before an incident, from the journal.

    Attributes:
        seconds_before: How long before it.
    """

    kind: JournalKind
    at: UtcDatetime
    seconds_before: float
    project: str | None = None
    service: str | None = None
    container: str | None = None
    text: str


class SeenBefore(Frozen):
    """Earlier incidents with the same project, root service and code.

    Attributes:
        last_id: The newest of them.
        usual_end: What ended most of them.
    """

    count: int = 0
    last_id: str | None = None
    usual_end: EndedBy | None = None


class Incident(Frozen):
    """One failure.

    Attributes:
        id: `YYYY-MM-DD-ROOT-CODE-N`, by the UTC day on which it opened.
        started_at: When its first sign was seen; by an exporter that looks for the first time it may be older.
        ended_at: None while it is open.
        severity: The worst that any member has had.
        title: One sentence.
        members: The root first, then by when they joined.
        causes, suggestions: Of the root, by the diagnosis.
        changes: Of the 30 minutes before it; those of its project first, the nearest first.
        evidence: Masked text of containers among it, one line of a kind, 4 KiB at most; `log_line` first.
        log_line: The line of a log that decided its cause; empty where none did.
        ended_by: None while it goes on, and where nothing has ended it: it is as it was, and too old to be told.
        merged_into: The id of the incident that this one turned out to be a part of; it is over then.
        acknowledged_at: When somebody said that they are on it.
        notes: What people know of its members, in their words; only where one incident is told.
    """

    id: str
    started_at: UtcDatetime
    ended_at: UtcDatetime | None = None
    severity: Severity
    root: IncidentRoot
    title: str
    members: tuple[IncidentMember, ...]
    causes: tuple[LikelyCause, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    changes: tuple[IncidentChange, ...] = ()
    evidence: tuple[Untrusted, ...] = ()
    log_line: Untrusted = ""
    ended_by: EndedBy | None = None
    seen_before: SeenBefore = SeenBefore()
    merged_into: str | None = None
    acknowledged_at: UtcDatetime | None = None
    notes: ShownNotes = ()

    @property
    def is_open(self) -> bool:
        """Whether it goes on."""
        return self.ended_at is None and self.merged_into is None


class IncidentLine(Frozen):
    """One incident of a list; see `Incident`.

    Attributes:
        suffers: Names of the members that suffer from the root.
    """

    id: str
    started_at: UtcDatetime
    ended_at: UtcDatetime | None
    severity: Severity
    root: IncidentRoot
    title: str
    suffers: tuple[str, ...]
    ended_by: EndedBy | None
    merged_into: str | None
    acknowledged_at: UtcDatetime | None


class IncidentsReport(Frozen):
    """Incidents that were asked for.

    Attributes:
        since: Those that had not ended before it.
        total: How many there are, also beyond `limit`.
        incidents: Newest first.
        known_since: Since when events are known; None where no daemon has watched.
    """

    since: UtcDatetime
    total: int
    incidents: tuple[IncidentLine, ...]
    known_since: UtcDatetime | None


class FirstLook(Frozen):
    """When an exporter without a past looked first: what was ill then has been so since before.

    Attributes:
        at: Of the first diagnosis; of the next one too where this one could not read everything.
        took_seconds: From then until what it found was known.
        diagnoses: How many it has been by now.
        is_whole: The last of them could read everything.
        files_at: When the Compose files were compared first; None before that.
        is_over: A diagnosis has seen both: all that was ill before has its incident.
    """

    at: UtcDatetime
    took_seconds: float = 0.0
    diagnoses: int = 1
    is_whole: bool = True
    files_at: UtcDatetime | None = None
    is_over: bool = False

    @property
    def goes_on(self) -> bool:
        """Whether the next diagnosis belongs to it."""
        return not self.is_whole and not self.is_over and self.diagnoses < FIRST_LOOK_DIAGNOSES

    def includes(self, incident: Incident, now: datetime) -> bool:
        """Whether an incident that is told now began before this exporter looked.

        One that grows out of a warning long after is none of them.
        """
        if now - self.at > FIRST_LOOK_IS_NEWS:
            return False
        is_of_files = incident.root.code in _DRIFT_CODES and self.files_at is not None
        until = max(self.at, self.files_at) if is_of_files and self.files_at is not None else self.at
        return incident.started_at <= until


class TrackedIncident(Frozen):
    """An open incident and how near its end is.

    Attributes:
        members: Identity of each member's container or service, in the order of `incident.members`.
        well_since: Since when every member is well; None while one is not.
        was_a_pause: It is well again, and what it depends on was only stopped on request and runs again: no news.
    """

    incident: Incident
    members: tuple[str, ...]
    well_since: UtcDatetime | None = None
    was_a_pause: bool = False


class IncidentState(Frozen):
    """What is carried from scan to scan.

    Attributes:
        open: Oldest first.
        over: Identity of each member of an incident that has ended within a day → since when it is well. What its log
            or its past still shows of the time before opens none.
        signs_ahead: Identity → its signs that lay ahead of our clock when that was set back. They were seen before, so
            they are old, also once the clock comes there.
        numbers: Id without its number → the last number that was given, of the last two days.
        shutdown_seen_until: Shutdowns up to then have had their incident.
    """

    open: tuple[TrackedIncident, ...] = ()
    over: dict[str, UtcDatetime] = {}
    signs_ahead: dict[str, tuple[UtcDatetime, ...]] = {}
    numbers: dict[str, int] = {}
    shutdown_seen_until: UtcDatetime | None = None
