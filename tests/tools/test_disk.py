"""Promise: who fills the disk is told largest first, with what is not known said and never 0, by a daemon or alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.errors import DeadlineExceededError
from bcon_exporter.memory import DiskMemory, Memory, fold_disk
from bcon_exporter.model.container_facts import EngineFacts
from bcon_exporter.model.disk import (
    DiskKind,
    DiskReport,
    DiskSpace,
    DiskUsageInput,
    LogFile,
    LogReading,
    StoredData,
    StoredImage,
    StoredLayer,
    StoredVolume,
)
from bcon_exporter.outputs.text import render_plain
from bcon_exporter.tools import call_tool
from bcon_exporter.tools.disk import FRESH, get_disk_usage, write_disk_report
from bcon_exporter.tools.replay import SnapshotMemory
from tests.factories import NOON, container, full_id, snapshot
from tests.tools.hosts import ScriptedHost, context_of

if TYPE_CHECKING:
    from datetime import datetime

    from bcon_exporter.tools import Context

ENGINE = EngineFacts(id="one", name="h", server_version="28", api_version="1.48", root_dir="/d")
HOUR = timedelta(hours=1)


def log(name: str, size: int | None, **facts: Any) -> LogFile:
    base: dict[str, Any] = {"container_id": full_id(name), "name": name, "driver": "json-file", "is_bounded": True}
    return LogFile(**(base | facts), size_bytes=size)


def reading(at: datetime = NOON, *logs: LogFile, used: int = 1000, engine_id: str = "one") -> LogReading:
    return LogReading(
        at=at, engine_id=engine_id, logs=logs, space=DiskSpace(path="/d", used_bytes=used, free_bytes=4000)
    )


STORED = StoredData(
    at=NOON,
    layers=(
        StoredLayer(container_id=full_id("api"), name="api", project="shop", size_bytes=40, volumes=("data",)),
        StoredLayer(container_id=full_id("db"), name="db", project="shop", size_bytes=7, volumes=("data", "own")),
        StoredLayer(container_id=full_id("old"), name="old", size_bytes=30, is_running=False),
    ),
    images=(
        StoredImage(name="app:1", size_bytes=500, shared_bytes=100, containers=1),
        StoredImage(name="left:1", size_bytes=300, shared_bytes=100, containers=0),
        StoredImage(name="odd:1", size_bytes=20, containers=None),
    ),
    images_bytes=700,
    volumes=(
        StoredVolume(name="data", size_bytes=90, containers=2),
        StoredVolume(name="lonely", size_bytes=80, containers=0),
        StoredVolume(name="nfs", size_bytes=None, containers=1),
    ),
    cache_bytes=60,
    cache_free_bytes=25,
)


def remembered(*readings: LogReading | StoredData | str) -> DiskMemory:
    disk = DiskMemory()
    for one in readings:
        disk, _ = fold_disk(disk, one, NOON if isinstance(one, str) else one.at)
    return disk


def report_of(*readings: LogReading | StoredData | str, limit: int = 50) -> DiskReport:
    return write_disk_report(remembered(*readings), NOON, limit)


class Remembered(SnapshotMemory):
    """A memory of the disk alone."""

    def __init__(self, disk: DiskMemory) -> None:
        super().__init__()
        self.memory = Memory(disk=disk)

    def keep_disk(self, reading: LogReading | StoredData | str, now: datetime) -> None:
        disk, _ = fold_disk(self.memory.disk, reading, now)
        self.memory = Memory(disk=disk)


def with_memory(*readings: LogReading | StoredData | str, **parts: Any) -> Context:
    """A context that remembers readings of another process."""
    memory = Remembered(replace(remembered(*readings), is_own=False))
    return context_of(snapshot(container(), engine=ENGINE), memory=memory, **parts)


def test_the_largest_come_first_with_who_uses_them_and_what_could_be_freed() -> None:
    report = report_of(reading(NOON, log("api", 600, is_bounded=False), log("db", 5)), STORED)
    rows = [(one.kind.value, one.name, one.size_bytes, one.reclaimable_bytes) for one in report.items]

    assert rows == [
        ("log", "api", 600, 0),
        ("image", "app:1", 500, 0),
        ("image", "left:1", 300, 200),
        ("volume", "data", 90, 0),
        ("volume", "lonely", 80, 80),
        ("build_cache", "build cache", 60, 25),
        ("layer", "api", 40, 0),
        ("layer", "old", 30, 30),
        ("image", "odd:1", 20, 0),
        ("layer", "db", 7, 0),
        ("log", "db", 5, 0),
        ("volume", "nfs", None, 0),
    ]
    by_name = {(one.kind, one.name): one for one in report.items}
    assert by_name[DiskKind.VOLUME, "data"].containers == ("api", "db")
    assert by_name[DiskKind.VOLUME, "data"].project == "shop"
    assert by_name[DiskKind.LOG, "api"].unrotated
    assert not by_name[DiskKind.LOG, "db"].unrotated
    assert by_name[DiskKind.VOLUME, "nfs"].note == "its driver does not tell"


def test_totals_count_shared_layers_once_and_say_what_is_unknown() -> None:
    totals = {one.kind: one for one in report_of(reading(NOON, log("a", 600), log("b", None)), STORED).totals}

    assert [(kind.value, one.count, one.size_bytes, one.unknown) for kind, one in totals.items()] == [
        ("image", 3, 700, 0),
        ("log", 2, 600, 1),
        ("volume", 3, 170, 1),
        ("layer", 3, 77, 0),
        ("build_cache", 1, 60, 0),
    ]
    assert {kind.value: one.reclaimable_bytes for kind, one in totals.items()} == {
        "image": 200, "log": 0, "volume": 80, "layer": 30, "build_cache": 25
    }  # fmt: skip


def test_what_is_left_out_is_counted_and_still_in_the_totals() -> None:
    report = report_of(reading(NOON, *(log(f"c{number}", number) for number in range(9))), limit=2)

    assert [one.size_bytes for one in report.items] == [8, 7]
    assert (report.left_out, report.totals[0].size_bytes) == (7, 36)


def test_growth_and_when_the_disk_is_full() -> None:
    report = report_of(reading(NOON, log("api", 0), used=0), reading(NOON + HOUR, log("api", 500), used=1000))

    assert report.items[0].growth is not None
    assert report.items[0].growth.bytes_per_hour == 500
    assert report.full_in_seconds == 4 * 3600
    assert report_of(reading(NOON, used=9), reading(NOON + HOUR, used=9)).full_in_seconds is None
    assert report_of(reading(NOON, used=9)).full_in_seconds is None


def test_a_log_that_cannot_be_seen_is_unknown_and_said() -> None:
    unseen = log("api", None, unread="it is not seen from here")
    elsewhere = log("db", None, driver="journald", unread="the driver journald keeps it elsewhere")
    report = report_of(reading(NOON, unseen, elsewhere, log("web", 3)))

    assert report.unread["log files"] == "1 of 2 could not be seen: it is not seen from here"
    assert [(one.name, one.size_bytes, one.note) for one in report.items] == [
        ("web", 3, ""),
        ("api", None, "it is not seen from here"),
        ("db", None, "the driver journald keeps it elsewhere"),
    ]


def test_an_engine_that_did_not_answer_is_said_and_its_last_answer_stays() -> None:
    never = report_of(reading(), "not answered within 180 s")
    before = report_of(reading(), STORED, "not answered within 180 s")

    assert never.unread == {"layers, images, volumes, build cache": "not answered within 180 s"}
    assert (never.totals, never.stored_at) == ((), None)
    assert before.unread["layers, images, volumes, build cache"].startswith("not answered within 180 s; the sizes are")
    assert before.stored_at == NOON
    assert report_of().unread == {
        "log files": "not asked yet",
        "layers, images, volumes, build cache": "not asked yet",
    }


class Disk(ScriptedHost):
    """A host whose logs and sums are told, and counted."""

    def __init__(self) -> None:
        super().__init__(snapshot(container(), engine=ENGINE))
        self.asked = 0
        self.answer: StoredData | Exception = STORED

    def read_log_files(self, now: datetime) -> LogReading:
        return reading(now, log("api", 9))

    def read_stored_data(self, now: datetime) -> StoredData:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer.model_copy(update={"at": now})


def test_a_daemon_tells_what_it_read_last_and_asks_nothing() -> None:
    host = Disk()
    context = with_memory(reading(NOON - 9 * HOUR), STORED, host=host)
    envelope = call_tool(context, "get_disk_usage", {"limit": 3})

    assert envelope.error is None
    assert (len(envelope.value.items), host.asked) == (3, 0)


@pytest.mark.parametrize(
    ("age", "engine_id", "asked"),
    [(FRESH - timedelta(seconds=1), "one", 0), (FRESH, "one", 1), (timedelta(), "other", 1), (-HOUR, "one", 1)],
)
def test_a_command_takes_a_fresh_reading_of_the_same_engine_else_it_reads(
    age: timedelta, engine_id: str, asked: int
) -> None:
    host = Disk()
    known = reading(NOON - age, log("api", 3), engine_id=engine_id)
    report = get_disk_usage(with_memory(known, host=host, one_shot=True), DiskUsageInput())

    assert host.asked == asked
    assert any(one.kind is DiskKind.VOLUME for one in report.items) == bool(asked)


@pytest.mark.parametrize(("engine_id", "asked"), [("one", 0), ("other", 1), (None, 1)])
def test_a_command_asks_the_daemon_of_its_engine(engine_id: str | None, asked: int) -> None:
    host = Disk()
    told = report_of(reading(NOON, log("told", 5))).model_copy(update={"engine_id": engine_id})
    context = with_memory(host=host, one_shot=True, ask_disk=lambda _: told)
    report = get_disk_usage(context, DiskUsageInput())

    assert host.asked == asked
    assert (report == told) is not bool(asked)


def test_a_command_without_a_daemon_goes_on_where_an_earlier_one_stopped() -> None:
    known = reading(NOON - 20 * HOUR, log("api", 1))
    report = get_disk_usage(with_memory(known, host=Disk(), one_shot=True), DiskUsageInput())
    (own,) = [one for one in report.items if one.kind is DiskKind.LOG]

    assert own.growth is not None
    assert own.growth.known_for_seconds == 72_000


def test_a_command_that_goes_on_looks_at_logs_again_and_asks_every_five_minutes() -> None:
    host, times = Disk(), [NOON]
    context = with_memory(host=host, one_shot=True, now=lambda: times[0])
    for minutes, asked in ((0, 1), (1, 1), (4.9, 1), (5, 2), (9, 2)):
        times[0] = NOON + timedelta(minutes=minutes)
        report = get_disk_usage(context, DiskUsageInput())
        assert (host.asked, report.logs_at) == (asked, times[0])


def test_another_engines_disk_is_forgotten() -> None:
    host = Disk()
    host.answer = DeadlineExceededError("not answered within 180 s", {})
    context = with_memory(reading(NOON, engine_id="other"), STORED, host=host, one_shot=True)
    report = get_disk_usage(context, DiskUsageInput())

    assert (report.engine_id, report.stored_at, report.known_since) == ("one", None, NOON)


def test_an_engine_that_gives_no_sum_costs_a_command_no_error() -> None:
    host = Disk()
    host.answer = DeadlineExceededError("not answered within 180 s", {})
    report = get_disk_usage(with_memory(host=host, one_shot=True), DiskUsageInput())

    assert report.items[0].name == "api"
    assert report.unread["layers, images, volumes, build cache"] == "not answered within 180 s"


def test_a_snapshot_tells_of_what_it_holds() -> None:
    facts = snapshot(
        container(log_driver="json-file", log_is_bounded=False, log_bytes=77), container(name="b"), engine=ENGINE
    )
    context = context_of(facts)
    logs = context.host.read_log_files(NOON)
    report = get_disk_usage(replace(context, memory=SnapshotMemory(logs)), DiskUsageInput())

    assert [(one.name, one.size_bytes) for one in report.items] == [("api", 77), ("b", None)]
    assert "a snapshot does not hold it" in report.unread["layers, images, volumes, build cache"]


def test_a_hostile_name_stays_a_name_on_a_terminal() -> None:
    stored = STORED.model_copy(update={"volumes": (StoredVolume(name="\x1b[2Jx\n- y | z", size_bytes=10**9),)})
    text = render_plain(report_of(reading(), stored))

    assert "\x1b[2J" not in text
    assert any("953.7 MiB" in one and "volume" in one for one in text.splitlines())
