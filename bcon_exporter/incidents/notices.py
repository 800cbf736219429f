"""Decides what a receiver is to be told of incidents: one message when one opens, grows worse, ends. Pure."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.errors import StateFileError
from bcon_exporter.incidents.quiet import is_muted, is_root_quiet, is_wholly_quiet
from bcon_exporter.incidents.when_to_notify import follow_merges, has_waited, waits_for_first_look
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.incidents import HOST_CODE, FirstLook, Incident
from bcon_exporter.model.messages import Notice, NoticeKind, ReceiverState, Sending, Told
from bcon_exporter.model.quiet import Muting
from bcon_exporter.model.receivers import Receiver

BETWEEN_MESSAGES = timedelta(minutes=5)
"""An incident that grows worse or turns out otherwise is told again so often at most."""
END_IS_NEWS = timedelta(days=7)
"""So long a receiver that was down, quiet or left out of the settings is told of an end."""
NOTICES_AT_MOST = 500
"""In one message; the others are in the next."""
MANY = 10
"""More incidents that opened within one scan are told in one message, when the first of them is told."""
_TOLD_AT_MOST = 1000


@dataclass(frozen=True, slots=True)
class Scene:
    """What there is to tell.

    Attributes:
        scan_at: When the last scan ended.
        interval: Between two scans.
        pauses: Ids of incidents that are no news as long as they were not told; see `TrackedIncident.was_a_pause`.
        first_look: See `FirstLook`; None where an earlier process has watched.
        open: The incidents that go on.
        find_ended: Returns an incident that is over; None when it is not known. May raise a StateFileError.
    """

    now: datetime
    scan_at: datetime
    interval: timedelta
    open: Sequence[Incident]
    find_ended: Callable[[str], Incident | None]
    muting: Muting
    first_look: FirstLook | None = None
    pauses: frozenset[str] = frozenset()


def decide_message(state: ReceiverState, scene: Scene, receiver: Receiver) -> ReceiverState:
    """Return what is known of a receiver now; `sending` is the message that is to be sent, if any.

    A message that has not arrived stays as it is: what else is due waits until it has. What was told of an incident
    that cannot be read now stays too.
    """
    under_way = frozenset(one.incident_id for one in state.sending.notices) if state.sending else frozenset[str]()
    told = _follow_merged(dict(state.told), under_way, scene)
    notices: list[Notice] = []
    hurried = _find_hurried(told, scene)
    for incident in scene.open:
        known = told.get(incident.id) or Told(seen_at=scene.scan_at)
        told[incident.id], notice = _tell_open(known, incident, scene, receiver, is_hurried=known.seen_at in hurried)
        if notice is not None:
            notices.append(notice)
    kept = under_way.union(incident.id for incident in scene.open)
    for incident_id in [one for one in told if one not in kept]:
        try:
            ended = scene.find_ended(incident_id)
        except StateFileError:
            continue
        if ended is None or not _must_hear_end(told[incident_id], ended, scene.now):
            del told[incident_id]
        elif not is_muted(ended, scene.muting, scene.now):
            notices.append(Notice(incident_id=incident_id, kind=NoticeKind.ENDED, severity=ended.severity))
    sending = state.sending
    if sending is None and notices:
        chosen = tuple(notices[:NOTICES_AT_MOST])
        sending = Sending(key=_key(chosen, told), notices=chosen, since=scene.now)
    newest = dict(list(told.items())[-_TOLD_AT_MOST:])
    return state.model_copy(update={"told": newest, "sending": sending})


def _follow_merged(told: dict[str, Told], under_way: frozenset[str], scene: Scene) -> dict[str, Told]:
    """Hand on what was told of an incident that turned out to be a part of another: the other is not opened anew.

    What is under way is handed on when it has arrived.
    """
    going_on = {incident.id for incident in scene.open}
    for incident_id in [one for one in told if one not in going_on and one not in under_way]:
        try:
            root_id, _ = follow_merges(incident_id, going_on, scene.find_ended)
        except StateFileError:
            continue
        if root_id == incident_id:
            continue
        before, root = told.pop(incident_id), told.get(root_id)
        if before.severity is not None and (root is None or root.severity is None):
            told[root_id] = before.model_copy(update={"has_changed": True})
    return told


def _find_hurried(told: dict[str, Told], scene: Scene) -> set[datetime]:
    """Return the scans that opened so many incidents that all of them are told with the first that has waited."""
    waiting = [
        (known.seen_at, incident)
        for incident in scene.open
        if (known := told.get(incident.id)) is not None and known.severity is None and incident.id not in scene.pauses
    ]
    counts = Counter(seen_at for seen_at, _ in waiting)
    return {at for at, incident in waiting if counts[at] > MANY and _may_be_told(at, incident, scene)}


def _may_be_told(seen_at: datetime, incident: Incident, scene: Scene) -> bool:
    look = scene.first_look
    if waits_for_first_look(look, incident, scene.now, scene.interval):
        return False
    if look is not None and look.includes(incident, scene.now):
        return True  # nothing more will be in it
    return has_waited(incident.severity, seen_at, seen_at, scene.now, scene.scan_at, scene.interval)


def _tell_open(
    told: Told, incident: Incident, scene: Scene, receiver: Receiver, *, is_hurried: bool
) -> tuple[Told, Notice | None]:
    if not _wants(receiver, incident):
        return told, None
    muted = is_muted(incident, scene.muting, scene.now)
    if told.severity is not None:
        kind = _kind_of_more(told, incident, scene)
        return told, None if kind is None or muted else _notice(incident, kind)
    if incident.id in scene.pauses:
        return told, None
    if not (is_hurried or _may_be_told(told.seen_at, incident, scene)):
        return told, None
    if incident.acknowledged_at is None and (muted or is_root_quiet(incident, scene.muting)):
        # a quiet root only delays those who suffer from it and are not quiet
        told = told.model_copy(update={"was_muted": is_wholly_quiet(incident, scene.muting)})
    if muted:
        return told, None
    if told.was_muted and incident.severity is not Severity.CRITICAL:
        return told, None
    return told.model_copy(update={"is_due": True}), _notice(incident, NoticeKind.OPENED)


def _wants(receiver: Receiver, incident: Incident) -> bool:
    """Whether an incident is for this receiver, as bad as it is now.

    One of the host is for all projects, and also as a warning for who hears of errors: it tells what did not come back.
    """
    members = {member.project for member in incident.members}
    is_its_project = not receiver.projects or not members.isdisjoint(receiver.projects)
    is_of_host = incident.root.code == HOST_CODE
    is_bad_enough = incident.severity.rank >= receiver.least.rank or (is_of_host and receiver.least is Severity.ERROR)
    return (is_its_project or is_of_host) and is_bad_enough


def _kind_of_more(told: Told, incident: Incident, scene: Scene) -> NoticeKind | None:
    if told.told_at is not None and timedelta() <= scene.now - told.told_at < BETWEEN_MESSAGES:
        return None
    if told.severity is not None and incident.severity.rank > told.severity.rank:
        return NoticeKind.WORSE
    return NoticeKind.CHANGED if told.has_changed else None


def _must_hear_end(told: Told, ended: Incident, now: datetime) -> bool:
    is_news = ended.ended_at is not None and now - ended.ended_at < END_IS_NEWS
    return is_news and (told.severity is not None or told.is_due)


def _notice(incident: Incident, kind: NoticeKind) -> Notice:
    return Notice(incident_id=incident.id, kind=kind, severity=incident.severity)


def _key(notices: Sequence[Notice], told: dict[str, Told]) -> str:
    """Return what tells a message from every other."""
    parts = [f"{one.incident_id} {one.kind} {one.severity} {_told_at(told, one.incident_id)}" for one in notices]
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()[:32]


def _told_at(told: dict[str, Told], incident_id: str) -> str:
    at = told[incident_id].told_at
    return "" if at is None else at.isoformat()


def note_arrival(state: ReceiverState, now: datetime) -> ReceiverState:
    """Return the state after the message that was under way has arrived."""
    if state.sending is None:
        return state
    told = dict(state.told)
    for notice in state.sending.notices:
        known = told.get(notice.incident_id)
        if notice.kind is NoticeKind.ENDED:
            told.pop(notice.incident_id, None)
        elif known is not None:
            news = {"severity": notice.severity, "told_at": now, "has_changed": False, "was_muted": False}
            told[notice.incident_id] = known.model_copy(update=news)
    return state.model_copy(update={"told": told, "sending": None})
