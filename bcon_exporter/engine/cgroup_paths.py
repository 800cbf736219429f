"""Where a container's cgroup lies: found by the engine's patterns, by looking, by its process last."""

import os
import re  # noqa: TID251 - sees names of folders that the kernel lists, at most 255 characters
from collections.abc import Iterator
from contextlib import suppress

from bcon_exporter import clock

_MAX_DEPTH = 4
_MAX_DIRECTORIES = 20_000
_INDEX_SECONDS = 30.0
# cgroupfs names the directory by the id, systemd by a scope; Podman has a prefix of its own.
_NAME_FORMS = ("{}", "docker-{}.scope", "libpod-{}.scope", "libpod-{}")
_DEFAULT_PARENTS = ("docker", "system.slice", "machine.slice", "libpod_parent")
_CONTAINER_DIRECTORY = re.compile(r"(?:docker-|libpod-)?([0-9a-f]{64})(?:\.scope)?")


class CgroupPaths:
    """Finds the cgroup of a container below one controller's directory; remembers what it has learned.

    Args:
        base: Directory of the hierarchy ("/sys/fs/cgroup", with v1 one controller's below it).
        proc: Directory of processes.
        controllers: Names to look for in /proc/PID/cgroup; none for v2.
    """

    def __init__(self, base: str, proc: str, controllers: tuple[str, ...]) -> None:
        self._base = base
        self._proc = proc
        self._controllers = controllers
        self._learned: list[tuple[str, str]] = []
        self._index: dict[str, str] = {}
        self._indexed_at: float | None = None

    def find(self, container_id: str, cgroup_parent: str, pid: int | None) -> str | None:
        """Return the path below the base, without slashes at its ends; None when there is none to be read."""
        for path in self._candidates(container_id, cgroup_parent):
            if self._exists(path):
                self._learn(path, container_id)
                return path
        path_found = self._look(container_id) or self._of_process(container_id, pid)
        if path_found is not None:
            self._learn(path_found, container_id)
        return path_found

    def _exists(self, path: str) -> bool:
        try:
            os.stat(f"{self._base}/{path}")  # noqa: PTH116 - hot: no Path objects
        except (OSError, ValueError):
            return False
        return True

    def _candidates(self, container_id: str, cgroup_parent: str) -> Iterator[str]:
        parent = cgroup_parent.strip("/")
        if parent and ".." not in parent.split("/"):
            for directory in dict.fromkeys((parent, _slice_path(parent))):
                for form in _NAME_FORMS:
                    yield f"{directory}/{form.format(container_id)}"
            return
        for before, after in self._learned:
            yield f"{before}{container_id}{after}"
        for directory in _DEFAULT_PARENTS:
            for form in _NAME_FORMS:
                yield f"{directory}/{form.format(container_id)}"

    def _learn(self, path: str, container_id: str) -> None:
        """Remember the pattern: an engine with a parent of its own puts all its containers there."""
        before, _, after = path.partition(container_id)
        if (before, after) not in self._learned and len(self._learned) < 8:  # noqa: PLR2004 - a few engines
            self._learned.append((before, after))

    def _look(self, container_id: str) -> str | None:
        """Walk the hierarchy, at most every 30 s, for directories named like containers."""
        now = clock.monotonic()
        if self._indexed_at is None or now - self._indexed_at > _INDEX_SECONDS:
            self._indexed_at = now
            self._index = dict(self._walk())
        return self._index.get(container_id)

    def _walk(self) -> Iterator[tuple[str, str]]:
        level, seen = [""], 0
        for _ in range(_MAX_DEPTH):
            below: list[str] = []
            for directory in level:
                for name in _subdirectories(f"{self._base}/{directory}"):
                    seen += 1
                    if seen > _MAX_DIRECTORIES:
                        return
                    path = f"{directory}/{name}".lstrip("/")
                    match = _CONTAINER_DIRECTORY.fullmatch(name)
                    if match:
                        yield match.group(1), path
                    below.append(path)
            level = below

    def _of_process(self, container_id: str, pid: int | None) -> str | None:
        """Read /proc/PID/cgroup; the pid may be another namespace's, so the path must name the container."""
        for controllers, path in read_process_cgroups(self._proc, pid):
            if container_id not in path:
                continue
            wanted = not controllers if not self._controllers else bool(set(controllers) & set(self._controllers))
            relative = path.strip("/").removeprefix("../").lstrip("/")
            if wanted and self._exists(relative):
                return relative
        return None


def read_process_cgroups(proc: str, pid: int | None) -> list[tuple[tuple[str, ...], str]]:
    """Return (controllers, path) of each line of /proc/PID/cgroup; none when it cannot be read."""
    if pid is None:
        return []
    cgroups = []
    with suppress(OSError, ValueError):
        fd = os.open(f"{proc}/{pid}/cgroup", os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.read(fd, 16384).decode("utf-8", "replace")
        finally:
            os.close(fd)
        for line in text.splitlines():
            _number, _, fields = line.partition(":")
            controllers, _, path = fields.partition(":")
            cgroups.append((tuple(c for c in controllers.split(",") if c), path))
    return cgroups


def _slice_path(parent: str) -> str:
    """Return where systemd nests a slice: "a-b.slice" lies in "a.slice/a-b.slice"."""
    name = parent.removesuffix(".slice")
    if name == parent or "/" in name or "-" not in name:
        return parent
    parts = name.split("-")
    return "/".join("-".join(parts[: i + 1]) + ".slice" for i in range(len(parts)))


def _subdirectories(directory: str) -> list[str]:
    with suppress(OSError), os.scandir(directory) as entries:
        return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    return []
