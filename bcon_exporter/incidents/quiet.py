"""Who is quiet now, and which incidents nobody is to be told of for that."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.incidents import Incident
from bcon_exporter.model.quiet import (
    QUIET_LABEL,
    DailyHours,
    Muting,
    Quiet,
    QuietHours,
    QuietLine,
    QuietSource,
    parse_hours,
)

SUFFERERS_WAIT = timedelta(minutes=15)
"""So long a quiet root speaks for those who suffer from it: a wrong root must not hide a failure."""


def find_muting(
    quiets: Iterable[Quiet],
    hours: Iterable[QuietHours],
    containers: Iterable[ContainerFacts],
    now: datetime,
    to_local: Callable[[datetime], datetime],
) -> tuple[Muting, tuple[str, ...]]:
    """Return who is quiet now, and the containers whose label is not understood.

    Args:
        quiets: What people have muted.
        hours: The settings.
        containers: For their labels, and to tell containers and projects apart.
        now: In UTC.
        to_local: Returns a time by the host's clock on the wall.
    """
    found = _Found(now, to_local)
    for quiet in quiets:
        if quiet.began_at <= now < quiet.ends_at:
            found.add_quiet(quiet)
    for setting in hours:
        found.add_setting(setting)
    misread = tuple(container.name for container in containers if not found.read_label(container))
    return found.muting(), misread


class _Found:
    def __init__(self, now: datetime, to_local: Callable[[datetime], datetime]) -> None:
        self._now, self._to_local = now, to_local
        self._host: QuietLine | None = None
        self._containers: dict[str, QuietLine] = {}
        self._projects: dict[str, QuietLine] = {}
        self._services: dict[str, QuietLine] = {}

    def add_quiet(self, quiet: Quiet) -> None:
        line = QuietLine(name=quiet.name, source="command", until=quiet.ends_at, why=quiet.why)
        if quiet.container is None:
            _add(self._projects, quiet.project or quiet.name, line)
            return
        _add(self._containers, quiet.container, line)
        if quiet.project is not None and quiet.service is not None:
            _add(self._services, f"{quiet.project}\n{quiet.service}", line)

    def add_setting(self, setting: QuietHours) -> None:
        line = self._line(setting.name, "setting", (setting.hours,))
        if line is None:
            return
        if setting.name is None:
            self._host = line if self._host is None or line.until > self._host.until else self._host
            return
        _add(self._containers, setting.name, line)
        _add(self._projects, setting.name, line)

    def read_label(self, container: ContainerFacts) -> bool:
        """Take a container's label; return False where it is not understood."""
        written = container.labels.get(QUIET_LABEL)
        if written is None:
            return True
        try:
            hours = parse_hours(written)
        except ValueError:
            return False
        line = self._line(container.name, "label", hours)
        if line is not None:
            _add(self._containers, container.name, line)
        return True

    def _line(self, name: str | None, source: QuietSource, hours: Sequence[DailyHours]) -> QuietLine | None:
        ends = [end for one in hours if (end := find_end(one, self._now, self._to_local)) is not None]
        return QuietLine(name=name, source=source, until=max(ends)) if ends else None

    def muting(self) -> Muting:
        return Muting(host=self._host, containers=self._containers, projects=self._projects, services=self._services)


def _add(lines: dict[str, QuietLine], name: str, line: QuietLine) -> None:
    """Keep the one that lasts longest."""
    known = lines.get(name)
    if known is None or line.until > known.until:
        lines[name] = line


def find_end(hours: DailyHours, now: datetime, to_local: Callable[[datetime], datetime]) -> datetime | None:
    """Return when hours that last now are over; None outside of them."""
    left = hours.remaining(to_local(now))
    if left is None:
        return None
    wall, end = to_local(now), now + left
    moved = to_local(end).replace(tzinfo=None) - (wall.replace(tzinfo=None) + left)
    corrected = end - moved  # the clock on the wall was put forward or back in between
    return corrected if corrected > now else end


def is_container_quiet(container: ContainerFacts, muting: Muting) -> bool:
    """Return whether a person has muted a container or its project; hours of every day say nothing of what is ill."""
    claim = container.compose
    service = muting.services.get(f"{claim.project}\n{claim.service}") if claim is not None else None
    project = muting.projects.get(claim.project) if claim is not None else None
    lines = (muting.containers.get(container.name), service, project)
    return any(line is not None and line.source == "command" for line in lines)


def is_muted(incident: Incident, muting: Muting, now: datetime) -> bool:
    """Return whether nobody is to be told of an incident now: it is acknowledged, or its root is quiet.

    A quiet root speaks for those who suffer from it for 15 minutes only. After that all members must be quiet.
    """
    if incident.acknowledged_at is not None and incident.is_open:
        return True
    if is_wholly_quiet(incident, muting):
        return True
    return is_root_quiet(incident, muting) and now - incident.started_at < SUFFERERS_WAIT


def is_wholly_quiet(incident: Incident, muting: Muting) -> bool:
    """Return whether the host or all members of an incident are quiet."""
    members = incident.members
    is_each_quiet = all(muting.find(one.container, one.project, one.service) is not None for one in members)
    return muting.host is not None or (bool(members) and is_each_quiet)


def is_root_quiet(incident: Incident, muting: Muting) -> bool:
    """Return whether the root of an incident is quiet, whoever suffers from it."""
    root = incident.root
    return muting.find(root.container, root.project, root.service) is not None
