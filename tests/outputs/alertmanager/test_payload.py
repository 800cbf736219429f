"""What is pushed: every firing alert with the same start until it ends, and its end for a quarter of an hour."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bcon_exporter.alerting import AlertState, PushedAlert
from bcon_exporter.outputs.alertmanager.payload import Identity, write_payload
from tests.factories import NOON

WHO = Identity("docker", "h1", (("team", "shop"),))
LABELS = (("container", "api"), ("symptom", "unhealthy"))


def pushed(**changes: Any) -> PushedAlert:
    base: dict[str, Any] = {"name": "X", "severity": "warning", "labels": LABELS, "since": NOON, "fired_at": NOON}
    return PushedAlert(**{"seen_at": NOON, **base, **changes})


def payload(*alerts: PushedAlert, minutes: float = 10, interval_seconds: float = 30, who: Identity = WHO) -> list[Any]:
    now = NOON + timedelta(minutes=minutes)
    return list(write_payload(AlertState(at=now, alerts=alerts), now, timedelta(seconds=interval_seconds), who))


def test_labels_are_those_of_the_rule_and_of_who_pushes() -> None:
    assert payload(pushed())[0]["labels"] == {
        "alertname": "X",
        "severity": "warning",
        "job": "docker",
        "instance": "h1",
        "source": "bcon",
        "team": "shop",
        "container": "api",
        "symptom": "unhealthy",
    }


@pytest.mark.parametrize(
    ("interval_seconds", "ends"),
    [(1, "12:14:00"), (59, "12:14:00"), (60, "12:14:00"), (61, "12:14:04"), (300, "12:30:00")],
)
def test_a_firing_alert_lives_for_four_intervals_of_at_least_a_minute(interval_seconds: float, ends: str) -> None:
    (alert,) = payload(pushed(), interval_seconds=interval_seconds)

    assert alert["startsAt"] == "2026-01-01T12:00:00.000Z"
    assert alert["endsAt"] == f"2026-01-01T{ends}.000Z"


def test_an_alert_that_ended_has_its_end() -> None:
    (alert,) = payload(pushed(resolved_at=NOON + timedelta(minutes=3)))

    assert alert["endsAt"] == "2026-01-01T12:03:00.000Z"


def test_an_alert_of_an_incident_starts_with_it_not_when_it_was_told() -> None:
    told_at = NOON + timedelta(minutes=1)
    (alert,) = payload(pushed(incident="i", fired_at=told_at))
    (own,) = payload(pushed(fired_at=told_at))

    assert (alert["startsAt"], own["startsAt"]) == ("2026-01-01T12:00:00.000Z", "2026-01-01T12:01:00.000Z")


def test_an_end_before_the_start_is_none() -> None:
    (alert,) = payload(pushed(resolved_at=NOON - timedelta(minutes=3)))

    assert alert["endsAt"] == alert["startsAt"]


def test_what_still_waits_is_not_told() -> None:
    assert payload(pushed(fired_at=None)) == []


def test_the_address_of_the_exporter_is_told_where_it_is_known() -> None:
    assert "generatorURL" not in payload(pushed())[0]
    assert payload(pushed(), who=Identity("j", "i", (), "https://x/y"))[0]["generatorURL"] == "https://x/y"
