"""Promise: an incident is told once when it opens, once when it grows worse, once when it ends, and none is lost."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from bcon_exporter.errors import StateFileError
from bcon_exporter.incidents import Scene, decide_message, note_arrival
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.incidents import FirstLook, IncidentRoot
from bcon_exporter.model.messages import ReceiverState
from bcon_exporter.model.quiet import Muting, QuietLine
from bcon_exporter.model.receivers import Receiver
from tests.factories import NOON
from tests.incidents.test_quiet import QUIET_WEB, incident

if TYPE_CHECKING:
    from bcon_exporter.model.incidents import Incident

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
QUIET = Muting(host=QuietLine(name=None, source="setting", until=NOON))
ERROR = {"severity": "error"}


class Phone:
    """A receiver with a clock and what goes on; its messages arrive unless it is down."""

    def __init__(self, **receiver: Any) -> None:
        self.receiver = Receiver(name="phone", url=SecretStr("json://h"), **receiver)
        self.state = ReceiverState()
        self.now = self.scan_at = NOON
        self.open: dict[str, Incident] = {}
        self.ended: dict[str, Incident] = {}
        self.muting = Muting()
        self.first_look: FirstLook | None = None
        self.pauses: frozenset[str] = frozenset()
        self.is_down = self.is_unreadable = False
        self.keys: list[str] = []

    def begin(self, name: str = "db", **fields: Any) -> Incident:
        made = incident(name, "web", id=name, **{**ERROR, **fields})
        self.open[name] = made
        return made

    def end(self, name: str = "db", **fields: Any) -> None:
        self.ended[name] = self.open.pop(name).model_copy(update={"ended_at": self.now, **fields})

    def find_ended(self, incident_id: str) -> Incident | None:
        if self.is_unreadable:
            msg = "the state file cannot be read"
            raise StateFileError(msg)
        return self.ended.get(incident_id)

    def hear(self, after: timedelta = timedelta(), *, is_scan: bool = True) -> list[str]:
        """What is told after so long: `db opened`."""
        self.now += after
        self.scan_at = self.now if is_scan else self.scan_at
        heard: list[str] = []
        while True:
            scene = Scene(
                now=self.now, scan_at=self.scan_at, interval=30 * SECOND, open=tuple(self.open.values()),
                find_ended=self.find_ended, muting=self.muting, first_look=self.first_look,
                pauses=self.pauses,
            )  # fmt: skip
            self.state = decide_message(self.state, scene, self.receiver)
            assert ReceiverState.model_validate_json(self.state.model_dump_json()) == self.state
            if self.state.sending is None or self.is_down:
                return heard
            self.keys.append(self.state.sending.key)
            heard.append(", ".join(f"{one.incident_id} {one.kind.value}" for one in self.state.sending.notices))
            self.state = note_arrival(self.state, self.now)


def test_an_incident_is_told_after_one_more_scan_and_once() -> None:
    phone = Phone()
    phone.begin()
    assert phone.hear() == []
    assert phone.hear(29 * SECOND, is_scan=False) == []
    assert phone.hear(SECOND) == ["db opened"]
    assert [phone.hear(30 * SECOND) for _ in range(20)] == [[]] * 20
    phone.end()
    assert phone.hear(30 * SECOND) == ["db ended"]
    assert [phone.hear(30 * SECOND) for _ in range(5)] == [[]] * 5
    assert phone.state.told == {}


def test_what_is_back_before_it_is_told_needs_no_message_and_what_fails_again_does() -> None:
    phone = Phone()
    phone.begin()
    phone.begin("cache", severity="critical")
    phone.hear()
    phone.pauses = frozenset(("db", "cache"))
    assert [phone.hear(30 * SECOND) for _ in range(3)] == [[]] * 3
    phone.end("cache")
    assert phone.hear(30 * SECOND) == []
    phone.pauses = frozenset()
    assert phone.hear(30 * SECOND) == ["db opened"]
    phone.pauses = frozenset(("db",))
    phone.end()
    assert phone.hear(30 * SECOND) == ["db ended"]


@pytest.mark.parametrize(("after", "told"), [(9.9, []), (10.0, ["db opened"])])
def test_a_critical_one_waits_ten_seconds(after: float, told: list[str]) -> None:
    phone = Phone()
    phone.begin(severity="critical")
    assert phone.hear() == []
    assert phone.hear(after * SECOND, is_scan=False) == told


def test_while_no_scan_ends_it_is_told_after_one_and_a_half_intervals() -> None:
    phone = Phone()
    phone.begin()
    assert phone.hear() == []
    assert phone.hear(44 * SECOND, is_scan=False) == []
    assert phone.hear(SECOND, is_scan=False) == ["db opened"]


def test_growing_worse_is_told_once_in_five_minutes_at_most() -> None:
    phone = Phone()
    phone.begin()
    phone.hear()
    assert phone.hear(30 * SECOND) == ["db opened"]
    phone.begin(severity="critical")
    assert phone.hear(5 * MINUTE - SECOND) == []
    assert phone.hear(SECOND) == ["db worse"]
    assert phone.hear(HOUR) == []


def test_what_was_told_stays_while_the_incident_cannot_be_read_and_the_others_are_told() -> None:
    phone = Phone()
    phone.begin()
    phone.hear()
    assert phone.hear(30 * SECOND) == ["db opened"]
    phone.end()
    phone.is_unreadable = True
    assert [phone.hear(30 * SECOND) for _ in range(3)] == [[]] * 3
    phone.begin("web")
    phone.hear()
    assert phone.hear(30 * SECOND) == ["web opened"]
    phone.is_unreadable = False
    assert phone.hear(30 * SECOND) == ["db ended"]
    assert phone.hear(30 * SECOND) == []


def test_what_was_merged_while_it_could_not_be_read_is_told_as_a_change() -> None:
    phone = Phone()
    phone.begin("web")
    phone.hear()
    assert phone.hear(30 * SECOND) == ["web opened"]
    phone.end("web", merged_into="db")
    phone.begin("db")
    phone.is_unreadable = True
    assert phone.hear(SECOND) == []
    phone.is_unreadable = False
    assert phone.hear(5 * MINUTE) == ["db changed"]


def test_what_is_merged_is_told_as_a_change_and_not_opened_anew() -> None:
    phone = Phone()
    phone.begin("web")
    phone.hear()
    assert phone.hear(30 * SECOND) == ["web opened"]
    phone.begin("db")
    phone.end("web", merged_into="db")
    assert phone.hear(30 * SECOND) == []
    assert phone.hear(5 * MINUTE) == ["db changed"]
    phone.end("db")
    assert phone.hear(30 * SECOND) == ["db ended"]


def test_what_is_merged_before_it_was_told_is_told_as_its_root_alone() -> None:
    phone = Phone()
    phone.begin("web")
    phone.hear()
    phone.begin("db")
    phone.end("web", merged_into="db")
    assert phone.hear(30 * SECOND) == []
    assert phone.hear(30 * SECOND) == ["db opened"]


@pytest.mark.parametrize("away", [MINUTE, timedelta(days=8)])
def test_what_is_merged_while_its_message_is_under_way_changes_when_that_has_arrived(away: timedelta) -> None:
    phone = Phone()
    phone.begin("web")
    phone.hear()
    phone.is_down = True
    phone.hear(30 * SECOND)
    phone.begin("db")
    phone.end("web", merged_into="db")
    phone.hear(30 * SECOND)
    phone.hear(away)
    phone.is_down = False
    heard = [*phone.hear(SECOND), *phone.hear(30 * SECOND), *phone.hear(5 * MINUTE)]
    assert heard == ["web opened", "db changed"]
    phone.end("db")
    assert phone.hear(30 * SECOND) == ["db ended"]
    assert phone.state.told == {}


def test_what_is_merged_twice_between_two_looks_is_told_as_a_change_of_what_it_is_a_part_of_in_the_end() -> None:
    phone = Phone()
    phone.begin("web")
    phone.hear()
    assert phone.hear(30 * SECOND) == ["web opened"]
    phone.begin("db")
    phone.end("web", merged_into="db")
    phone.begin("root")
    phone.end("db", merged_into="root")
    assert phone.hear(10 * MINUTE) == ["root changed"]
    assert [phone.hear(30 * SECOND) for _ in range(5)] == [[]] * 5
    assert list(phone.state.told) == ["root"]


def test_what_was_merged_twice_and_is_over_is_told_to_have_ended_once() -> None:
    phone = Phone()
    phone.begin("web")
    phone.hear()
    phone.hear(30 * SECOND)
    phone.begin("db")
    phone.end("web", merged_into="db")
    phone.begin("root")
    phone.end("db", merged_into="root")
    phone.end("root")
    assert phone.hear(30 * SECOND) == ["root ended"]
    assert phone.hear(30 * SECOND) == []


def test_what_is_due_at_the_same_moment_is_one_message() -> None:
    phone = Phone()
    phone.begin("db")
    phone.begin("cache")
    phone.hear()
    assert phone.hear(30 * SECOND) == ["db opened, cache opened"]


def test_nothing_is_lost_while_the_receiver_is_down() -> None:
    phone = Phone()
    phone.is_down = True
    phone.begin("db")
    phone.hear()
    phone.hear(30 * SECOND)
    key = phone.state.sending.key if phone.state.sending else ""
    phone.begin("cache")
    phone.hear(30 * SECOND)
    phone.hear(30 * SECOND)
    phone.end("db")
    phone.end("cache")
    phone.begin("queue")
    phone.hear(HOUR)
    assert phone.state.sending is not None
    assert phone.state.sending.key == key, "a repeat carries the key of the first attempt"
    phone.is_down = False
    assert phone.hear(HOUR) == ["db opened", "queue opened, db ended, cache ended"]
    assert phone.hear(HOUR) == []
    assert len(set(phone.keys)) == len(phone.keys)


def test_an_end_a_week_ago_is_no_news() -> None:
    phone = Phone()
    phone.begin()
    phone.hear()
    phone.hear(30 * SECOND)
    phone.end()
    assert phone.hear(timedelta(days=7)) == []


@pytest.mark.parametrize(("severity", "told"), [("error", []), ("critical", ["db opened"])])
def test_what_is_still_critical_when_the_quiet_ends_speaks_then(severity: str, told: list[str]) -> None:
    phone = Phone()
    phone.begin(severity=severity)
    phone.muting = QUIET
    phone.hear()
    assert phone.hear(HOUR) == []
    phone.muting = Muting()
    assert phone.hear(SECOND) == told


def test_those_who_suffer_from_a_quiet_root_and_are_not_quiet_speak_after_fifteen_minutes() -> None:
    phone = Phone()
    phone.muting = QUIET_WEB
    phone.open["web"] = incident("web", "api", id="web", **ERROR)
    phone.hear()
    assert phone.hear(15 * MINUTE - SECOND) == []
    assert phone.hear(SECOND) == ["web opened"]


@pytest.mark.parametrize("joins", [5 * MINUTE, 20 * MINUTE])
def test_one_that_is_not_quiet_speaks_too_where_it_joins_a_quiet_root_later(joins: timedelta) -> None:
    phone = Phone()
    phone.muting = QUIET_WEB
    phone.open["web"] = incident("web", id="web", **ERROR)
    phone.hear()
    assert phone.hear(joins) == []
    phone.open["web"] = incident("web", "api", id="web", **ERROR)
    assert [*phone.hear(SECOND), *phone.hear(15 * MINUTE)] == ["web opened"]


def test_a_quiet_that_ends_while_others_suffer_from_its_root_silences_them_not() -> None:
    phone = Phone()
    phone.muting = QUIET_WEB
    phone.open["web"] = incident("web", "api", id="web", **ERROR)
    phone.hear()
    assert phone.hear(MINUTE) == []
    phone.muting = Muting()
    assert phone.hear(SECOND) == ["web opened"]


def test_what_began_and_ended_in_quiet_is_not_told_and_what_ended_in_it_is_told_after() -> None:
    phone = Phone()
    phone.begin("db")
    phone.hear()
    assert phone.hear(30 * SECOND) == ["db opened"]
    phone.muting = QUIET
    phone.begin("cache")
    phone.hear(30 * SECOND)
    phone.hear(30 * SECOND)
    phone.end("db")
    phone.end("cache")
    assert phone.hear(30 * SECOND) == []
    phone.muting = Muting()
    assert phone.hear(30 * SECOND) == ["db ended"]


def test_an_acknowledged_one_is_told_again_when_it_is_worse_and_when_it_ends() -> None:
    phone = Phone()
    phone.begin()
    phone.hear()
    phone.hear(30 * SECOND)
    phone.begin(severity="critical", acknowledged_at=NOON)
    assert phone.hear(HOUR) == []
    phone.begin(severity="critical")
    assert phone.hear(SECOND) == ["db worse"]
    phone.begin(severity="critical", acknowledged_at=NOON)
    phone.end()
    assert phone.hear(SECOND) == ["db ended"]


def test_one_that_was_acknowledged_before_it_was_told_speaks_when_it_is_worse_though_not_critical_only() -> None:
    phone = Phone()
    phone.begin(acknowledged_at=NOON)
    phone.hear()
    assert phone.hear(HOUR) == []
    phone.begin()
    assert phone.hear(SECOND) == ["db opened"]


@pytest.mark.parametrize(
    ("receiver", "told"),
    [
        ({}, ["db opened"]),
        ({"least": Severity.CRITICAL}, []),
        ({"projects": ("shop",)}, ["db opened"]),
        ({"projects": ("blog",)}, []),
        ({"projects": ("blog", "shop")}, ["db opened"]),
    ],
)
def test_a_receiver_is_told_of_what_it_wants_to_hear(receiver: dict[str, Any], told: list[str]) -> None:
    phone = Phone(**receiver)
    phone.begin()
    phone.hear()
    assert phone.hear(30 * SECOND) == told


def test_an_incident_of_the_host_is_for_every_project() -> None:
    phone = Phone(projects=("blog",))
    made = phone.begin()
    phone.open["db"] = made.model_copy(update={"root": made.root.model_copy(update={"code": "host"})})
    phone.hear()
    assert phone.hear(30 * SECOND) == ["db opened"]


@pytest.mark.parametrize(("least", "told"), [(Severity.ERROR, ["db opened"]), (Severity.CRITICAL, [])])
def test_what_an_engine_did_not_start_again_is_a_warning_and_told_to_all_but_the_pager(
    least: Severity, told: list[str]
) -> None:
    phone = Phone(least=least)
    made = phone.begin(severity="warning")
    phone.open["db"] = made.model_copy(update={"root": made.root.model_copy(update={"code": "host"})})
    phone.hear()
    assert phone.hear(30 * SECOND) == told


def test_all_that_was_ill_before_the_first_look_is_one_message_when_files_and_containers_have_been_looked_at() -> None:
    phone = Phone()
    phone.first_look = FirstLook(at=NOON)
    for number in range(35):
        phone.begin(f"s{number}", severity="critical" if number % 3 else "error", started_at=NOON)
    assert phone.hear() == []
    assert phone.hear(30 * SECOND) == []
    phone.begin("file", started_at=NOON + 20 * SECOND, root=IncidentRoot(container=None, code="missing_service"))
    phone.first_look = FirstLook(at=NOON, files_at=NOON + 20 * SECOND, is_over=True)
    (message,) = phone.hear(SECOND)
    assert message.count("opened") == 36
    assert phone.hear(HOUR) == []


def test_a_first_look_that_takes_longer_than_an_interval_waits_for_a_second_one() -> None:
    phone = Phone()
    phone.first_look = FirstLook(at=NOON, took_seconds=60)
    phone.begin("db", severity="critical", started_at=NOON)
    phone.hear(60 * SECOND)
    assert phone.hear(100 * SECOND) == []
    phone.begin("web", started_at=NOON)
    phone.first_look = FirstLook(at=NOON, took_seconds=60, files_at=NOON, is_over=True)
    (message,) = phone.hear(10 * SECOND)
    assert message.count("opened") == 2


def test_what_is_critical_and_began_after_the_first_look_waits_for_no_file() -> None:
    phone = Phone()
    phone.first_look = FirstLook(at=NOON)
    phone.begin("old", started_at=NOON)
    phone.begin("new", started_at=NOON + SECOND, severity="critical")
    phone.hear()
    assert phone.hear(10 * SECOND, is_scan=False) == ["new opened"]


def test_many_of_one_scan_are_told_in_one_message_with_the_first_of_them() -> None:
    phone = Phone()
    for number in range(11):
        phone.begin(f"s{number}", severity="error" if number else "critical")
    phone.hear()
    (message,) = phone.hear(10 * SECOND, is_scan=False)
    assert message.count("opened") == 11
    few = Phone()
    for number in range(10):
        few.begin(f"s{number}", severity="error" if number else "critical")
    few.hear()
    assert few.hear(10 * SECOND, is_scan=False) == ["s0 opened"]
