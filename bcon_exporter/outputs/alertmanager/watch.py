"""Follows the incidents after each scan and at least once a minute, in a thread of its own: scans never wait for it."""

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import ValidationError

from bcon_exporter.alerting import (
    AlertInputs,
    AlertSeverity,
    AlertState,
    Counters,
    PushedAlert,
    follow_alerts,
    remember_counters,
)
from bcon_exporter.incidents import is_muted
from bcon_exporter.latest_scans import AlertRound
from bcon_exporter.model.alerts import Alert, AlertPhase, AlertsReport, MessageReceiverState
from bcon_exporter.outputs.alertmanager.conditions import count_troubles, find_conditions
from bcon_exporter.outputs.alertmanager.delivery import Alertmanager
from bcon_exporter.outputs.alertmanager.payload import Identity, write_payload
from bcon_exporter.outputs.alertmanager.pusher import Pusher
from bcon_exporter.outputs.alertmanager.wording import describe_incident, label_incident
from bcon_exporter.outputs.metrics import Exposition, OwnState
from bcon_exporter.outputs.metrics.own_samples import AlertCounts
from bcon_exporter.tools import Context
from bcon_exporter.tools.incidents import find_pauses
from bcon_exporter.tools.quiet import find_quiet_now

_log = logging.getLogger(__name__)

LONGEST_PAUSE_SECONDS = 60.0
OPENING_PAUSE_SECONDS = 2.0
"""While something critical waits to be told, which it does for ten seconds at most."""
KEPT_ANEW_AFTER = timedelta(minutes=5)
_SEVERITIES = tuple(AlertSeverity)
_PHASES: tuple[AlertPhase, ...] = ("firing", "pending", "resolved")
_HERE = "this host"


@dataclass(frozen=True, slots=True)
class Pace:
    """The interval of the diagnosis in force."""

    interval_seconds: float

    @property
    def pause_seconds(self) -> float:
        """Longest time between two rounds, also when no scan ends: a hung engine must be told of."""
        return min(1.5 * self.interval_seconds, LONGEST_PAUSE_SECONDS)


class AlertWatch:
    """Keeps the alerts: judges, remembers, shows and pushes them.

    Args:
        context: Returns the context in force.
        exposition, own: What /metrics shows.
        pace: Returns the pace in force.
        identity: Returns who pushes; None where nobody asked for a push.
        alertmanagers: Where to.
        watch_outage: Opens an incident when the engine has been away for a while; takes and returns since when it is.
        receivers: Returns how messages to each receiver are doing, which is shown beside.
    """

    def __init__(  # noqa: PLR0913 -- put together in one place
        self,
        context: Callable[[], Context],
        metrics: tuple[Exposition, OwnState],
        pace: Callable[[], Pace],
        identity: Callable[[], Identity | None] = lambda: None,
        alertmanagers: Iterable[Alertmanager] = (),
        *,
        watch_outage: Callable[[Context, datetime | None], datetime | None] = lambda *_: None,
        receivers: Callable[[], tuple[MessageReceiverState, ...]] = tuple,
    ) -> None:
        self._context = context
        self._exposition, self._own = metrics
        self._pace = pace
        self._identity = identity
        self._pushers = tuple(Pusher(each, lambda: self._context().now()) for each in alertmanagers)
        self._news = threading.Event()
        self._stopped = False
        self._state: AlertState | None = None
        self._kept: AlertState | None = None
        self._counters: Counters = ()
        self._watch_outage, self._receivers = watch_outage, receivers
        self._away_since: datetime | None = None

    def start(self) -> None:
        """Start judging and pushing."""
        self.load()
        self.start_pushing()
        threading.Thread(target=self._run, name="alerts", daemon=True).start()

    def load(self) -> None:
        """Take up the alerts of the time before a restart."""
        self._state = _parse_state(self._context().memory.memory.alerts)

    def start_pushing(self) -> None:
        """Start a thread for each Alertmanager."""
        for pusher in self._pushers:
            pusher.start()

    def wake(self) -> None:
        """Tell that a scan has ended."""
        self._news.set()

    def stop(self) -> None:
        """Judge and push no more; the alerts stay alive for a while, so that a restart ends none."""
        self._stopped = True
        self._news.set()
        for pusher in self._pushers:
            pusher.stop()

    def counts(self) -> AlertCounts:
        """Return what fires and how pushing goes."""
        state = self._state
        return AlertCounts(
            firing=None if state is None else len(state.firing),
            pushed={each.state.url: (each.rounds, each.failures) for each in self._pushers},
        )

    def _run(self) -> None:
        while not self._stopped:
            with self._context().errors.contained("judging the alerts"):
                self.judge()
            self._news.wait(self._pause_seconds())
            self._news.clear()

    def _pause_seconds(self) -> float:
        alerts = self._state.alerts if self._state is not None else ()
        is_urgent = any(alert.fired_at is None and alert.severity is AlertSeverity.CRITICAL for alert in alerts)
        pause_seconds = self._pace().pause_seconds
        return min(OPENING_PAUSE_SECONDS, pause_seconds) if is_urgent else pause_seconds

    def judge(self) -> None:
        """Follow the incidents for one round, publish it, keep it and hand it to the pushers."""
        context = self._context()
        self._away_since = self._watch_outage(context, self._away_since)
        now, who = context.now(), self._identity()
        self._counters = remember_counters(self._counters, count_troubles(context, self._own), now)
        state = follow_alerts(self._state, self._collect_inputs(context, now, who))
        self._state = state
        self._keep(context, state, now)
        report = AlertsReport(
            timestamp=now,
            alerts=show_alerts(state),
            alertmanagers=tuple(each.state for each in self._pushers),
            receivers=self._receivers(),
        )
        context.scans.publish_alerts(AlertRound(report, context.monotonic()))
        if who is not None:
            interval = timedelta(seconds=self._pace().interval_seconds)
            payload = write_payload(state, now, interval, who)
            for pusher in self._pushers:
                pusher.offer(payload)

    def _collect_inputs(self, context: Context, now: datetime, who: Identity | None) -> AlertInputs:
        here, scan = who.instance if who is not None else _HERE, context.scans.diagnosis
        addresses, muting = self._own.addresses, find_quiet_now(context)
        dropped = self._exposition.moment().series_dropped
        return AlertInputs(
            now=now,
            conditions=find_conditions(context, self._own, self._counters, dropped, here),
            open_incidents=tuple(tracked.incident for tracked in context.memory.memory.incidents.open),
            find_ended=context.memory.find_ended_incident,
            is_muted=lambda incident: is_muted(incident, muting, now),
            label=label_incident,
            describe=lambda incident: describe_incident(incident, here, addresses, context.to_local),
            scanned_at=scan.finished_at if scan is not None else None,
            interval=timedelta(seconds=self._pace().interval_seconds),
            first_look=context.scans.first_look,
            pauses=find_pauses(context),
        )

    def _keep(self, context: Context, state: AlertState, now: datetime) -> None:
        """Write the state where a restart finds it: when it changed, and once in a while to say that we are here."""
        kept = self._kept
        if kept is not None and now - kept.at < KEPT_ANEW_AFTER and _bare(kept) == _bare(state):
            return
        context.memory.keep_alerts(state.model_dump_json(), now)
        self._kept = state


def _bare(state: AlertState) -> tuple[object, ...]:
    """Return what of a state must not be lost; texts change with every scan."""
    return tuple(alert.model_copy(update={"annotations": {}}) for alert in state.alerts)


def _parse_state(written: str | None) -> AlertState | None:
    """Return the state that was kept; None for none, and for one that another version wrote otherwise."""
    if written is None:
        return None
    try:
        return AlertState.model_validate_json(written)
    except ValidationError:
        _log.warning("the alerts of before the restart cannot be read; they begin anew")
        return None


def show_alerts(state: AlertState) -> tuple[Alert, ...]:
    """Return the alerts for people: firing ones first, the most severe first."""
    shown = (_show(each) for each in state.alerts)
    return tuple(
        sorted(
            shown,
            key=lambda one: (
                _PHASES.index(one.state),
                _SEVERITIES.index(one.severity),
                one.name,
                tuple(one.labels.values()),
            ),
        )
    )


def _show(one: PushedAlert) -> Alert:
    phase: AlertPhase = "pending" if one.fired_at is None else "resolved" if one.resolved_at is not None else "firing"
    return Alert(
        name=one.name,
        severity=one.severity,
        state=phase,
        labels=dict(one.labels),
        annotations=one.annotations,
        since=one.since,
        fired_at=one.fired_at,
        resolved_at=one.resolved_at,
    )
