"""Which alerts wait, fire and have ended: one step from the samples of a moment to the next state.

The step follows Prometheus 2.42 (rules/alerting.go): `for` counts from the first moment of truth, `keep_firing_for`
from the first moment without it, and an alert that has ended is told of for 15 minutes more.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from pydantic import Field

from bcon_exporter.alerting.evaluation import Counters, Labels, Vector, World, evaluate
from bcon_exporter.alerting.recordings import RECORDINGS
from bcon_exporter.alerting.rule import AlertRule
from bcon_exporter.alerting.table import ALERTS
from bcon_exporter.model.base import Frozen, UtcDatetime

RESOLVED_FOR = timedelta(minutes=15)
FORGOTTEN_AFTER = timedelta(hours=1)
"""A state kept by an exporter that has been away for longer is no knowledge any more: what lasts is found anew."""
COUNTED_FOR_SECONDS = 30 * 60


class Tracked(Frozen):
    """One alert: it waits until `fired_at` is set, fires until `resolved_at` is.

    Attributes:
        rule: Name of the alert; with `severity` it is one row of the table.
        labels: Beside name and severity, sorted.
        since: When its condition came true.
        untrue_since: Since when it fires only because it is kept.
        annotations: Its texts; given by who shows it.
    """

    rule: str
    severity: str
    labels: tuple[tuple[str, str], ...]
    since: UtcDatetime
    fired_at: UtcDatetime | None = None
    untrue_since: UtcDatetime | None = None
    resolved_at: UtcDatetime | None = None
    annotations: dict[str, str] = Field(default_factory=dict)

    @property
    def is_firing(self) -> bool:
        """True from the end of its wait to its resolve."""
        return self.fired_at is not None and self.resolved_at is None


class AlertState(Frozen):
    """All alerts, and what the recordings held at the last step; everything that must outlive a restart."""

    at: UtcDatetime
    tracked: tuple[Tracked, ...] = ()
    held: dict[str, tuple[tuple[Labels, float], ...]] = Field(default_factory=dict)

    @property
    def firing(self) -> tuple[Tracked, ...]:
        """The alerts that fire."""
        return tuple(each for each in self.tracked if each.is_firing)


Watched = Mapping[str, Vector]
"""Metric → samples of this moment; what is withheld is absent."""


def step(
    state: AlertState | None,
    samples: Watched,
    now: datetime,
    counters: Counters = (),
    rules: Iterable[AlertRule] = ALERTS,
) -> AlertState:
    """Return the state after the samples of one more moment.

    Args:
        state: Of the step before; None at the very first start.
        samples: What the metrics say now.
        now: The wall clock.
        counters: The counters' past; see `remember_counters`.
        rules: The table; tests bring their own.
    """
    state = _known(state, now)
    vectors: dict[str, Vector] = {**samples, **{name: dict(rows) for name, rows in state.held.items()}}
    for recording in RECORDINGS:
        vectors[recording.name] = evaluate(recording.expr, World(now.timestamp(), vectors))
    world = World(now.timestamp(), MappingProxyType(vectors), counters)
    before = {(each.rule, each.severity, each.labels): each for each in state.tracked}
    tracked: list[Tracked] = []
    for rule in rules:
        if rule.opt_in or rule.only_prometheus:
            continue
        true = evaluate(rule.expr, world)
        earlier = [each for key, each in before.items() if key[:2] == (rule.name, rule.severity)]
        tracked += _track(rule, true, {each.labels: each for each in earlier}, now)
    held = {each.name: tuple(sorted(vectors[each.name].items())) for each in RECORDINGS if vectors[each.name]}
    return AlertState(at=now, tracked=tuple(tracked), held=held)


def _known(state: AlertState | None, now: datetime) -> AlertState:
    if state is None or now - state.at > FORGOTTEN_AFTER:
        return AlertState(at=now)
    return state


def _track(rule: AlertRule, true: Vector, before: Mapping[Labels, Tracked], now: datetime) -> list[Tracked]:
    after: list[Tracked] = []
    for labels in sorted({*true, *before}):
        earlier = before.get(labels)
        if labels in true:
            after.append(_hold_true(rule, labels, earlier, now))
        elif earlier is not None and earlier.fired_at is not None:
            after += _let_go(rule, earlier, now)
    return after


def _hold_true(rule: AlertRule, labels: Labels, earlier: Tracked | None, now: datetime) -> Tracked:
    if earlier is None or earlier.resolved_at is not None:
        earlier = Tracked(rule=rule.name, severity=rule.severity, labels=labels, since=now)
    waited = now - earlier.since >= timedelta(seconds=rule.wait_seconds)
    fired_at = earlier.fired_at or (now if waited else None)
    if fired_at == earlier.fired_at and earlier.untrue_since is None:
        return earlier
    return earlier.model_copy(update={"fired_at": fired_at, "untrue_since": None})


def _let_go(rule: AlertRule, earlier: Tracked, now: datetime) -> list[Tracked]:
    """Return the alert while it is kept and then as ended, for a while."""
    if earlier.resolved_at is not None:
        return [earlier] if now - earlier.resolved_at <= RESOLVED_FOR else []
    since = earlier.untrue_since or now
    if now - since < timedelta(seconds=rule.keep_seconds):
        return [earlier.model_copy(update={"untrue_since": since})]
    return [earlier.model_copy(update={"untrue_since": None, "resolved_at": now})]


COUNTERS = ("bcon_scans_missed_total", "bcon_state_errors_total")
"""The counters that conditions look back on."""


def remember_counters(counters: Counters, samples: Watched, now: datetime) -> Counters:
    """Return the counters' past with this moment added and what no window reaches left out.

    Of moments in a row that say the same, the first and the last tell all.
    """
    at = now.timestamp()
    kept = [moment for moment in counters if at - COUNTED_FOR_SECONDS <= moment[0] <= at]
    told = {name: samples[name] for name in COUNTERS if name in samples}
    if [vectors for _, vectors in kept[-2:]] == [told, told]:
        kept.pop()
    return (*kept, (at, told))
