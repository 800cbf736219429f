"""Judges the alerts after each scan and at least once a minute, in a thread of its own: scans never wait for it."""

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import ValidationError

from bcon_exporter import RUNBOOKS_URL
from bcon_exporter.alerting import AlertState, Counters, Labels, Tracked, Watched, remember_counters, step
from bcon_exporter.model.alerts import Alert, AlertPhase, AlertsReport
from bcon_exporter.outputs.alertmanager.delivery import Alertmanager
from bcon_exporter.outputs.alertmanager.payload import Identity, write_payload
from bcon_exporter.outputs.alertmanager.pusher import Pusher
from bcon_exporter.outputs.alertmanager.samples import (
    DiagnosisRead,
    container_of,
    drift_vectors,
    read_diagnosis,
    row_vectors,
)
from bcon_exporter.outputs.alertmanager.wording import Wording
from bcon_exporter.outputs.metrics import Exposition, OwnState
from bcon_exporter.outputs.metrics.own import AlertCounts
from bcon_exporter.store import AlertRound, DiagnoseScan, DriftScan
from bcon_exporter.tools import Context

_log = logging.getLogger(__name__)

LONGEST_PAUSE_SECONDS = 60.0
KEPT_ANEW_AFTER = timedelta(minutes=5)
_SEVERITIES = ("critical", "warning", "info", "none")
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
        runbooks_url: Where the runbooks lie.
    """

    def __init__(
        self,
        context: Callable[[], Context],
        metrics: tuple[Exposition, OwnState],
        pace: Callable[[], Pace],
        identity: Callable[[], Identity | None] = lambda: None,
        alertmanagers: Iterable[Alertmanager] = (),
        runbooks_url: str = RUNBOOKS_URL,
    ) -> None:
        self._context = context
        self._exposition, self._own = metrics
        self._pace = pace
        self._identity = identity
        self._runbooks_url = runbooks_url
        self._pushers = tuple(Pusher(each, lambda: self._context().now()) for each in alertmanagers)
        self._news = threading.Event()
        self._stopped = False
        self._state: AlertState | None = None
        self._kept: AlertState | None = None
        self._counters: Counters = ()
        self._diagnosis: tuple[DiagnoseScan, DiagnosisRead] | None = None
        self._drift: tuple[DriftScan, Watched] | None = None

    def start(self) -> None:
        """Start judging and pushing."""
        self.load()
        self.start_pushing()
        threading.Thread(target=self._run, name="alerts", daemon=True).start()

    def load(self) -> None:
        """Take up the alerts of the time before a restart."""
        self._state = _parse_state(self._context().history.alert_state())

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
            try:
                self.judge()
            except Exception:  # noqa: BLE001 -- the job boundary: the next round comes whatever happened to this
                _log.exception("judging the alerts failed because of a defect")
            self._news.wait(self._pace().pause_seconds)
            self._news.clear()

    def judge(self) -> None:
        """Judge one round, publish it, keep it and hand it to the pushers."""
        context = self._context()
        now, who = context.now(), self._identity()
        samples = self._samples(context)
        state = step(self._state, samples, now, self._counters)
        self._counters = remember_counters(self._counters, samples, now)
        subjects = self._diagnosis[1].subjects if self._diagnosis is not None else {}
        here = who.instance if who else _HERE
        wording = Wording(context.store, here, subjects, self._runbooks_url)
        told = (each if each.resolved_at is not None else wording.annotate(each) for each in state.tracked)
        state = state.model_copy(update={"tracked": tuple(told)})
        self._state = state
        self._keep(context, state, now)
        report = AlertsReport(
            timestamp=now, alerts=show_alerts(state), alertmanagers=tuple(each.state for each in self._pushers)
        )
        context.store.publish_alerts(AlertRound(report, context.monotonic()))
        if who is not None:
            interval = timedelta(seconds=self._pace().interval_seconds)
            payload = write_payload(state, now, interval, who)
            for pusher in self._pushers:
                pusher.offer(payload)

    def _samples(self, context: Context) -> Watched:
        """Return what /metrics says now: what is withheld there is absent here."""
        moment = self._exposition.moment()
        samples = dict(row_vectors(self._own.rows(moment.statuses, moment.series_dropped)))
        if context.store.diagnosis is not None and "diagnose" in moment.fresh:
            samples |= self._read_diagnosis(context.store.diagnosis).vectors
        if context.store.drift is not None and "drift" in moment.fresh:
            samples |= self._read_drift(context.store.drift)
        return samples

    def _read_diagnosis(self, scan: DiagnoseScan) -> DiagnosisRead:
        if self._diagnosis is None or self._diagnosis[0] is not scan:
            self._diagnosis = (scan, read_diagnosis(scan, self._held()))
        return self._diagnosis[1]

    def _read_drift(self, scan: DriftScan) -> Watched:
        if self._drift is None or self._drift[0] is not scan:
            self._drift = (scan, drift_vectors(scan))
        return self._drift[1]

    def _held(self) -> frozenset[Labels]:
        """Return the containers of which something was held in the last round."""
        rows = (row for held in self._state.held.values() for row in held) if self._state is not None else ()
        return frozenset(container_of(labels) for labels, _ in rows)

    def _keep(self, context: Context, state: AlertState, now: datetime) -> None:
        """Write the state where a restart finds it: when it changed, and once in a while to say that we are here."""
        kept = self._kept
        if kept is not None and now - kept.at < KEPT_ANEW_AFTER and _bare(kept) == _bare(state):
            return
        context.history.keep_alert_state(state.model_dump_json(), now)
        self._kept = state


def _bare(state: AlertState) -> tuple[object, ...]:
    """Return what of a state must not be lost; texts change with every scan."""
    return (state.held, tuple(each.model_copy(update={"annotations": {}}) for each in state.tracked))


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
    shown = (_show(each) for each in state.tracked)
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


def _show(one: Tracked) -> Alert:
    phase: AlertPhase = "pending" if one.fired_at is None else "resolved" if one.resolved_at is not None else "firing"
    return Alert(
        name=one.rule,
        severity=one.severity,
        state=phase,
        labels=dict(one.labels),
        annotations=one.annotations,
        since=one.since,
        fired_at=one.fired_at,
        resolved_at=one.resolved_at,
    )
