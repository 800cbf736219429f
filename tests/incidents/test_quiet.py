"""Quiet and acknowledged incidents: nobody is told of them, for as long as was meant and no longer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bcon_exporter.incidents import find_muting, is_muted
from bcon_exporter.model.incidents import Incident, IncidentMember, IncidentRoot
from bcon_exporter.model.quiet import Muting, Quiet, QuietLine, parse_hours, parse_quiet_hours
from tests.factories import NOON, compose, container
from tests.table_rows import table

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
BERLIN = ZoneInfo("Europe/Berlin")


def muting_of(*quiets: Quiet, now: datetime = NOON, hours: tuple[str, ...] = (), label: str | None = None) -> Muting:
    labels = {} if label is None else {"bcon.quiet": label}
    host = (container(name="web", compose=compose("web"), labels=labels), container(name="job"))
    settings = tuple(map(parse_quiet_hours, hours))
    return find_muting(quiets, settings, host, now, lambda at: at.astimezone(BERLIN))[0]


def berlin(text: str, *, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN, fold=fold).astimezone(UTC)


@table(
    ("hours", "wall", "left"),
    [
        ("03:00-03:45", "02:59:59", None),
        ("03:00-03:45", "03:00:00", 45 * MINUTE),
        ("03:00-03:45", "03:44:30", MINUTE / 2),
        ("03:00-03:45", "03:45:00", None),
        ("23:30-00:15", "23:29:59", None),
        ("23:30-00:15", "23:30:00", 45 * MINUTE),
        ("23:30-00:15", "00:14:00", MINUTE),
        ("23:30-00:15", "00:15:00", None),
        ("22:00-07:00", "12:00:00", None),
        ("0:00-23:59", "00:00:00", 23 * HOUR + 59 * MINUTE),
    ],
)
def test_hours_of_a_day_last_from_their_first_minute_to_before_their_last(
    hours: str, wall: str, left: timedelta | None
) -> None:
    assert parse_hours(hours)[0].remaining(datetime.fromisoformat(f"2026-06-01T{wall}+00:00")) == left


@table(
    "text",
    [
        "",
        "03:00",
        "03:00-03:00",
        "24:00-01:00",
        "03:60-04:00",
        "3-4",
        "03:00-",
        "03:00-04:00-05:00",
        "\u0660\u0663:00-04:00",
    ],
)
def test_what_is_no_time_of_day_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="03:00-03:45"):
        parse_hours(text)


@pytest.mark.parametrize(
    ("at", "until"),
    [
        (berlin("2026-03-29T01:59:00"), None),
        (berlin("2026-03-29T03:00:00"), None),  # half past two was left out
        (berlin("2026-10-25T02:20:00"), berlin("2026-10-25T02:45:00")),
        (berlin("2026-10-25T02:20:00", fold=1), berlin("2026-10-25T02:45:00", fold=1)),  # and it came twice
        (berlin("2026-10-25T02:45:00", fold=1), None),
    ],
)
def test_hours_follow_the_clock_on_the_wall_when_it_is_put_forward_and_back(
    at: datetime, until: datetime | None
) -> None:
    line = muting_of(now=at, label="02:15-02:45").find("web", None, None)
    assert (line.until if line is not None else None) == until


def test_a_label_mutes_its_container_only_and_a_wrong_one_is_named() -> None:
    at = berlin("2026-06-01T03:10:00")
    muting = muting_of(now=at, label="01:00-01:30, 03:00-03:45")
    assert muting.find("web", "shop", "web") == QuietLine(name="web", source="label", until=at + 35 * MINUTE)
    assert muting.find("job", None, None) is None
    wrong = container(name="web", labels={"bcon.quiet": "at night"})
    assert find_muting((), (), (wrong,), NOON, lambda at: at) == (Muting(), ("web",))


def test_a_setting_mutes_the_host_a_project_or_a_container() -> None:
    at = berlin("2026-06-01T23:00:00")
    assert muting_of(now=at, hours=("22:00-07:00",)).find("job", None, None) == QuietLine(
        name=None, source="setting", until=at + 8 * HOUR
    )
    of_project = muting_of(now=at, hours=("shop=22:00-23:30",))
    assert of_project.find("web", "shop", "web") is not None
    assert of_project.find("job", None, None) is None
    assert muting_of(now=at, hours=("job=22:00-23:30",)).find("job", None, None) is not None
    assert muting_of(now=at - 2 * HOUR, hours=("22:00-07:00",)).find("job", None, None) is None


def quiet(**fields: Any) -> Quiet:
    return Quiet(**{"name": "web", "container": "web", "began_at": NOON, "ends_at": NOON + HOUR, **fields})


def test_a_persons_quiet_begins_and_ends_by_itself() -> None:
    states = [
        muting_of(quiet(), now=NOON + after).find("web", None, None) is not None
        for after in (-MINUTE, timedelta(), HOUR - MINUTE, HOUR)
    ]
    assert states == [False, True, True, False]


def test_a_muted_service_stays_muted_when_its_container_is_gone() -> None:
    muting = muting_of(quiet(project="shop", service="web"))
    assert muting.find(None, "shop", "web") is not None
    assert muting.find(None, "shop", "db") is None
    assert muting.find("other-web-1", "other", "web") is None


def incident(*names: str, **fields: Any) -> Incident:
    members = tuple(
        IncidentMember(container=name, project="shop", service=name, role="suffers" if place else "root", since=NOON)
        for place, name in enumerate(names)
    )
    root = IncidentRoot(container=names[0], project="shop", service=names[0], code="oom_killed")
    made = {"id": "1", "started_at": NOON, "severity": "critical", "title": "t", "root": root, "members": members}
    return Incident.model_validate({**made, **fields})


QUIET_WEB = Muting(containers={"web": QuietLine(name="web", source="command", until=NOON + HOUR)})
QUIET_SHOP = Muting(projects={"shop": QuietLine(name="shop", source="command", until=NOON + HOUR)})
QUIET_HOST = Muting(host=QuietLine(name=None, source="setting", until=NOON + HOUR))


@table(
    ("about", "muting", "after", "muted"),
    [
        (incident("web"), Muting(), timedelta(), False),
        (incident("web"), QUIET_WEB, timedelta(), True),
        (incident("web"), QUIET_WEB, HOUR, True),
        (incident("db"), QUIET_WEB, timedelta(), False),
        (incident("db", "web"), QUIET_WEB, timedelta(), False),
        (incident("web", "api"), QUIET_WEB, timedelta(), True),
        (incident("web", "api"), QUIET_WEB, 15 * MINUTE - timedelta(seconds=1), True),
        (incident("web", "api"), QUIET_WEB, 15 * MINUTE, False),
        (incident("web", "api"), QUIET_SHOP, HOUR, True),
        (incident("web", "api"), QUIET_HOST, HOUR, True),
        (incident("web", acknowledged_at=NOON), Muting(), timedelta(), True),
        (incident("web", acknowledged_at=NOON, ended_at=NOON), Muting(), timedelta(), False),
        (incident("web", ended_at=NOON), QUIET_WEB, timedelta(), True),
    ],
)
def test_an_incident_is_muted_by_a_quiet_root_for_a_while_by_all_members_and_by_a_person_who_is_on_it(
    about: Incident, muting: Muting, after: timedelta, *, muted: bool
) -> None:
    assert is_muted(about, muting, NOON + after) is muted
