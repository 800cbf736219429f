"""How large the log files of containers are, where they can be seen: by stat, they are never opened."""

import os

from bcon_exporter.clock import monotonic
from bcon_exporter.engine.parse import NOT_INSPECTED, Placement
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.secrets.cleaning import clean_name

ELSEWHERE = "the engine runs on another machine"
_FORBIDDEN = "this user may not look at it: run as root"
_KEPT_SECONDS = 55.0
_COMPRESSED = ("", ".gz")


class LogSizes:
    """Sizes for scans, looked at once a minute: five hundred looks at each scan would be felt."""

    def __init__(self) -> None:
        self._known: dict[str, int | str] = {}
        self._read_at = float("-inf")

    def begin_scan(self) -> None:
        """Look again where it is time."""
        if monotonic() - self._read_at > _KEPT_SECONDS:
            self._known = {}
            self._read_at = monotonic()

    def read(self, facts: ContainerFacts, placement: Placement | None, *, is_here: bool) -> int | str:
        """Return what `read_log_size` does, at most a minute old."""
        size = self._known.get(facts.id)
        if size is None:
            size = read_log_size(facts, placement, None, is_here=is_here)
            if placement is not None:
                self._known[facts.id] = size
        return size


def read_log_size(
    facts: ContainerFacts, placement: Placement | None, root_dir: str | None, *, is_here: bool = True
) -> int | str:
    """Return the size of a container's log files in bytes, the rotated ones too, or why it is not known.

    Args:
        facts: Of the container.
        placement: Where its log is, as the engine says.
        root_dir: The engine's root directory.
        is_here: The engine runs on this machine, as far as its address tells.
    """
    if placement is None or facts.log_driver is None:
        return NOT_INSPECTED
    match facts.log_driver:
        case "json-file":
            path = placement.log_file
        case "local":  # the engine does not tell where; moby, container.StartLogger
            path = f"{root_dir}/containers/{facts.id}/local-logs/container.log" if root_dir else None
        case "none":
            return 0  # no log is kept
        case driver:
            return f"the driver {driver} keeps it elsewhere"
    if path is None or facts.id not in path:
        never_ran = facts.state is ContainerState.CREATED and facts.started_at is None
        return 0 if never_ran else "the engine does not say where it is"
    return _sum_sizes(path, placement.log_file_count) if is_here else ELSEWHERE


def _sum_sizes(path: str, count: int) -> int | str:
    try:
        size = os.lstat(path).st_size
    except FileNotFoundError:
        return _tell_absent(path)
    except PermissionError:
        return _FORBIDDEN
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or "no valid path"
    return size + sum(map(_size_of_rotated, (f"{path}.{number}" for number in range(1, count))))


def _size_of_rotated(path: str) -> int:
    for ending in _COMPRESSED:
        try:
            return os.lstat(path + ending).st_size
        except (OSError, ValueError):
            continue
    return 0


def _tell_absent(path: str) -> int | str:
    """Return 0 of a log that is not there although its folder is, or why the folder is not seen."""
    folder = os.path.dirname(path).removesuffix("/local-logs")  # noqa: PTH120 - a text path may be no valid Path here
    if os.path.isdir(folder):  # noqa: PTH112 - as above
        return 0
    shared = clean_name(os.path.dirname(folder))  # noqa: PTH120 - as above
    return f"it is not seen from here: within a container, mount {shared} read-only and run as root"
