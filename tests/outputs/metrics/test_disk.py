"""What was read of the disk stands on /metrics; what was not read, or long ago, is absent and never 0."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bcon_exporter.memory import DiskMemory, fold_disk
from bcon_exporter.model.disk import (
    DiskSpace,
    LogFile,
    LogReading,
    StoredData,
    StoredImage,
    StoredLayer,
    StoredVolume,
)
from bcon_exporter.outputs.metrics import FAMILIES
from bcon_exporter.outputs.metrics.families import DISK_FAMILIES
from tests.factories import NOON, compose, container, full_id, snapshot
from tests.outputs.scenes import exposition_of, samples_of, scan_of, scrape_text

API = container(name="api", compose=compose())
C = 'container="api",project="shop",service="api"'
HOUR = timedelta(hours=1)
NAMES = tuple(family.name for family in DISK_FAMILIES)


def logs(at: datetime, size: int | None = 1000, used: int = 100, *, is_bounded: bool | None = False) -> LogReading:
    log = LogFile(
        container_id=API.id,
        name="api",
        project="shop",
        driver="json-file",
        is_bounded=is_bounded,
        size_bytes=size,
        unread="" if size is not None else "forbidden",
    )
    return LogReading(at=at, logs=(log,), space=DiskSpace(path="/var/lib/docker", used_bytes=used, free_bytes=9000))


def stored(at: datetime, size: int = 500, *, took_seconds: float = 1.0) -> StoredData:
    return StoredData(
        at=at,
        took_seconds=took_seconds,
        layers=(
            StoredLayer(container_id=API.id, name="api", project="shop", size_bytes=size, volumes=("data",)),
            StoredLayer(container_id=full_id("gone"), name="gone", size_bytes=7, is_running=False),
        ),
        images=(
            StoredImage(
                name="postgres:16",
                size_bytes=900,
                shared_bytes=100,
                containers=0,
                created_at=datetime(2026, 1, 1, tzinfo=UTC),
            ),
            StoredImage(name="postgres:16", size_bytes=1),
            StoredImage(name="odd"),
        ),
        images_bytes=800,
        volumes=(
            StoredVolume(name="data", size_bytes=size, containers=1),
            StoredVolume(name="left", size_bytes=40, containers=0),
            StoredVolume(name="nfs"),
        ),
    )


def text_of(*readings: LogReading | StoredData | str, at: datetime = NOON, off: frozenset[str] = frozenset()) -> str:
    disk = DiskMemory()
    for reading in readings:
        disk, _ = fold_disk(disk, reading, at)
    scan = scan_of(snapshot(API), disk=disk, finished_at=at)
    return scrape_text(exposition_of(scan, off=off)[0])


def test_sizes_are_told_as_they_were_read() -> None:
    assert samples_of(text_of(logs(NOON), stored(NOON)), *NAMES) == [
        f"bcon_container_writable_layer_bytes{{{C}}} 500",
        'bcon_volume_size_bytes{volume="data",project="shop"} 500',
        'bcon_volume_size_bytes{volume="left",project=""} 40',
        'bcon_volume_containers{volume="data",project="shop"} 1',
        'bcon_volume_containers{volume="left",project=""} 0',
        'bcon_image_size_bytes{image="postgres:16"} 900',
        'bcon_image_containers{image="postgres:16"} 0',
        'bcon_image_created_timestamp_seconds{image="postgres:16"} 1767225600',
        f"bcon_container_log_file_bytes{{{C}}} 1000",
        f"bcon_container_log_rotated{{{C}}} 0",
        'bcon_docker_disk_bytes{kind="logs"} 1000',
        'bcon_docker_disk_bytes{kind="images"} 800',
        'bcon_docker_disk_bytes{kind="volumes"} 540',
        'bcon_docker_disk_bytes{kind="containers"} 507',
        'bcon_docker_disk_reclaimable_bytes{kind="images"} 800',
        'bcon_docker_disk_reclaimable_bytes{kind="volumes"} 40',
        'bcon_docker_disk_reclaimable_bytes{kind="containers"} 7',
    ]


@pytest.mark.promise("SER-3")
def test_what_was_not_read_is_absent() -> None:
    assert samples_of(text_of(), *NAMES) == []
    assert samples_of(text_of("the engine did not answer"), *NAMES) == []
    unseen = samples_of(text_of(logs(NOON, None, is_bounded=None)), *NAMES)
    assert unseen == []
    only_logs = samples_of(text_of(logs(NOON), "the engine did not answer"), *NAMES)
    assert [line.partition("{")[0] for line in only_logs] == [
        "bcon_container_log_file_bytes", "bcon_container_log_rotated", "bcon_docker_disk_bytes",
    ]  # fmt: skip


@pytest.mark.promise("SER-3")
@pytest.mark.parametrize(
    ("took_seconds", "minutes", "there"),
    [(1.0, 15.0, True), (1.0, 15.1, False), (60.0, 60.0, True), (60.0, 60.1, False)],
)
def test_an_old_look_is_withheld(took_seconds: float, minutes: float, there: bool) -> None:
    text = text_of(stored(NOON, took_seconds=took_seconds), at=NOON + timedelta(minutes=minutes))
    assert bool(samples_of(text, *NAMES)) is there


@pytest.mark.parametrize(("known", "there"), [(HOUR - timedelta(seconds=1), False), (HOUR, True)])
def test_growth_and_an_end_are_told_once_they_are_known_for_an_hour(known: timedelta, there: bool) -> None:
    now = NOON + known
    text = text_of(logs(NOON), stored(NOON), logs(now, 3400, 190), stored(now, 600), at=now)
    names = [name for name in NAMES if "growth" in name or "exhaustion" in name]
    assert samples_of(text, *names) == ([
        f"bcon_container_writable_layer_growth_bytes_per_day{{{C}}} 2400",
        'bcon_volume_growth_bytes_per_day{volume="data",project="shop"} 2400',
        'bcon_volume_growth_bytes_per_day{volume="left",project=""} 0',
        f"bcon_container_log_file_growth_bytes_per_day{{{C}}} 57600",
        'bcon_disk_exhaustion_timestamp_seconds{mountpoint="/var/lib/docker"} '
        f"{now.timestamp() + 9000 / 90 * 3600:.0f}",
    ] if there else [])  # fmt: skip


@pytest.mark.parametrize("used", [100, 90])
def test_a_disk_that_does_not_grow_has_no_end(used: int) -> None:
    text = text_of(logs(NOON), logs(NOON + HOUR, 1000, used), at=NOON + HOUR)
    assert samples_of(text, "bcon_disk_exhaustion_timestamp_seconds") == []


def test_a_family_says_of_which_look_it_is() -> None:
    text = text_of()
    assert "# HELP bcon_volume_size_bytes Size of the volume; as of the last look at the disk\n" in text
    assert "# HELP bcon_container_pids Processes and threads; as of the last scan\n" in text


@pytest.mark.promise("SER-4")
@pytest.mark.parametrize("collector", ["resources", "network", "pressure", "disk", "logs"])
def test_a_collector_that_is_off_leaves_out_its_families_and_no_other(collector: str) -> None:
    text = text_of(logs(NOON), stored(NOON), off=frozenset((collector,)))
    expected = {family.name for family in FAMILIES if family.source == "diagnose" and family.collector != collector}
    stored_families = {family.name for family in FAMILIES if family.source == "diagnose"}
    shown = {name for name in stored_families if f"# HELP {name} " in text}
    assert shown == expected
