"""Promise: space is read once per local file system; network file systems and foreign paths are never touched."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bcon_exporter.engine.disk import (
    find_mount_point,
    kind_of,
    parse_mounts_table,
    parse_propagations,
    read_disks,
)
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, Mount

TABLE = b"""\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:5 / /proc rw - proc proc rw
23 21 0:40 / /mnt/nas rw,relatime shared:2 - nfs4 nas:/x rw
24 21 0:41 / /mnt/with\\040blank rw - cifs //nas/y rw
25 21 8:2 / /var/lib/docker rw - xfs /dev/sda2 rw
nonsense
"""


def make_container(name: str, *mounts: Mount) -> ContainerFacts:
    return ContainerFacts(
        id="a" * 64,
        name=name,
        image="x",
        state=ContainerState.RUNNING,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        mounts=mounts,
    )


def bind(source: str, *, read_only: bool = False) -> Mount:
    return Mount(type="bind", source=source, target="/x", read_only=read_only)


def make_proc(root: Path, table: bytes) -> Path:
    (root / "self").mkdir(parents=True)
    (root / "self" / "mountinfo").write_bytes(table)
    return root


def test_the_root_and_a_bound_directory_of_one_file_system_are_one(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    containers = [make_container("a", bind(str(tmp_path / "data"))), make_container("b")]
    reading = read_disks(str(tmp_path), containers)
    assert reading.unread == {}
    (disk,) = reading.disks
    assert disk.path == str(tmp_path)
    assert 0.0 <= disk.used_ratio <= 1.0
    assert disk.total_bytes > 0
    assert disk.containers == ("a", "b")


def test_paths_of_another_host_are_stated_as_unread(tmp_path: Path) -> None:
    reading = read_disks("/no/such/root", [make_container("a", bind(str(tmp_path)))])
    assert reading.disks == ()
    assert "/no/such/root" in reading.unread


def test_a_network_file_system_is_not_touched(tmp_path: Path) -> None:
    table = f"21 1 8:1 / / rw - ext4 d rw\n22 21 0:9 / {tmp_path}/nas rw - nfs4 nas:/ rw\n".encode()
    (tmp_path / "root").mkdir()
    containers = [make_container("a", bind(f"{tmp_path}/nas/deep"))]
    reading = read_disks(str(tmp_path / "root"), containers, proc=make_proc(tmp_path / "proc", table))
    assert "nfs4" in reading.unread[f"{tmp_path}/nas/deep"]


def test_a_volume_with_a_device_of_its_own_is_looked_at(tmp_path: Path) -> None:
    data = tmp_path / "volumes" / "db" / "_data"
    data.mkdir(parents=True)
    table = f"21 1 8:1 / / rw - ext4 d rw\n22 21 8:9 / {data} rw - nfs nas:/ rw\n".encode()
    volumes = [Mount(type="volume", source=name, target="/x") for name in ("db", "plain", "../..")]
    reading = read_disks(str(tmp_path), [make_container("a", *volumes)], proc=make_proc(tmp_path / "proc", table))
    assert list(reading.unread) == [str(data)]
    assert [disk.path for disk in reading.disks] == [str(tmp_path)]


def test_read_only_and_relative_binds_are_not_looked_at(tmp_path: Path) -> None:
    containers = [make_container("a", bind("/no/such", read_only=True), bind("relative"))]
    assert read_disks(str(tmp_path), containers).unread == {}


def test_without_a_mount_table_nothing_is_touched(tmp_path: Path) -> None:
    reading = read_disks(str(tmp_path), [], proc=tmp_path / "none")
    assert reading.disks == ()
    assert reading.unread == {str(tmp_path): "the mount table could not be read"}


def test_a_remote_engine_without_a_root_has_no_disks() -> None:
    reading = read_disks(None, [])
    assert (reading.disks, reading.unread) == ((), {})


@pytest.mark.parametrize("path", ["/\0", "/" + "x" * 5000])
def test_a_hostile_path_is_stated_as_unread(path: str) -> None:
    assert read_disks(path, []).disks == ()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/home/x", "ext4"),
        ("/mnt/nas", "nfs4"),
        ("/mnt/nas/a/b", "nfs4"),
        ("/mnt/nasty", "ext4"),
        ("/mnt/with blank/a", "cifs"),
        ("/var/lib/docker/volumes", "xfs"),
    ],
)
def test_the_mount_table_tells_the_file_system_of_a_path(path: str, kind: str) -> None:
    assert kind_of(path, parse_mounts_table(TABLE)) == kind


def test_how_mounts_are_passed_on_stands_among_the_optional_fields() -> None:
    table = (
        TABLE
        + b"26 21 8:3 / /srv rw master:1 - ext4 /dev/sda3 rw\n27 21 8:4 / /both rw shared:3 master:1 - ext4 x rw\n"
    )
    found = parse_propagations(table)
    assert (found["/"], found["/srv"], found["/both"], found["/proc"]) == ("shared", "slave", "shared", "private")
    assert found["/mnt/with blank"] == "private"
    assert find_mount_point("/srv/a/b", found) == "/srv"
    assert find_mount_point("relative", {}) is None
