"""Makes incidents of what scans find: opens, joins, merges and closes them. Pure; the state is a value."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bcon_exporter.incidents.changes import Surroundings, began_in_a_pause, find_changes, find_end
from bcon_exporter.incidents.evidence import fold_evidence
from bcon_exporter.incidents.titles import ENDED_BY, NOT_MENDED, OUTAGE_TITLE, name_incident
from bcon_exporter.incidents.troubles import HostTroubles, Life, Trouble, Who
from bcon_exporter.model.findings import DriftType, LikelyCause, Severity, Suggestion, SymptomType, Urgency
from bcon_exporter.model.incidents import (
    HOST_CODE,
    EndedBy,
    Incident,
    IncidentMember,
    IncidentRoot,
    IncidentState,
    SeenBefore,
    TrackedIncident,
)
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.quantities import show_duration

MERGED_WITHIN = timedelta(minutes=2)
WELL_FOR = timedelta(minutes=2)
AFTER_SHUTDOWN = timedelta(minutes=5)
"""What fails so soon after the engine or its host came back belongs to that."""
REMEMBERED_OVER = timedelta(days=1)
OUTSIDE_PEER = "outside_peer"
"""The cause that names somebody whom no container here is."""
_HOST = Who("", None)
OUTAGE_STEPS = (
    Suggestion(
        urgency=Urgency.IMMEDIATE,
        action="Look at the engine and its host before single containers: the log of the engine, memory, disks.",
        rationale="While the engine does not answer, nothing is known of its containers.",
        check="docker info",
    ),
)
"""What to do when the engine does not answer."""
RESTART_STEPS = (
    Suggestion(
        urgency=Urgency.SHORT_TERM,
        action="Start again what is needed, and give it a restart policy (`unless-stopped`) so that the engine does; "
        "remove or mute (bcon-exporter quiet) what is not.",
        rationale="The engine starts again only what has a restart policy.",
        check="docker ps -a --filter status=exited",
    ),
)
"""What to do when the engine or its host was restarted."""
_LEFT_DOWN = SymptomType.NOT_STARTED_AGAIN.value
_OF_PROGRAMS = frozenset(("program_error", "program_reports_error"))
"""Causes that say of a container that its own log knows more: nothing that many could share."""
_NUMBERS_KEPT = 500
GONE_AT_MOST = 50
"""Members of an open incident that are gone from the host, the newest: jobs come and go while a failure lasts."""


class IncidentStep(StrEnum):
    """What has become of an incident."""

    OPENED = "opened"
    WORSE = "worse"
    JOINED = "joined"
    MERGED = "merged"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class IncidentNews:
    """A step of an incident, and the incident after it."""

    step: IncidentStep
    incident: Incident


@dataclass(frozen=True, slots=True)
class FoldedIncidents:
    """What a scan has made of the open incidents.

    Attributes:
        ended: Those that are over.
        entries: For the journal.
    """

    state: IncidentState
    ended: tuple[Incident, ...] = ()
    entries: tuple[JournalEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownPast:
    """What the journal and earlier incidents tell.

    Attributes:
        entries: Of the journal, of the time from half an hour before the oldest open incident, in any order.
        find_earlier: Returns ended incidents with the same project, root service or container, and code.
    """

    entries: Sequence[JournalEntry] = ()
    find_earlier: Callable[[IncidentRoot], SeenBefore] = lambda _: SeenBefore()


def observe_troubles(
    state: IncidentState, host: HostTroubles, past: KnownPast
) -> tuple[IncidentState, tuple[IncidentNews, ...]]:
    """Return the state after a scan, and what has become of incidents."""
    return _Fold(state, host, past).run()


def observe_outage(
    state: IncidentState, since: datetime, now: datetime, reason: str | None = None, past: KnownPast = KnownPast()
) -> tuple[IncidentState, tuple[IncidentNews, ...]]:
    """Return the state in which the engine that cannot be reached is an incident of the host; see `observe_troubles`.

    Args:
        state: The state before.
        since: When it was reached last, or when it was first missed.
        now: The wall clock.
        reason: Why it cannot be reached.
        past: For earlier incidents.
    """
    if is_outage_open(state):
        return state, ()
    return _Fold(state, HostTroubles(now, ()), past).take_outage(since, reason)


def is_outage_open(state: IncidentState) -> bool:
    """Return whether an incident of an engine that does not answer goes on: nothing is known of its containers."""
    return any(_is_of_host(tracked) and len(tracked.members) == 1 for tracked in state.open)


def is_ahead(state: IncidentState, now: datetime) -> bool:
    """Return whether a state knows times still to come: our clock was set back after they were noted."""
    well_since = (tracked.well_since for tracked in state.open if tracked.well_since is not None)
    return any(at > now for at in (*state.over.values(), *well_since))


def acknowledge(state: IncidentState, incident_id: str, at: datetime) -> IncidentState:
    """Return the state in which somebody is on an incident; one that was acknowledged keeps its time."""
    changed = tuple(
        one.model_copy(update={"incident": one.incident.model_copy(update={"acknowledged_at": at})})
        if one.incident.id == incident_id and one.incident.acknowledged_at is None
        else one
        for one in state.open
    )
    return state.model_copy(update={"open": changed})


class _Fold:
    """One scan's work on a copy of the state."""

    def __init__(self, state: IncidentState, host: HostTroubles, past: KnownPast) -> None:
        self._before = state
        self._host, self._past = host, past
        self._open = [_without_future(tracked, host.at) for tracked in state.open]
        self._over = {
            identity: min(since, host.at) for identity, since in state.over.items() if host.at - since < REMEMBERED_OVER
        }
        self._signs_ahead = self._find_signs_ahead()
        self._numbers = dict(state.numbers)
        self._news: list[IncidentNews] = []

    def run(self) -> tuple[IncidentState, tuple[IncidentNews, ...]]:
        groups = _group_by_root([trouble for trouble in self._host.troubles if not self._is_over(trouble)])
        if self._host.has_watched and (self._is_new_shutdown() or self._is_after_shutdown()):
            self._take_shutdown(groups)
        for root, group in groups.items():
            self._take_group(root, group)
        self._open = [
            self._without_long_gone(tracked) for one in self._open if (tracked := self._refresh(one)) is not None
        ]
        seen_until = self._host.shutdown_ended_at or self._before.shutdown_seen_until
        numbers = dict(list(self._numbers.items())[-_NUMBERS_KEPT:])
        state = IncidentState(
            open=tuple(self._open),
            over=self._over,
            signs_ahead=self._signs_ahead,
            numbers=numbers,
            shutdown_seen_until=seen_until,
        )
        newest = {tracked.incident.id: tracked.incident for tracked in self._open}
        return state, tuple(IncidentNews(one.step, newest.get(one.incident.id, one.incident)) for one in self._news)

    def _without_long_gone(self, tracked: TrackedIncident) -> TrackedIncident:
        lives = self._host.lives
        gone = [identity for identity in tracked.members[1:] if identity not in lives]
        if not lives or len(gone) <= GONE_AT_MOST:
            return tracked
        dropped = frozenset(gone[:-GONE_AT_MOST])
        kept = [pair for pair in zip(tracked.members, tracked.incident.members, strict=True) if pair[0] not in dropped]
        incident = tracked.incident.model_copy(update={"members": tuple(member for _, member in kept)})
        return tracked.model_copy(update={"incident": incident, "members": tuple(identity for identity, _ in kept)})

    def take_outage(self, since: datetime, reason: str | None) -> tuple[IncidentState, tuple[IncidentNews, ...]]:
        opened = self._start(_HOST, HOST_CODE, (), since)
        evidence = () if reason is None else (reason,)
        told = {
            "title": OUTAGE_TITLE,
            "severity": Severity.CRITICAL,
            "suggestions": OUTAGE_STEPS,
            "evidence": evidence,
        }
        incident = opened.model_copy(update=told)
        tracked = self._open.pop().model_copy(update={"incident": incident})
        before = self._before
        state = before.model_copy(update={"open": (*before.open, tracked), "numbers": self._numbers})
        return state, (IncidentNews(IncidentStep.OPENED, incident),)

    def _find_signs_ahead(self) -> dict[str, tuple[datetime, ...]]:
        """Return those of `IncidentState`, with what lies ahead of a clock that was just set back."""
        known = {
            identity: kept
            for identity, signs in self._before.signs_ahead.items()
            if (kept := tuple(at for at in signs if self._host.at - at < REMEMBERED_OVER))
        }
        for identity, life in self._host.lives.items() if self._host.is_set_back else ():
            ahead = tuple(at for at in life.signs if at > self._host.at)
            if ahead:
                known[identity] = tuple(dict.fromkeys((*known.get(identity, ()), *ahead)))
        return known

    def _is_over(self, trouble: Trouble) -> bool:
        """Whether it only shows what belongs to an incident that has ended."""
        since = self._over.get(trouble.who.identity)
        if since is None or trouble.goes_on:
            return False
        life = self._host.lives.get(trouble.who.identity)
        return life is not None and life.is_well and not self._has_new_sign(trouble.who.identity, life, since)

    def _has_new_sign(self, identity: str, life: Life, since: datetime) -> bool:
        """Whether something bad was seen of it after a time; what was known before our clock was set back is old."""
        old = self._signs_ahead.get(identity, ())
        return any(at > since and at not in old for at in life.signs)

    def _is_new_shutdown(self) -> bool:
        ended, seen = self._host.shutdown_ended_at, self._before.shutdown_seen_until
        return ended is not None and (seen is None or ended > seen)

    def _opens(self, root: Who, group: Sequence[Trouble]) -> bool:
        """Whether a group is bad enough for an incident and belongs to none yet."""
        known = {identity for tracked in self._open for identity in tracked.members}
        is_known = root.identity in known or any(trouble.who.identity in known for trouble in group)
        return not is_known and _is_failure(group)

    def _take_shutdown(self, groups: dict[Who, list[Trouble]]) -> None:
        """Make one incident of what did not come back with the engine or its host, and of what fails since.

        One of the host that is open is merged into it: it tells of more now.
        """
        taken = [root for root, group in groups.items() if any(map(self._was_left_down, group))]
        if taken or self._is_new_shutdown():
            taken += [
                root
                for root, group in groups.items()
                if root not in taken and self._is_after_shutdown() and self._opens(root, group)
            ]
        troubles = [trouble for root in taken for trouble in groups[root]]
        troubles = self._leave_elsewhere(troubles, *filter(_is_of_host, self._open))
        known = {identity for tracked in self._open for identity in tracked.members}
        if all(trouble.who.identity in known for trouble in troubles):
            return
        for root in taken:
            del groups[root]
        earlier = [tracked for tracked in self._open if _is_of_host(tracked)]
        if earlier:
            self._merge(earlier, _HOST, troubles, HOST_CODE)
        else:
            self._start(_HOST, HOST_CODE, troubles, self._back_at())

    def _was_left_down(self, trouble: Trouble) -> bool:
        """Whether the engine that came back has left it down, and that is news: what was down before is none."""
        since = self._back_at() if self._is_new_shutdown() else self._host.at
        return _LEFT_DOWN in trouble.codes and since is not None and trouble.since >= since

    def _back_at(self) -> datetime | None:
        """Return when the engine or its host came back; the scan's start where the scan began before and waited.

        What such a scan sees first is as old as its start.
        """
        ended = self._host.shutdown_ended_at
        return None if ended is None else min(ended, self._host.at)

    def _take_group(self, root: Who, group: Sequence[Trouble]) -> None:
        own = self._find_open(lambda tracked: root.identity in tracked.members)
        suffering = {trouble.who.identity for trouble in group}
        mistaken = [
            tracked
            for tracked in self._open
            if tracked is not own and tracked.members and tracked.members[0] in suffering
        ]
        young = [tracked for tracked in mistaken if self._host.at - tracked.incident.started_at <= MERGED_WITHIN]
        unwell = next((tracked for tracked in mistaken if not self._was_well(tracked)), None)
        if own is not None:
            self._merge_into(own.incident.id, young, self._leave_elsewhere(group, own, *young))
        elif young:
            self._merge(young, root, group)
        elif unwell is not None and not _fails_itself(root, group):
            rest = self._leave_elsewhere(group, unwell)
            self._join(unwell, [trouble for trouble in rest if trouble.who.identity != root.identity])
        elif _is_failure(group) and self._is_after_shutdown() and (host := self._find_open(_is_of_host)) is not None:
            self._join(host, self._leave_elsewhere(group, host))
        elif unwell is not None:
            self._start(root, _code_of(root, group), self._leave_elsewhere(group))
        elif _is_failure(group):
            for tracked in mistaken:  # all of it was well before this began
                self._open.remove(tracked)
                self._close(tracked, tracked.well_since or self._host.at)
            self._start(root, _code_of(root, group), group)

    def _is_after_shutdown(self) -> bool:
        ended = self._host.shutdown_ended_at
        return ended is not None and self._host.at - ended < AFTER_SHUTDOWN

    def _find_open(self, matches: Callable[[TrackedIncident], bool]) -> TrackedIncident | None:
        return next((tracked for tracked in self._open if matches(tracked)), None)

    def _leave_elsewhere(self, group: Sequence[Trouble], *here: TrackedIncident) -> list[Trouble]:
        """Let the troubles of members of other incidents than these stay there; return the rest."""
        rest = []
        for trouble in group:
            known = next((one for one in self._open if trouble.who.identity in one.members), None)
            if known is None or known in here:
                rest.append(trouble)
            else:
                self._join(known, (trouble,))
        return rest

    def _start(self, root: Who, code: str, group: Sequence[Trouble], started_at: datetime | None = None) -> Incident:
        started_at = started_at or min((trouble.since for trouble in group), default=self._host.at)
        named = IncidentRoot(container=root.container, project=root.project, service=root.service, code=code)
        own = next((trouble for trouble in group if trouble.who.identity == root.identity), None)
        others = [trouble for trouble in group if trouble is not own]
        member = IncidentMember(
            container=root.container,
            project=root.project,
            service=root.service,
            role="root",
            symptoms=own.codes if own is not None else (),
            since=own.since if own is not None else started_at,
        )
        incident = Incident(
            id=self._number(named),
            started_at=started_at,
            severity=_worst(group),
            root=named,
            title="",
            members=(member,),
            seen_before=self._past.find_earlier(named),
        )
        tracked = TrackedIncident(incident=incident, members=(root.identity,))
        self._open.append(tracked)
        tracked = self._join(tracked, [trouble for trouble in (own, *others) if trouble is not None], is_new=True)
        self._news.append(IncidentNews(IncidentStep.OPENED, tracked.incident))
        return tracked.incident

    def _merge(
        self, young: Sequence[TrackedIncident], root: Who, group: Sequence[Trouble], code: str | None = None
    ) -> None:
        """Open the root's incident, and let those end that turned out to be consequences of it."""
        started_at = min(one.incident.started_at for one in young)
        self._open = [tracked for tracked in self._open if tracked not in young]
        started_at = min([started_at, *(one.since for one in group)])
        merged = self._start(root, code or _code_of(root, group), group, started_at)
        self._keep_acknowledgement(merged, young)
        self._end_merged(merged.id, young)

    def _keep_acknowledgement(self, merged: Incident, young: Sequence[TrackedIncident]) -> None:
        """Leave it to whoever is on all that were merged into it, unless it is worse than they were."""
        times = [one.incident.acknowledged_at for one in young]
        worst = max(one.incident.severity.rank for one in young)
        if merged.severity.rank <= worst and None not in times:
            at = max(at for at in times if at is not None)
            self._open = list(acknowledge(IncidentState(open=tuple(self._open)), merged.id, at).open)

    def _merge_into(self, incident_id: str, young: Sequence[TrackedIncident], group: Sequence[Trouble]) -> None:
        """Let a group join the root's incident, with the incidents that turned out to be consequences of it."""
        self._open = [tracked for tracked in self._open if tracked not in young]
        self._join(next(tracked for tracked in self._open if tracked.incident.id == incident_id), group)
        self._end_merged(incident_id, young)

    def _end_merged(self, incident_id: str, young: Sequence[TrackedIncident]) -> None:
        for tracked in young:
            self._keep_members(incident_id, tracked)
            ended = tracked.incident.model_copy(update={"merged_into": incident_id, "ended_at": self._host.at})
            self._news.append(IncidentNews(IncidentStep.MERGED, ended))

    def _keep_members(self, incident_id: str, young: TrackedIncident) -> None:
        """Add the members of a merged incident that this scan does not show any more."""
        tracked = next(tracked for tracked in self._open if tracked.incident.id == incident_id)
        pairs = list(zip(young.members, young.incident.members, strict=True))
        gone = [pair for pair in pairs if pair[0] not in tracked.members]
        members = (
            *tracked.incident.members,
            *(member.model_copy(update={"role": "suffers"}) for _, member in gone),
        )
        title = name_incident(tracked.incident.root, members)
        incident = tracked.incident.model_copy(update={"members": members, "title": title})
        identities = (*tracked.members, *(identity for identity, _ in gone))
        self._open[self._open.index(tracked)] = tracked.model_copy(update={"incident": incident, "members": identities})

    def _join(self, tracked: TrackedIncident, group: Iterable[Trouble], *, is_new: bool = False) -> TrackedIncident:
        """Add troubles to an incident; one that belongs to another incident stays there."""
        elsewhere = {identity for other in self._open if other is not tracked for identity in other.members}
        members, identities = list(tracked.incident.members), list(tracked.members)
        severity, grew = tracked.incident.severity, False
        for trouble in group:
            who = trouble.who
            if who.identity in identities:
                place = identities.index(who.identity)
                codes = tuple(dict.fromkeys((*members[place].symptoms, *trouble.codes)))
                members[place] = members[place].model_copy(update={"symptoms": codes})
            elif who.identity not in elsewhere:
                grew = True
                identities.append(who.identity)
                members.append(
                    IncidentMember(
                        container=who.container,
                        project=who.project,
                        service=who.service,
                        role="suffers",
                        symptoms=trouble.codes,
                        since=trouble.since,
                    )
                )
            severity = max(severity, trouble.severity, key=lambda one: one.rank)
        told = self._describe(tracked.incident, members, group)
        is_worse = severity.rank > tracked.incident.severity.rank
        acknowledged_at = None if is_worse else tracked.incident.acknowledged_at
        news = {"members": tuple(members), "severity": severity, "acknowledged_at": acknowledged_at, **told}
        incident = tracked.incident.model_copy(update=news)
        after = tracked.model_copy(update={"incident": incident, "members": tuple(identities)})
        self._open[self._open.index(tracked)] = after
        if not is_new and is_worse:
            self._news.append(IncidentNews(IncidentStep.WORSE, incident))
        elif not is_new and grew:
            self._news.append(IncidentNews(IncidentStep.JOINED, incident))
        return after

    def _describe(
        self, incident: Incident, members: Sequence[IncidentMember], group: Iterable[Trouble]
    ) -> dict[str, object]:
        """Return title, causes, steps and evidence; what the root's own trouble says wins."""
        if incident.root.code == HOST_CODE:
            return self._describe_host(incident, members, tuple(group))
        ordered = sorted(group, key=lambda trouble: _distance_to(incident.root, trouble))
        first = ordered[0] if ordered else None
        log_line = _pick_log_line(incident, first)
        evidence = [log_line] if log_line else []
        evidence += [*incident.evidence, *(line for trouble in ordered for line in trouble.evidence)]
        return {
            "title": name_incident(incident.root, members),
            "causes": first.causes if first is not None and first.causes else incident.causes,
            "suggestions": first.suggestions if first is not None and first.suggestions else incident.suggestions,
            "evidence": fold_evidence(evidence),
            "log_line": log_line,
        }

    def _describe_host(
        self, incident: Incident, members: Sequence[IncidentMember], group: Sequence[Trouble]
    ) -> dict[str, object]:
        """Return the same of the host as a whole: what one container says of itself is not why all of them failed."""
        failing = (trouble for trouble in group if _LEFT_DOWN not in trouble.codes)
        evidence = fold_evidence((*incident.evidence, *(line for trouble in failing for line in trouble.evidence)))
        return {
            "title": name_incident(incident.root, members),
            "causes": _find_shared_causes(group) or incident.causes,
            "suggestions": RESTART_STEPS,
            "evidence": evidence,
        }

    def _number(self, root: IncidentRoot) -> str:
        name = "".join(char if char.isascii() and (char.isalnum() or char in "_.-") else "-" for char in root.name)
        base = f"{self._host.at:%Y-%m-%d}-{name.replace(' ', '-')}-{root.code}"
        number = self._numbers.pop(base, 0) + 1
        self._numbers[base] = number
        return f"{base}-{number}"

    def _refresh(self, tracked: TrackedIncident) -> TrackedIncident | None:
        """Look for what changed before, and for the end; None once it is over."""
        incident = tracked.incident
        peers = frozenset(cause.peer for cause in incident.causes if cause.peer is not None)
        surroundings = Surroundings(self._host.attachments, peers)
        known = incident.changes
        changes = find_changes(self._past.entries, incident.root, incident.started_at, surroundings, known)
        if changes != incident.changes:
            incident = incident.model_copy(update={"changes": changes})
        if not self._is_well(tracked):
            return tracked.model_copy(update={"incident": incident, "well_since": None, "was_a_pause": False})
        since = tracked.well_since or self._host.at
        is_silent = not self._shows_new_sign(tracked, since)
        since = since if is_silent else self._host.at
        was_paused = began_in_a_pause(self._past.entries, incident.root, incident.started_at, surroundings)
        if self._host.at - since < WELL_FOR:  # so at least the second scan in a row shows it
            news = {"incident": incident, "well_since": since, "was_a_pause": is_silent and was_paused}
            return tracked.model_copy(update=news)
        self._close(tracked.model_copy(update={"incident": incident}), since)
        return None

    def _close(self, tracked: TrackedIncident, since: datetime) -> None:
        incident = tracked.incident
        is_left = any(self._is_left_as_it_was(identity) for identity in tracked.members)
        life = self._host.lives.get(tracked.members[0])
        if life is not None and life.is_job and not is_left:
            ended_by: EndedBy | None = EndedBy.BY_ITSELF  # what was removed and started was another run each time
        else:
            ended_by = find_end(self._past.entries, incident.root, incident.started_at, self._host.at)
        ended_by = None if is_left else ended_by
        closed = incident.model_copy(update={"ended_at": since, "ended_by": ended_by})
        self._news.append(IncidentNews(IncidentStep.CLOSED, closed))
        self._over.update(dict.fromkeys(tracked.members, since))

    def _is_left_as_it_was(self, identity: str) -> bool:
        """Whether a member is as broken as before and only so old that nothing is said of it any more."""
        life = self._host.lives.get(identity)
        return life is not None and life.is_history

    def _is_well(self, tracked: TrackedIncident) -> bool:
        troubles = {trouble.who.identity: trouble for trouble in self._host.troubles}
        return all(self._is_member_well(identity, troubles.get(identity)) for identity in tracked.members) and not any(
            map(self._may_be_missed, tracked.incident.members)
        )

    def _is_member_well(self, identity: str, trouble: Trouble | None) -> bool:
        """Whether a member runs and is not unhealthy, and nothing of its trouble goes on; one that is gone is over."""
        if trouble is not None and trouble.goes_on:
            return False
        life = self._host.lives.get(identity)
        if life is None:
            return trouble is None or trouble.severity.rank < Severity.ERROR.rank
        return life.is_well

    def _shows_new_sign(self, tracked: TrackedIncident, since: datetime) -> bool:
        """Whether a member that is still in trouble has shown a sign of it after a time."""
        lives = self._host.lives
        return any(
            trouble.who.identity in tracked.members
            and trouble.who.identity in lives
            and self._has_new_sign(trouble.who.identity, lives[trouble.who.identity], since)
            for trouble in self._host.troubles
        )

    def _was_well(self, tracked: TrackedIncident) -> bool:
        """Whether all members were well before this scan, and have been silent for two minutes."""
        return tracked.well_since is not None and not self._shows_new_sign(tracked, self._host.at - WELL_FOR)

    def _may_be_missed(self, member: IncidentMember) -> bool:
        """Whether it was missing or down when its files were read last, and nothing shows that it is not any more."""
        services = self._host.unknown_drift.get(member.project or "")
        if services is None or member.service is None:
            return False
        down = DriftType.NOT_RUNNING in member.symptoms and not services.get(member.service, False)
        return down or (DriftType.MISSING_SERVICE in member.symptoms and member.service not in services)


def _without_future(tracked: TrackedIncident, now: datetime) -> TrackedIncident:
    """Let the time for which all members are well begin anew where our clock was set back to before its start."""
    if tracked.well_since is None or tracked.well_since <= now:
        return tracked
    return tracked.model_copy(update={"well_since": now})


def _group_by_root(troubles: Iterable[Trouble]) -> dict[Who, list[Trouble]]:
    """Return the troubles by who is at their root, in order.

    A root that shows no trouble, and of which no cause is sure, is none: the first that suffers stands in for it, as it
    does for one outside of Docker that several miss.
    """
    own = {trouble.who.identity: trouble for trouble in sorted(troubles, key=lambda trouble: trouble.since)}
    groups: dict[Who, list[Trouble]] = {}
    stand_ins: dict[str, Who] = {}
    for trouble in own.values():
        root, outside = trouble.root, _find_outside_peer(trouble)
        if root is None and outside is not None:
            groups.setdefault(stand_ins.setdefault(outside, trouble.who), []).append(trouble)
        elif root is None:
            groups.setdefault(trouble.who, []).append(trouble)
        elif root.identity in own:
            groups.setdefault(own[root.identity].who, []).append(trouble)
        elif any(other.root_code for other in own.values() if other.root == root):
            groups.setdefault(root, []).append(trouble)
        else:
            groups.setdefault(stand_ins.setdefault(root.identity, trouble.who), []).append(trouble)
    return groups


def _find_outside_peer(trouble: Trouble) -> str | None:
    """Return whom outside of Docker it misses; None for nobody."""
    peers = (cause.peer for cause in trouble.causes if cause.id == OUTSIDE_PEER)
    return next((f"outside {peer}" for peer in peers if peer is not None), None)


def _code_of(root: Who, group: Sequence[Trouble]) -> str:
    own = next((trouble for trouble in group if trouble.who.identity == root.identity), None)
    if own is not None:
        return own.codes[0]
    return next((trouble.root_code for trouble in group if trouble.root_code), "unknown")


def _fails_itself(root: Who, group: Sequence[Trouble]) -> bool:
    return any(one.who.identity == root.identity and one.severity.rank >= Severity.ERROR.rank for one in group)


def _is_failure(group: Sequence[Trouble]) -> bool:
    return _worst(group).rank >= Severity.ERROR.rank


def _worst(group: Sequence[Trouble]) -> Severity:
    return max((trouble.severity for trouble in group), key=lambda severity: severity.rank, default=Severity.ERROR)


def _distance_to(root: IncidentRoot, trouble: Trouble) -> int:
    """Return 0 for the root's own trouble, 1 where its likeliest cause names the root, 2 for what is further away."""
    if trouble.who.container == root.container:
        return 0
    return 1 if root.container is not None and any(cause.peer == root.container for cause in trouble.causes[:1]) else 2


def _find_shared_causes(group: Sequence[Trouble]) -> tuple[LikelyCause, ...]:
    """Return the causes that most of several containers have, without evidence; none that names another container.

    Of an engine that left down a single one, that one's cause is the host's too.
    """
    told = [{cause.id: cause for cause in trouble.causes if cause.peer is None} for trouble in group]
    counts = Counter(name for causes in told for name in causes if name not in _OF_PROGRAMS)
    known = {name: cause for causes in told for name, cause in causes.items()}
    is_one = len(group) > 1 or any(_LEFT_DOWN in trouble.codes for trouble in group)
    shared = (name for name, count in counts.most_common() if is_one and count * 2 > len(group))
    return tuple(known[name].model_copy(update={"evidence": ()}) for name in shared)


def _is_of_host(tracked: TrackedIncident) -> bool:
    return tracked.incident.root.code == HOST_CODE


def _pick_log_line(incident: Incident, first: Trouble | None) -> str:
    """Return the line of a log that decided the cause, which is the root's, or of who shows its trouble without it.

    What a victim writes decided nothing of its root. What decided stays while the cause does: the log moves on.
    """
    if first is None:
        return incident.log_line
    is_same_cause = [cause.id for cause in first.causes[:1]] == [cause.id for cause in incident.causes[:1]]
    return first.log_line or (incident.log_line if is_same_cause or not first.causes else "")


def journal_step(news: IncidentNews, now: datetime) -> JournalEntry | None:
    """Return the journal's entry of a step; who joined and what grew worse stands in the incident."""
    incident = news.incident
    match news.step:
        case IncidentStep.OPENED:
            kind, at, text = JournalKind.INCIDENT_OPEN, now, f"incident {incident.id}: {incident.title}"
        case IncidentStep.MERGED:
            kind, at = JournalKind.INCIDENT_CLOSE, now
            text = f"incident {incident.id} turned out to be a part of {incident.merged_into}"
        case IncidentStep.CLOSED:
            lasted = show_duration(((incident.ended_at or now) - incident.started_at).total_seconds())
            kind, at = JournalKind.INCIDENT_CLOSE, now
            if incident.ended_by is None:
                text = f"incident {incident.id} is told no more after {lasted}: {NOT_MENDED}"
            else:
                text = f"incident {incident.id} is over after {lasted}: {ENDED_BY[incident.ended_by]}"
        case _:
            return None
    root = incident.root
    return JournalEntry(
        at=at,
        kind=kind,
        project=root.project,
        service=root.service,
        container=root.container,
        code=root.code,
        severity=incident.severity if kind is JournalKind.INCIDENT_OPEN else None,
        text=text,
        data={"incident": incident.id},
    )
