"""What all ways of telling people of incidents have in common: when one is told, and what it became a part of. Pure."""

from collections.abc import Callable, Container
from datetime import datetime, timedelta

from bcon_exporter.model.findings import Severity
from bcon_exporter.model.incidents import FirstLook, Incident

CRITICAL_WAIT = timedelta(seconds=10)
FIRST_LOOK_INTERVALS = 3
"""So long the first look may go on: its second diagnosis, and the first comparison with Compose files."""


def has_waited(
    severity: Severity, seen_at: datetime, seen_in: datetime | None, now: datetime, scanned_at: datetime | None,
    interval: timedelta,
) -> bool:  # fmt: skip
    """Return whether an incident may be told: a root that is seen a scan later would be in it by now.

    A critical one waits for ten seconds at most. While no scan ends it is told after one and a half intervals.

    Args:
        severity: Of the incident, now.
        seen_at: When it was first looked at.
        seen_in: The diagnosis of then, by when it had ended; None before the first.
        now: The wall clock.
        scanned_at: When the newest diagnosis ended; None before the first.
        interval: Between two of them.
    """
    waited = now - seen_at
    if waited < timedelta():  # the clock was set back
        return True
    if severity is Severity.CRITICAL and waited >= min(CRITICAL_WAIT, interval):
        return True
    is_next_scan = scanned_at is not None and (seen_in is None or scanned_at > seen_in)
    return waited >= 1.5 * interval or (is_next_scan and waited >= interval / 2)


def waits_for_first_look(look: FirstLook | None, incident: Incident, now: datetime, interval: timedelta) -> bool:
    """Return whether an incident is told with all others that began before an exporter's first look, a little later.

    Where a diagnosis takes longer than an interval, the second one does too.

    Args:
        look: The first one; None where an earlier process has watched.
        incident: Of any kind.
        now: The wall clock.
        interval: Between two diagnoses.
    """
    if look is None or look.is_over or not look.includes(incident, now):
        return False
    took = timedelta(seconds=look.took_seconds)
    return timedelta() <= now - look.at < took + FIRST_LOOK_INTERVALS * max(interval, took)


def follow_merges(
    incident_id: str, open_ids: Container[str], find_ended: Callable[[str], Incident | None]
) -> tuple[str, Incident | None]:
    """Return the incident that this one is or became a part of in the end, however often it was merged.

    Args:
        incident_id: Of any.
        open_ids: Those that go on.
        find_ended: Returns an incident that is over; None when it is not known.

    Returns:
        Its id; and itself if it is over, None if it goes on or is not known.

    Raises:
        StateFileError: `find_ended` cannot read one.
    """
    passed: set[str] = set()
    while incident_id not in open_ids and incident_id not in passed:
        passed.add(incident_id)
        ended = find_ended(incident_id)
        if ended is None or ended.merged_into is None:
            return incident_id, ended
        incident_id = ended.merged_into
    return incident_id, None
