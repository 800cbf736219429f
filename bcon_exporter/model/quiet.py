"""Quiet: of whom nobody is told for a while. Metrics, reports and history go on."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, StringConstraints

from bcon_exporter.model.base import Frozen, Untrusted, UtcDatetime
from bcon_exporter.model.durations import parse_duration
from bcon_exporter.model.text_patterns import WHOLE_DURATION_PATTERN
from bcon_exporter.model.tool_inputs import ContainerRef

QUIET_LABEL = "bcon.quiet"
LONGEST_QUIET = timedelta(days=30)
_DAY_MINUTES = 24 * 60
_HINT = 'must be times of day, for example "03:00-03:45"; several with commas between them'

QuietSource = Literal["command", "label", "setting"]


class Quiet(Frozen):
    """A container or a project that a person has muted.

    Attributes:
        name: As it was asked for: the name of a container or of a project.
        container: Its name; None for a project.
        project, service: Of the container too, so that the same service is muted when its container is gone.
    """

    name: str
    container: str | None = None
    project: str | None = None
    service: str | None = None
    began_at: UtcDatetime
    ends_at: UtcDatetime
    why: str = ""


class DailyHours(NamedTuple):
    """A time of every day, by the clock on the wall; it may pass midnight.

    Attributes:
        begin, end: Minutes since midnight.
    """

    begin: int
    end: int

    def remaining(self, local: datetime) -> timedelta | None:
        """Return how long they still last by the clock on the wall; None outside of them."""
        minute = local.hour * 60 + local.minute
        if (minute - self.begin) % _DAY_MINUTES >= (self.end - self.begin) % _DAY_MINUTES:
            return None
        left = timedelta(minutes=(self.end - minute) % _DAY_MINUTES)
        return left - timedelta(seconds=local.second, microseconds=local.microsecond)


class QuietHours(NamedTuple):
    """A setting: quiet every day at this time.

    Attributes:
        name: Of the container or project; None for the whole host.
    """

    name: str | None
    hours: DailyHours


def parse_hours(text: str) -> tuple[DailyHours, ...]:
    """Return what "03:00-03:45,23:30-00:15" means.

    Raises:
        ValueError: It is no such list; the message does not quote it.
    """
    return tuple(_parse_one(part.strip()) for part in text.split(","))


def _parse_one(text: str) -> DailyHours:
    begin, dash, end = text.partition("-")
    hours = DailyHours(_parse_minutes(begin), _parse_minutes(end))
    if not dash or hours.begin == hours.end:
        raise ValueError(_HINT)
    return hours


def _parse_minutes(text: str) -> int:
    hour, colon, minute = text.strip().partition(":")
    is_written_well = colon and len(hour) in (1, 2) and len(minute) == 2 and (hour + minute).isascii()  # noqa: PLR2004
    if not is_written_well or not (hour + minute).isdecimal() or int(hour) > 23 or int(minute) > 59:  # noqa: PLR2004
        raise ValueError(_HINT)
    return int(hour) * 60 + int(minute)


def parse_quiet_hours(text: str) -> QuietHours:
    """Return what "22:00-07:00" or "shop=03:00-03:45" means.

    Raises:
        ValueError: It is none.
    """
    name, equals, hours = text.rpartition("=")
    if equals and not name.strip():
        raise ValueError(_HINT)
    return QuietHours(name.strip() or None, _parse_one(hours.strip()))


class QuietLine(Frozen):
    """Who is quiet now, and until when.

    Attributes:
        name: Of a container or project; None for the whole host.
        source: A person's `command`, the container's `label`, or a `setting`.
        why: What the person gave as the reason.
        cut: It was asked for longer than `LONGEST_QUIET`, which is how long it lasts.
    """

    name: str | None
    source: QuietSource
    until: UtcDatetime
    why: Untrusted = ""
    cut: bool = False


class QuietReport(Frozen):
    """All that is quiet now.

    Attributes:
        misread: Containers whose label `bcon.quiet` is not understood; it mutes nothing.
    """

    timestamp: UtcDatetime
    quiet: tuple[QuietLine, ...] = ()
    misread: tuple[str, ...] = ()


class Muting(Frozen):
    """Who is quiet at one moment.

    Attributes:
        host: Why all are; None when not all are.
        containers, projects: By name.
        services: By project and service, with a line feed between them.
    """

    host: QuietLine | None = None
    containers: Mapping[str, QuietLine] = {}
    projects: Mapping[str, QuietLine] = {}
    services: Mapping[str, QuietLine] = {}

    def find(self, container: str | None, project: str | None, service: str | None) -> QuietLine | None:
        """Return why a container, or a service without one, is quiet; None when it is not."""
        own = self.containers.get(container or "") or self.services.get(f"{project}\n{service}")
        return self.host or self.projects.get(project or "") or own


def _check_duration(text: str) -> str:
    """Refuse what the pattern lets through and is longer than any duration."""
    parse_duration(text)
    return text


QuietDuration = Annotated[
    str,
    StringConstraints(pattern=WHOLE_DURATION_PATTERN, max_length=64),
    AfterValidator(_check_duration),
    Field(description="How long: 1h, 30m"),
]


class QuietInput(Frozen):
    """What to mute, for how long, and why."""

    name: ContainerRef = Field(description="Name of a container or of a Compose project")
    duration: QuietDuration
    why: Annotated[str, StringConstraints(max_length=200)] = Field("", description="Shown wherever the quiet is shown")

    @property
    def length(self) -> timedelta:
        """How long; at most `LONGEST_QUIET`."""
        return min(parse_duration(self.duration), LONGEST_QUIET)

    @property
    def is_cut(self) -> bool:
        """Whether it was asked for longer than that."""
        return parse_duration(self.duration) > LONGEST_QUIET


class EndQuietInput(Frozen):
    """What is to be told of again."""

    name: ContainerRef = Field(description="Name that was muted")
