"""Which lines of containers' logs were counted, and the counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bcon_exporter.model.container_facts import LogLine


@dataclass(frozen=True, slots=True)
class CountedLog:
    """What of a container's log has been counted.

    Attributes:
        lines: The window of the last scan.
        until: The newest time in it, or when there was none, since when lines count.
    """

    lines: Sequence[LogLine]
    until: datetime


@dataclass(frozen=True, slots=True)
class LogCounts:
    """Counters that start at 0 with the exporter, by full container id.

    Attributes:
        since: When the first scan was; what was logged before it is not counted. None before it.
        totals: Level → events so far.
        last_failure_at: When a scan last found a failure among new lines, after its first look at the log. A warning is
            one only where a symptom rests on it.
    """

    since: datetime | None = None
    counted: Mapping[str, CountedLog] = field(default_factory=dict)
    totals: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    last_failure_at: Mapping[str, datetime] = field(default_factory=dict)
