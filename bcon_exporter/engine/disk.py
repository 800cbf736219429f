"""How full the file systems are that containers write to: the Docker root, volumes and bound directories.

Only what exists and may be read on this host; a remote engine's paths do not. Network file systems are never touched,
since one that is dead blocks whoever asks it; they are told by the mount table, which never blocks.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from bcon_exporter.clock import monotonic
from bcon_exporter.model.container_facts import ContainerFacts, DiskFacts, Mount
from bcon_exporter.model.disk import DiskSpace
from bcon_exporter.secrets.masking import safe_text

MAX_PATHS = 1000
_KEPT_SECONDS = 55.0
_MAX_MOUNTINFO_BYTES = 4 * 2**20
# Kinds that may block, and kinds that have no space of their own.
_NETWORK_KINDS = (
    *("nfs", "cifs", "smb", "ceph", "gluster", "lustre", "9p", "afs", "ncp", "ocfs", "gfs", "beegfs", "sshfs"),
)
_SKIPPED_KINDS = frozenset(
    (
        "autofs",
        "proc",
        "sysfs",
        "cgroup",
        "cgroup2",
        "devpts",
        "devtmpfs",
        "mqueue",
        "nsfs",
        "squashfs",
        "iso9660",
        "erofs",
    )
)


@dataclass(frozen=True, slots=True)
class DiskReading:
    """What was read, and what could not be: path → reason."""

    disks: tuple[DiskFacts, ...]
    unread: dict[str, str]


class DiskReader:
    """Reads the space of the file systems now and then: it changes slowly, and mount tables are long."""

    def __init__(self, proc: Path) -> None:
        self._proc = proc
        self._reading: DiskReading | None = None
        self._read_at = float("-inf")

    def read(self, root_dir: str | None, containers: Iterable[ContainerFacts]) -> DiskReading:
        """Return what `read_disks` does, at most a minute old."""
        if self._reading is None or monotonic() - self._read_at > _KEPT_SECONDS:
            self._reading = read_disks(root_dir, containers, proc=self._proc)
            self._read_at = monotonic()
        return self._reading


@dataclass(slots=True)
class _FileSystem:
    path: str
    used_ratio: float
    total_bytes: int
    free_bytes: int
    containers: list[str] = field(default_factory=list)


def read_disks(
    root_dir: str | None, containers: Iterable[ContainerFacts], *, proc: Path = Path("/proc")
) -> DiskReading:
    """Read the space of every local file system that containers write to, once each.

    Args:
        root_dir: The engine's root directory, which all containers use; None when unknown.
        containers: Their volumes ("volume" mounts lie below the root) and writable bound directories are looked at.
        proc: Directory of processes, for the mount table.
    """
    mounts = read_mounts(proc)
    users = _find_users(root_dir, containers, mounts)
    file_systems: dict[int, _FileSystem] = {}
    unread: dict[str, str] = {}
    if root_dir in users and (reason := _foreign(root_dir, mounts)):
        return DiskReading(disks=(), unread={safe_text(root_dir): reason})
    for path, names in list(users.items())[:MAX_PATHS]:
        kind = kind_of(path, mounts)
        if kind is None or _may_block(kind) or kind in _SKIPPED_KINDS:
            unread[path] = f"a {kind} file system is not looked at" if kind else "the mount table could not be read"
            continue
        reason = _measure(path, names, file_systems)
        if reason:
            unread[path] = reason
    disks = [
        DiskFacts(
            path=safe_text(disk.path),
            used_ratio=disk.used_ratio,
            total_bytes=disk.total_bytes,
            free_bytes=disk.free_bytes,
            containers=tuple(dict.fromkeys(disk.containers)),
        )
        for disk in file_systems.values()
    ]
    return DiskReading(disks=tuple(disks), unread={safe_text(path): reason for path, reason in unread.items()})


def read_space(root_dir: str | None, *, proc: Path = Path("/proc")) -> DiskSpace | str:
    """Return the space of the file system below the engine's root, or why it is not known."""
    if root_dir is None or not root_dir.startswith("/"):
        return "the engine does not say where its root is"
    mounts = read_mounts(proc)
    kind = kind_of(root_dir, mounts)
    if kind is None or _may_block(kind) or kind in _SKIPPED_KINDS:
        return f"a {kind} file system is not looked at" if kind else "the mount table could not be read"
    if reason := _foreign(root_dir, mounts):
        return f"{reason}, or not seen from within a container: mount {safe_text(root_dir)} read-only to see its space"
    try:
        space = os.statvfs(root_dir)
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or "no valid path"
    return DiskSpace(
        path=safe_text(root_dir),
        used_bytes=(space.f_blocks - space.f_bfree) * space.f_frsize,
        free_bytes=space.f_bavail * space.f_frsize,
    )


def _foreign(root_dir: str, mounts: dict[str, str]) -> str | None:
    """Tell why paths of this engine mean nothing here: without its root, others are other directories of this name."""
    kind = kind_of(root_dir, mounts)
    if kind is None or _may_block(kind):
        return None
    try:
        os.stat(root_dir)  # noqa: PTH116 - a text path of another host may be no valid Path here
    except (OSError, ValueError):
        return "the engine's files are not on this host"
    return None


def read_mounts(proc: Path) -> dict[str, str]:
    """Return mount point → file system type from the mount table; empty when it cannot be read."""
    return parse_mounts_table(read_mounts_table(proc))


def read_mounts_table(proc: Path) -> bytes:
    """Return the mount table; empty when it cannot be read."""
    with suppress(OSError), (proc / "self" / "mountinfo").open("rb") as table:
        return table.read(_MAX_MOUNTINFO_BYTES)
    return b""


def parse_mounts_table(content: bytes) -> dict[str, str]:
    """Parse /proc/PID/mountinfo (proc(5)); a later mount on the same point hides the earlier."""
    return {point: kind for point, _, kind in _mounts_in(content)}


def parse_propagations(content: bytes) -> dict[str, str]:
    """Return mount point → "shared", "slave" or "private": what /proc/PID/mountinfo tells of mounts below it."""
    return {
        point: "shared" if "shared:" in options else "slave" if "master:" in options else "private"
        for point, options, _ in _mounts_in(content)
    }


def _mounts_in(content: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield mount point, optional fields and file system type of each line."""
    for line in content.decode("utf-8", "surrogateescape").splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split(" ", 6)
        if separator and len(fields) > 4:  # noqa: PLR2004 - the fifth field is the mount point
            yield _unescape(fields[4]), "".join(fields[6:]), after.split(" ", 1)[0]


def kind_of(path: str, mounts: dict[str, str]) -> str | None:
    """Return the type of the file system that an absolute path lies on; None when unknown."""
    point = find_mount_point(path, mounts)
    return None if point is None else mounts[point]


def find_mount_point(path: str, mounts: Collection[str]) -> str | None:
    """Return the mount point that an absolute path lies on; None when unknown."""
    parent = path.rstrip("/") or "/"
    while parent not in mounts:
        if parent in ("/", ""):
            return None
        parent = parent.rpartition("/")[0] or "/"
    return parent


def _directory(mount: Mount, root_dir: str | None, mounts: dict[str, str]) -> str | None:
    """Return where a mount lies on this host; None for what has no space of its own beside the engine's root."""
    if mount.read_only:
        return None
    if mount.type == "bind" and mount.source.startswith("/"):
        return mount.source
    if mount.type == "volume" and root_dir:
        # A volume with a device of its own (driver options) is mounted on its directory below the root.
        path = f"{root_dir}/volumes/{mount.source}/_data"
        return path if path in mounts else None
    return None


def _find_users(
    root_dir: str | None, containers: Iterable[ContainerFacts], mounts: dict[str, str]
) -> dict[str, list[str]]:
    users: dict[str, list[str]] = {}
    if root_dir and root_dir.startswith("/"):
        users[root_dir] = []
    for container in containers:
        if root_dir in users:
            users[root_dir].append(container.name)
        for mount in container.mounts:
            path = _directory(mount, root_dir, mounts)
            if path is not None:
                users.setdefault(path, []).append(container.name)
    return users


def _may_block(kind: str) -> bool:
    return kind.startswith(_NETWORK_KINDS) or kind.startswith("fuse")


def _measure(path: str, names: list[str], file_systems: dict[int, _FileSystem]) -> str | None:
    """Add one path's file system, once a device; return why it could not be read."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a text path of another host may be no valid Path here
        if status.st_dev in file_systems:
            file_systems[status.st_dev].containers += names
            return None
        space = os.statvfs(path)
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or "no valid path"
    usable = space.f_blocks - space.f_bfree + space.f_bavail
    if space.f_blocks == 0 or usable <= 0:
        return "the file system has no size"
    # As df counts: what root alone may use is not free to others.
    ratio = (space.f_blocks - space.f_bfree) / usable
    file_systems[status.st_dev] = _FileSystem(
        path,
        min(1.0, max(0.0, ratio)),
        space.f_blocks * space.f_frsize,
        space.f_bavail * space.f_frsize,
        list(names),
    )
    return None


def _unescape(field: str) -> str:
    """Undo the table's octal escapes of blank, tab, line feed and backslash."""
    if "\\" not in field:
        return field
    for escape, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(escape, char)
    return field
