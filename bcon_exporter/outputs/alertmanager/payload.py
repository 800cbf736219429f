"""Alerts as Alertmanager's API v2 takes them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bcon_exporter.alerting import AlertState, PushedAlert

Payload = dict[str, Any]
"""One alert as JSON."""

ALIVE_INTERVALS = 4
SHORTEST_INTERVAL = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who pushes.

    Attributes:
        job, instance: The labels that a Prometheus would add.
        labels: More labels for every alert.
        url: Where people see this exporter; None where nobody said.
    """

    job: str
    instance: str
    labels: tuple[tuple[str, str], ...] = ()
    url: str | None = None


def write_payload(state: AlertState, now: datetime, interval: timedelta, who: Identity) -> tuple[Payload, ...]:
    """Return every alert that fires or has just ended.

    An alert that fires is alive for four intervals beyond now, so that it ends when nobody tells of it any more.

    Args:
        state: All alerts.
        now: The wall clock.
        interval: Of the diagnosis.
        who: Labels of who pushes.
    """
    alive_until = now + ALIVE_INTERVALS * max(interval, SHORTEST_INTERVAL)
    return tuple(_payloads(state.alerts, alive_until, who))


def _payloads(alerts: Iterable[PushedAlert], alive_until: datetime, who: Identity) -> Iterable[Payload]:
    for alert in alerts:
        starts_at = alert.starts_at
        if starts_at is None:
            continue
        ends_at = max(alert.resolved_at or alive_until, starts_at)  # a clock that stepped back must not spoil it
        payload: Payload = {
            "labels": _labels(alert, who),
            "annotations": dict(alert.annotations),
            "startsAt": _time(starts_at),
            "endsAt": _time(ends_at),
        }
        yield payload | ({"generatorURL": who.url} if who.url else {})


def _labels(alert: PushedAlert, who: Identity) -> dict[str, str]:
    own = {"alertname": alert.name, "severity": alert.severity, "source": "bcon"}
    return {**dict(who.labels), **dict(alert.labels), "job": who.job, "instance": who.instance, **own}


def _time(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
