"""Which alerts wait, fire and have ended: one step from the open incidents of a moment to the next state.

An alert of an incident keeps its labels, hence its fingerprint, and its start until it ends, over restarts too: what it
says may change, also when its incident turns out to be a part of another one. Its labels name the root alone: an
exporter that remembers nothing tells Alertmanager of the same failure by the same fingerprint.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import Field

from bcon_exporter.errors import StateFileError
from bcon_exporter.incidents import follow_merges, has_waited, waits_for_first_look
from bcon_exporter.model.base import Frozen, UtcDatetime
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.incidents import FirstLook, Incident

Labels = tuple[tuple[str, str], ...]

INCIDENT_ALERT = "BconIncident"
RESOLVED_FOR = timedelta(minutes=15)
FORGOTTEN_AFTER = timedelta(hours=1)
"""What is wrong with the exporter itself begins anew when it was away for longer; incidents are remembered."""


class AlertSeverity(StrEnum):
    """How urgently somebody should be told: at once, today, now and then; "none" is for the dead man's switch."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"
    NONE = "none"


class PushedAlert(Frozen):
    """One alert: it waits until `fired_at` is set, fires until `resolved_at` is.

    Attributes:
        labels: Beside name and severity, sorted.
        since: When its incident started, or its condition came true.
        seen_at: When it was first looked at.
        seen_in: The diagnosis of then, by when it had ended; None before the first.
        incident: The incident that it speaks of now; None for the exporter's own.
        annotations: Its texts.
    """

    name: str
    severity: AlertSeverity
    labels: Labels = ()
    since: UtcDatetime
    seen_at: UtcDatetime
    seen_in: UtcDatetime | None = None
    fired_at: UtcDatetime | None = None
    resolved_at: UtcDatetime | None = None
    incident: str | None = None
    annotations: dict[str, str] = Field(default_factory=dict)

    @property
    def is_firing(self) -> bool:
        """True from the end of its wait to its resolve."""
        return self.fired_at is not None and self.resolved_at is None

    @property
    def starts_at(self) -> datetime | None:
        """What an Alertmanager is told: when its incident started, else when it fired; None while it waits."""
        return self.since if self.fired_at is not None and self.incident is not None else self.fired_at


class AlertState(Frozen):
    """All alerts; everything that must outlive a restart."""

    at: UtcDatetime
    alerts: tuple[PushedAlert, ...] = ()

    @property
    def firing(self) -> tuple[PushedAlert, ...]:
        """The alerts that fire."""
        return tuple(alert for alert in self.alerts if alert.is_firing)


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is wrong with the exporter or what it watches as a whole, now.

    Attributes:
        wait: It fires when it has been so for so long.
        is_muted: Nobody is to be told of it now: it does not begin to fire. One that fires goes on.
    """

    name: str
    severity: AlertSeverity
    wait: timedelta
    annotations: Mapping[str, str]
    labels: Labels = ()
    is_muted: bool = False


@dataclass(frozen=True, slots=True)
class AlertInputs:
    """What alerts are made of at a moment.

    Attributes:
        open_incidents: Oldest first.
        find_ended: Returns an incident that is over; None when it is not known. May raise a StateFileError.
        is_muted: Whether nobody is to be told of an incident now.
        label, describe: Return an incident's labels and texts.
        scanned_at: When the newest diagnosis ended.
        interval: Between two diagnoses.
        first_look: See `FirstLook`; None where an earlier process has watched.
        pauses: Ids of incidents that are no news as long as they were not told; see `TrackedIncident.was_a_pause`.
    """

    now: datetime
    conditions: tuple[Condition, ...] = ()
    open_incidents: tuple[Incident, ...] = ()
    find_ended: Callable[[str], Incident | None] = lambda _: None
    is_muted: Callable[[Incident], bool] = lambda _: False
    label: Callable[[Incident], Labels] = lambda incident: (("container", incident.root.name),)
    describe: Callable[[Incident], dict[str, str]] = field(default=lambda incident: {"summary": incident.title})
    scanned_at: datetime | None = None
    interval: timedelta = timedelta(seconds=30)
    first_look: FirstLook | None = None
    pauses: frozenset[str] = frozenset()


def follow_alerts(state: AlertState | None, inputs: AlertInputs) -> AlertState:
    """Return the alerts of this moment; `state` are those of the moment before."""
    now, before = inputs.now, () if state is None else state.alerts
    is_known = state is not None and now - state.at <= FORGOTTEN_AFTER
    ended = [a for a in before if a.resolved_at is not None and now - a.resolved_at <= RESOLVED_FOR]
    own = [a for a in before if a.resolved_at is None and a.incident is None and is_known]
    of_incidents = [a for a in before if a.resolved_at is None and a.incident is not None]
    alerts = [*_follow_conditions(own, inputs), *_follow_incidents(of_incidents, inputs)]
    firing_again = {(a.name, a.severity, a.labels) for a in alerts if a.is_firing}
    ended = [a for a in ended if (a.name, a.severity, a.labels) not in firing_again]
    return AlertState(at=now, alerts=(*alerts, *ended))


def _follow_conditions(before: Iterable[PushedAlert], inputs: AlertInputs) -> list[PushedAlert]:
    now, known = inputs.now, {(a.name, a.labels): a for a in before}
    alerts: list[PushedAlert] = []
    for condition in inputs.conditions:
        earlier = known.pop((condition.name, condition.labels), None) or PushedAlert(
            name=condition.name, severity=condition.severity, labels=condition.labels, since=now, seen_at=now
        )
        may_fire = now - earlier.since >= condition.wait and not condition.is_muted
        fired_at = earlier.fired_at or (now if may_fire else None)
        texts = dict(condition.annotations)
        alerts.append(earlier.model_copy(update={"fired_at": fired_at, "annotations": texts}))
    return [*alerts, *(_end(alert, now) for alert in known.values() if alert.fired_at is not None)]


def _end(alert: PushedAlert, at: datetime) -> PushedAlert:
    return alert.model_copy(update={"resolved_at": at})


def _follow_incidents(before: Iterable[PushedAlert], inputs: AlertInputs) -> list[PushedAlert]:
    open_ids = {incident.id for incident in inputs.open_incidents}
    by_incident: dict[str, list[PushedAlert]] = {}
    alerts: list[PushedAlert] = []
    for alert in before:
        try:
            incident_id, ended = follow_merges(alert.incident or "", open_ids, inputs.find_ended)
        except StateFileError:
            alerts.append(alert)  # it may go on as a part of another incident
            continue
        if incident_id in open_ids:
            by_incident.setdefault(incident_id, []).append(alert.model_copy(update={"incident": incident_id}))
        elif alert.fired_at is not None:
            ended_at = None if ended is None else ended.ended_at
            alerts.append(_end(alert, ended_at or inputs.now))
    for incident in inputs.open_incidents:
        alerts += _follow_incident(incident, by_incident.get(incident.id, []), inputs)
    return alerts


def _follow_incident(incident: Incident, alerts: list[PushedAlert], inputs: AlertInputs) -> list[PushedAlert]:
    """Return the alerts of an open incident: one, and when it grew worse after it was told, one more.

    The lesser one goes on: its end would say that the failure is over. Of several that were told before their incidents
    were merged the oldest stands for all.
    """
    severity = AlertSeverity.CRITICAL if incident.severity is Severity.CRITICAL else AlertSeverity.WARNING
    told = sorted((a for a in alerts if a.fired_at is not None), key=lambda a: a.fired_at or a.seen_at)
    waiting = [a for a in alerts if a.fired_at is None]
    kept: dict[AlertSeverity, PushedAlert] = {}
    over = []
    for alert in told:
        if alert.severity in kept:
            over.append(_end(alert, inputs.now))
        else:
            kept[alert.severity] = alert
    current = list(kept.values())
    if severity not in kept and AlertSeverity.CRITICAL not in kept:
        current.append(_open_alert(incident, severity, waiting, inputs))
    texts = inputs.describe(incident)
    return [*(alert.model_copy(update={"annotations": texts}) for alert in current), *over]


def _open_alert(
    incident: Incident, severity: AlertSeverity, waiting: list[PushedAlert], inputs: AlertInputs
) -> PushedAlert:
    """Return the alert that waits for its opening, or fires now; those that waited before count for its wait."""
    first = min(waiting, key=lambda alert: alert.seen_at, default=None)
    alert = PushedAlert(
        name=INCIDENT_ALERT,
        severity=severity,
        labels=inputs.label(incident),
        since=incident.started_at,
        seen_at=inputs.now if first is None else first.seen_at,
        seen_in=inputs.scanned_at if first is None else first.seen_in,
        incident=incident.id,
    )
    now, scanned_at = inputs.now, inputs.scanned_at
    waited = has_waited(incident.severity, alert.seen_at, alert.seen_in, now, scanned_at, inputs.interval)
    look = inputs.first_look
    if look is not None and look.includes(incident, now):
        waited = not waits_for_first_look(look, incident, now, inputs.interval)
    if inputs.is_muted(incident) or incident.id in inputs.pauses or not waited:
        return alert
    return alert.model_copy(update={"fired_at": inputs.now})
