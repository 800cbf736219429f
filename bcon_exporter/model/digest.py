"""What a period was like: a few lines for people who do not look every day."""

from bcon_exporter.model.base import Frozen, UtcDatetime
from bcon_exporter.model.incidents import IncidentLine
from bcon_exporter.model.tool_inputs import Moment


class DigestInput(Frozen):
    """Of which time; absent: the last 7 days."""

    since: Moment | None = None


class Flapping(Frozen):
    """The same failure again and again: incidents with the same root and code."""

    name: str
    project: str | None = None
    code: str
    count: int


class LongDrift(Frozen):
    """A difference from a Compose file that goes on."""

    project: str
    service: str
    drift_type: str
    since: UtcDatetime


class FailedDeployment(Frozen):
    """A deployment that did not succeed. `summary` is one sentence."""

    project: str
    at: UtcDatetime
    summary: str


class DigestReport(Frozen):
    """What a period was like.

    Attributes:
        began: How many incidents began in it; those that were merged into others do not count.
        ended: How many of any time ended in it.
        worst: Those that began in it, the worst and newest first; 5 at most.
        going_on: All that go on now, oldest first.
        flapping: Failures that came three times or more, the most frequent first; 5 at most.
        drifted: What goes on, the longest first; 5 at most.
        failed_deployments: Newest first; 5 at most.
        known_since: Since when events are known; None where no daemon has watched.
    """

    since: UtcDatetime
    until: UtcDatetime
    began: int = 0
    ended: int = 0
    worst: tuple[IncidentLine, ...] = ()
    going_on: tuple[IncidentLine, ...] = ()
    flapping: tuple[Flapping, ...] = ()
    drifted: tuple[LongDrift, ...] = ()
    failed_deployments: tuple[FailedDeployment, ...] = ()
    known_since: UtcDatetime | None = None
