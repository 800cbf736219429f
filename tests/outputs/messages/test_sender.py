"""A sender writes its intent down before it sends, keeps what has not arrived, and never holds anything up."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from bcon_exporter.incidents import FoldedIncidents
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.alerts import MessageReceiverState
from bcon_exporter.model.incidents import EndedBy, IncidentState, TrackedIncident
from bcon_exporter.model.receivers import Receiver
from bcon_exporter.outputs.messages import Delivery, MessageSender, MessageSenders, MessageSettings, Outgoing
from bcon_exporter.outputs.messages.sender import find_digest_time
from tests.factories import NOON, container, snapshot
from tests.incidents.test_quiet import incident
from tests.journal.state_files import unreadable
from tests.left_open import close_later
from tests.outputs.scenes import Clock, make_context, scan_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.tools import Context

HOST = snapshot(container(name="db"))
SECRET = "hunter2-hunter2"
PHONE = Receiver(name="phone", url=SecretStr(f"json://u:{SECRET}@h/"))


class Scene:
    """A daemon's context with one critical incident, and a receiver that can be down."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.monotonic, self.now = folder, Clock(), NOON
        self.problem, self.wants_digest = "", False
        self.sent: list[Outgoing] = []
        self.kept_before_sending: list[str | None] = []
        self.context = self.restart()

    def names(self) -> MessageSettings:
        return MessageSettings(host="host1", weekly_digest=self.wants_digest)

    def restart(self) -> Context:
        keeper = close_later(MemoryKeeper.open(self.folder / "state.db", retention_seconds=32 * 86400, now=NOON))
        self.context = make_context(HOST, memory=keeper, now=lambda: self.now, monotonic=self.monotonic)
        self.context.scans.publish_diagnosis(scan_of(HOST))
        self.sender = MessageSender(PHONE, lambda: self.context, lambda: 30.0, self.names, self.send)
        return self.context

    def begin(self) -> None:
        tracked = TrackedIncident(incident=incident("db", title="db is down"), members=("db",))
        self.context.memory.fold_incidents(lambda _: FoldedIncidents(IncidentState(open=(tracked,))), NOON)

    def send(self, _receiver: Receiver, message: Outgoing) -> Delivery:
        stored = MemoryKeeper.open(self.folder / "state.db", retention_seconds=1e6, now=NOON, read_only=True)
        sending = stored.memory.messages["phone"].sending if "phone" in stored.memory.messages else None
        self.kept_before_sending.append(None if sending is None else sending.key)
        stored.close()
        self.sent.append(message)
        return Delivery(self.problem)

    def tell(self, after: float = 0.0) -> float:
        self.now += timedelta(seconds=after)
        self.monotonic.at += after
        return self.sender.tell()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A scene with a state file."""
    made = Scene(tmp_path)
    yield made
    made.context.memory.close()


def test_the_intent_is_in_the_state_file_before_the_message_leaves(scene: Scene) -> None:
    scene.begin()
    assert scene.tell() == 2.0, "it looks again soon while something waits"
    assert scene.tell(10.0) == 0.0
    assert [one.title for one in scene.sent] == ["db is down [host1]"]
    assert scene.kept_before_sending == [scene.sent[0].key]
    assert scene.tell() == 30.0
    assert len(scene.sent) == 1


def test_what_has_not_arrived_is_sent_again_under_the_same_key_ever_more_seldom_also_after_a_restart(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.begin()
    scene.problem = "HTTP status 500"
    scene.tell()
    pauses = [scene.tell(10.0)]
    for _ in range(5):
        pauses.append(scene.tell(pauses[-1]))
    assert pauses == [5.0, 10.0, 20.0, 40.0, 60.0, 60.0]
    assert scene.tell(59.0) == 1.0
    assert len(scene.sent) == 6
    assert scene.sender.state.failures == 6
    scene.context.memory.close()
    scene.restart()
    scene.problem = ""
    scene.tell()
    assert len(scene.sent) == 7
    assert len({one.key for one in scene.sent}) == 1
    assert scene.tell() == 30.0
    assert [record.message for record in caplog.records if "phone" in record.message] == [
        "a message to phone has not arrived and is sent again: HTTP status 500"
    ]
    assert SECRET not in caplog.text


@pytest.mark.parametrize(("problem", "is_cut"), [("HTTP status 400", True), ("HTTP status 503", False)])
def test_of_what_is_refused_for_an_hour_only_the_title_is_sent(scene: Scene, problem: str, *, is_cut: bool) -> None:
    scene.begin()
    scene.problem = problem
    scene.tell()
    scene.tell(10.0)
    scene.tell(3599.0)
    assert "Severity: critical" in scene.sent[-1].body
    scene.tell(60.0)
    first, last = scene.sent[0], scene.sent[-1]
    assert (last.title, last.key) == (first.title, first.key)
    assert ("Severity: critical" not in last.body) is is_cut
    assert scene.sender.state.failures == 3


def test_a_restart_after_the_message_has_arrived_sends_no_second(scene: Scene) -> None:
    scene.begin()
    scene.tell()
    scene.tell(10.0)
    scene.context.memory.close()
    scene.restart()
    assert scene.tell(3600.0) == 30.0
    assert len(scene.sent) == 1


def test_before_the_first_scan_only_what_was_under_way_is_sent(scene: Scene) -> None:
    scene.begin()
    scene.problem = "no answer in time"
    scene.tell()
    scene.tell(10.0)
    scene.context.memory.close()
    scene.restart()
    scene.context = replace(scene.context, scans=type(scene.context.scans)())
    scene.problem = ""
    scene.tell()
    assert [one.key for one in scene.sent] == [scene.sent[0].key] * 2


def test_arrivals_and_failures_are_counted_by_the_receivers_name(scene: Scene) -> None:
    senders = MessageSenders((scene.sender,))
    scene.begin()
    scene.problem = "HTTP status 500"
    scene.tell()
    scene.tell(10.0)
    scene.problem = ""
    scene.tell(5.0)
    assert senders.states() == (MessageReceiverState(name="phone", sent=1, failures=1, usable=True),)


@pytest.mark.parametrize(("problem", "usable"), [("", True), ("apprise does not take its address", False)])
def test_what_the_check_of_an_address_finds_is_logged_and_shown(
    scene: Scene, caplog: pytest.LogCaptureFixture, problem: str, *, usable: bool
) -> None:
    sender = MessageSender(scene.sender.receiver, lambda: scene.context, lambda: 10.0, check=lambda _: problem)
    assert sender.state.usable is None
    sender.check()
    assert sender.state == MessageReceiverState(name="phone", usable=usable, error=problem or None)
    assert [record.message for record in caplog.records] == ([] if usable else [f"messages to phone: {problem}"])


def test_a_message_that_arrived_knows_better_than_a_check_that_ends_later(scene: Scene) -> None:
    def check(_: object) -> str:
        sender.tell()
        scene.now += timedelta(seconds=10)
        sender.tell()
        return "no answer within 30 s"

    scene.begin()
    sender = MessageSender(
        scene.sender.receiver, lambda: scene.context, lambda: 10.0, send=lambda *_: Delivery(), check=check
    )
    sender.check()
    assert sender.state == MessageReceiverState(name="phone", sent=1, usable=True)


def end(scene: Scene) -> None:
    ended = incident("db", title="db is down", ended_at=scene.now, ended_by=EndedBy.STARTED)
    scene.context.memory.fold_incidents(lambda _: FoldedIncidents(IncidentState(), (ended,)), scene.now)


def is_sending(scene: Scene) -> bool:
    return scene.context.memory.memory.messages["phone"].sending is not None


def tell_opening(scene: Scene) -> Path:
    """Return the state file, once the receiver was told of an incident."""
    scene.begin()
    scene.tell()
    scene.tell(10.0)
    assert len(scene.sent) == 1
    return scene.folder / "state.db"


def test_an_end_that_cannot_be_read_is_told_once_it_can(scene: Scene) -> None:
    state = tell_opening(scene)
    end(scene)
    with unreadable(state, "incidents"):
        assert [scene.tell(30.0) for _ in range(3)] == [30.0] * 3
    scene.tell(30.0)
    assert [one.title for one in scene.sent[1:]] == ["OVER: db is down [host1]"]


def refuse_end(scene: Scene) -> Path:
    """Return the state file, once the receiver was told of an incident and has refused the message about its end."""
    state = tell_opening(scene)
    end(scene)
    scene.problem = "HTTP status 500"
    scene.tell(30.0)
    scene.problem = ""
    return state


def test_a_message_about_what_cannot_be_read_waits_for_a_while(scene: Scene) -> None:
    state = refuse_end(scene)
    with unreadable(state, "incidents"):
        assert scene.tell(5.0) == 10.0
        assert scene.sender.state.failures == 2
    assert len(scene.sent) == 2
    scene.tell(10.0)
    assert len(scene.sent) == 3
    assert scene.sent[1] == scene.sent[2]


def test_a_message_about_what_can_never_be_read_holds_up_no_other_for_long(scene: Scene) -> None:
    state = refuse_end(scene)
    with unreadable(state, "incidents"):
        scene.tell(299.0)
        assert is_sending(scene)
        scene.tell(60.0)
        assert not is_sending(scene)
    assert len(scene.sent) == 2


def test_a_digest_of_what_cannot_be_read_is_sent_once_it_can(scene: Scene) -> None:
    scene.context = replace(scene.context, to_local=lambda at: at)
    scene.wants_digest = True
    scene.tell()
    with unreadable(scene.folder / "state.db", "journal"):
        assert scene.tell(7 * 86400) == 5.0
        assert scene.sent == []
    scene.tell(5.0)
    assert [one.title for one in scene.sent] == ["The week of host1: No incident."]


@pytest.mark.parametrize(
    ("local", "due"),
    [
        ("2026-01-05T07:59:59", "2025-12-29T08:00:00"),
        ("2026-01-05T08:00:00", "2026-01-05T08:00:00"),
        ("2026-01-11T23:59:59", "2026-01-05T08:00:00"),
    ],
)
def test_the_digest_is_due_on_mondays_at_eight(local: str, due: str) -> None:
    assert find_digest_time(datetime.fromisoformat(local)) == datetime.fromisoformat(due)


def test_a_weekly_digest_comes_once_a_week_and_again_until_it_arrives(scene: Scene) -> None:
    scene.context = replace(scene.context, to_local=lambda at: at)
    scene.tell(8 * 86400)
    assert scene.sent == [], "nobody has asked for it"
    scene.wants_digest = True
    scene.tell()
    assert scene.sent == [], "not at once"
    scene.problem = "HTTP status 500"
    pause = scene.tell(7 * 86400)
    scene.problem = ""
    scene.tell(pause)
    scene.tell(3600)
    scene.tell(86400)
    assert [one.title for one in scene.sent] == ["The week of host1: No incident."] * 2
    assert len({one.key for one in scene.sent}) == 1
    assert "no deployment failed" in scene.sent[0].body
    scene.tell(7 * 86400)
    assert len(scene.sent) == 3
    assert len({one.key for one in scene.sent}) == 2
