"""Promise: a log's size is that of all its files; where they cannot be seen, it is unknown with what would help."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.engine.disk import read_space
from bcon_exporter.engine.log_sizes import LogSizes, read_log_size
from bcon_exporter.engine.parse import parse_container, parse_placement
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.disk import DiskSpace
from tests.factories import container, full_id

if TYPE_CHECKING:
    from pathlib import Path

ID = full_id("api")


def inspected(folder: Path | str, driver: str = "json-file", **options: str) -> dict[str, Any]:
    path = f"{folder}/containers/{ID}/{ID}-json.log" if driver == "json-file" else ""
    return {"Id": ID, "LogPath": path, "HostConfig": {"LogConfig": {"Type": driver, "Config": options}}}


def size_of(folder: Path | str, driver: str = "json-file", *, is_here: bool = True, kept: int = 1) -> int | str:
    options = {"max-size": "10m", "max-file": str(kept)} if kept > 1 else {}
    placement = parse_placement(inspected(folder, driver, **options))
    return read_log_size(container(log_driver=driver), placement, str(folder), is_here=is_here)


def write(folder: Path, name: str, size: int) -> None:
    path = folder / "containers" / ID / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)


@pytest.mark.parametrize(
    ("driver", "options", "bounded"),
    [
        ("json-file", {}, False),
        ("json-file", {"max-file": "3"}, False),
        ("json-file", {"max-size": "10m"}, True),
        ("local", {}, True),
        ("journald", {}, None),
        ("none", {}, None),
    ],
)
def test_which_driver_bounds_its_log(driver: str, options: dict[str, str], bounded: bool | None) -> None:
    facts = parse_container(None, inspected("/d", driver, **options))

    assert facts is not None
    assert facts.log_is_bounded is bounded


def test_nothing_is_said_of_a_container_that_was_not_inspected() -> None:
    facts = parse_container({"Id": ID, "Names": ["/api"]})

    assert facts is not None
    assert facts.log_is_bounded is None


def test_rotated_files_count_compressed_or_not(tmp_path: Path) -> None:
    for name, size in ((f"{ID}-json.log", 5), (f"{ID}-json.log.1", 70), (f"{ID}-json.log.2.gz", 900)):
        write(tmp_path, name, size)

    assert size_of(tmp_path, kept=3) == 975
    assert size_of(tmp_path, kept=2) == 75
    assert size_of(tmp_path) == 5


def test_the_driver_local_has_its_files_below_the_root(tmp_path: Path) -> None:
    for name, size in (("local-logs/container.log", 5), ("local-logs/container.log.1.gz", 70)):
        write(tmp_path, name, size)

    assert size_of(tmp_path, "local") == 75


def test_a_folder_without_a_log_has_none_of_any_size(tmp_path: Path) -> None:
    (tmp_path / "containers" / ID).mkdir(parents=True)

    assert size_of(tmp_path) == 0
    assert size_of(tmp_path, "local") == 0
    assert size_of(tmp_path, "none") == 0


def test_what_is_not_seen_is_unknown_with_the_mount_that_helps(tmp_path: Path) -> None:
    for driver in ("json-file", "local"):
        assert size_of("/var/lib/no-docker", driver) == (
            "it is not seen from here: within a container, mount /var/lib/no-docker/containers read-only "
            "and run as root"
        )
    assert size_of(tmp_path, "journald") == "the driver journald keeps it elsewhere"
    write(tmp_path, f"{ID}-json.log", 5)
    assert size_of(tmp_path, is_here=False) == "the engine runs on another machine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_what_is_forbidden_is_unknown(tmp_path: Path) -> None:
    write(tmp_path, f"{ID}-json.log", 5)
    (tmp_path / "containers").chmod(0)
    assert size_of(tmp_path) == "this user may not look at it: run as root"
    (tmp_path / "containers").chmod(0o700)


def test_a_path_that_is_not_this_containers_is_not_looked_at(tmp_path: Path) -> None:
    write(tmp_path, f"{ID}-json.log", 5)
    other = container(name="other", log_driver="json-file")

    assert read_log_size(other, parse_placement(inspected(tmp_path)), None) == "the engine does not say where it is"
    assert read_log_size(container(log_driver=None), None, None) == "inspect was not read"


def test_what_never_ran_has_no_log() -> None:
    fresh = container(state=ContainerState.CREATED, started_at=None, log_driver="json-file")

    assert read_log_size(fresh, parse_placement({"Id": ID, "LogPath": ""}), None) == 0


@pytest.mark.parametrize("path", ["/a\0b", "/" + "x" * 5000, "/\ud800"])
def test_hostile_paths_are_no_path(path: str) -> None:
    placement = parse_placement({**inspected("/d"), "LogPath": f"{path}/{ID}-json.log"})

    assert isinstance(read_log_size(container(log_driver="json-file"), placement, None), str)


@pytest.mark.parametrize("kept", ["", "-1", "0", "many", "1" * 40, "\u0663"])
def test_a_count_of_files_that_is_none_counts_one(kept: str) -> None:
    placement = parse_placement(inspected("/d", **{"max-size": "1m", "max-file": kept}))

    assert placement.log_file_count == 1


def test_the_space_is_that_of_the_engines_root(tmp_path: Path) -> None:
    space, told = os.statvfs(tmp_path), read_space(str(tmp_path))

    assert isinstance(told, DiskSpace)
    assert told.used_bytes + space.f_bfree * space.f_frsize == pytest.approx(space.f_blocks * space.f_frsize, rel=0.01)
    assert read_space(None) == "the engine does not say where its root is"
    assert "mount /var/lib/no-docker read-only" in str(read_space("/var/lib/no-docker"))


def test_a_scan_looks_at_a_log_once_a_minute(tmp_path: Path) -> None:
    write(tmp_path, f"{ID}-json.log", 5)
    facts, placement = container(log_driver="json-file"), parse_placement(inspected(tmp_path))
    sizes = LogSizes()
    sizes.begin_scan()
    assert sizes.read(facts, None, is_here=True) == "inspect was not read"
    assert sizes.read(facts, placement, is_here=True) == 5
    write(tmp_path, f"{ID}-json.log", 900)
    sizes.begin_scan()

    assert sizes.read(facts, placement, is_here=True) == 5
    assert LogSizes().read(facts, placement, is_here=True) == 900
