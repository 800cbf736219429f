"""What a log says: alone, without a container around it, and what a pattern found in a container's."""

from pydantic import computed_field

from bcon_exporter.model.base import Frozen, Untrusted, UtcDatetime
from bcon_exporter.model.findings import LikelyCause, Severity, Suggestion, SymptomType
from bcon_exporter.model.signatures import Category


class LogSymptom(Frozen):
    """One symptom that a log shows.

    Attributes:
        count: Events that are evidence for it.
        evidence: The most frequent lines, masked.
        first_seen: When the first of them was logged; None where lines carry no time.
    """

    type: SymptomType
    severity: Severity
    description: str
    count: int
    evidence: tuple[Untrusted, ...] = ()
    first_seen: UtcDatetime | None = None
    last_seen: UtcDatetime | None = None


class LogEventGroup(Frozen):
    """Events of a log that differ only in numbers, names and times.

    Attributes:
        template: The line without what varies.
        example: The newest such line, masked.
        level: "debug" to "critical"; "unknown" where the line carries none.
        line: Number of the newest event's first line, from 1.
        line_count: Lines of the newest event: a stack trace is one event.
        signatures: Ids of the known failures that it shows, the most specific first.
        runbooks: Where a person reads more about them, in the same order.
        peers: Hosts that its lines name.
        history: What it says is over: it was retried with success, or stands before the last successful start.
    """

    template: Untrusted
    example: Untrusted
    level: str
    count: int
    line: int
    line_count: int
    first_seen: UtcDatetime | None = None
    last_seen: UtcDatetime | None = None
    signatures: tuple[str, ...] = ()
    runbooks: tuple[str, ...] = ()
    categories: tuple[Category, ...] = ()
    peers: tuple[Untrusted, ...] = ()
    history: bool = False


class LogAnalysis(Frozen):
    """What is wrong, why, and what to do, as far as a log tells.

    Attributes:
        lines: Lines that were read.
        categories: Kinds of failure that count now, the most frequent first.
        events: Groups of events, the worst and most frequent first; history last.
        events_left_out: Groups beyond the number that is shown.
    """

    lines: int
    symptoms: tuple[LogSymptom, ...] = ()
    categories: tuple[Category, ...] = ()
    causes: tuple[LikelyCause, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    events: tuple[LogEventGroup, ...] = ()
    events_left_out: int = 0


class SampleLog(Frozen):
    """One occurrence with its context; untrusted text.

    Attributes:
        match_index: Points into `lines`.
        history: It is over: retried with success, or said before the last start, since which the container runs well.
    """

    timestamp: UtcDatetime | None
    lines: tuple[Untrusted, ...]
    match_index: int
    history: bool = False


class ExplainedCause(LikelyCause):
    """A cause of what a pattern found. `history`: only occurrences that are over show it."""

    history: bool = False


class ErrorExplanation(Frozen):
    """What a pattern found in a container's log, and what it means.

    Attributes:
        occurrences: All of them.
        history_occurrences: Those of them that are over (see `SampleLog.history`).
        causes: Those of now first; then those of history.
        actions: For what is current; for history where nothing is.
        samples: The newest occurrences, each with its context.
    """

    container_id: str
    container_name: str
    pattern: Untrusted
    occurrences: int
    history_occurrences: int = 0
    first_seen: UtcDatetime | None
    last_seen: UtcDatetime | None
    explanation: str
    causes: tuple[ExplainedCause, ...] = ()
    actions: tuple[Suggestion, ...] = ()
    samples: tuple[SampleLog, ...] = ()
    lines_searched: int = 0

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own way
    @property
    def likely_causes(self) -> tuple[str, ...]:
        """The causes as plain sentences."""
        return tuple(f"History: {one.description}" if one.history else one.description for one in self.causes)

    @computed_field  # type: ignore[prop-decorator]  # as above
    @property
    def suggestions(self) -> tuple[str, ...]:
        """The actions as plain sentences."""
        return tuple(one.action for one in self.actions)

    @computed_field  # type: ignore[prop-decorator]  # as above
    @property
    def sample_logs(self) -> tuple[Untrusted, ...]:
        """The samples as text, context included; untrusted."""
        return tuple("\n".join(one.lines) for one in self.samples)
