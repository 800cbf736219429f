"""A recorded host: what an engine answered at some moments, with its logs and events. Kept as gzipped JSON."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HOSTS = Path(__file__).parent / "hosts"
NO_SUCH_PID = 99_999_999
"""Beyond any Linux: the processes of a recording are not those that bear their numbers where it is played."""


@dataclass
class Moment:
    """What the engine answered at one time.

    Attributes:
        at_nanoseconds: Since the epoch, of the engine's clock.
        answers: Path without version and query → the decoded answer.
        restarted: The daemon is to be started anew at this moment, with the state file of its predecessor.
    """

    at_nanoseconds: int
    answers: dict[str, Any]
    restarted: bool = False


@dataclass
class Host:
    """One recorded host.

    Attributes:
        logs: Container → its lines as the engine keeps them: time in nanoseconds, stream (1 or 2), text.
        terminals: Containers whose log has no frames.
        events: As the engine sent them, in order.
        files: Compose files and what they involve, by their path below the project folder.
    """

    moments: list[Moment] = field(default_factory=list)
    logs: dict[str, list[tuple[int, int, str]]] = field(default_factory=dict)
    terminals: list[str] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Write it; the same host gives the same bytes."""
        text = json.dumps(asdict(self), separators=(",", ":"), sort_keys=True)
        path.write_bytes(gzip.compress(text.encode(), mtime=0))


def read_host(name: str) -> Host:
    """Read one of hosts/."""
    told = json.loads(gzip.decompress((HOSTS / f"{name}.json.gz").read_bytes()))
    moments = [Moment(**moment) for moment in told.pop("moments")]
    logs = {container: [tuple(line) for line in lines] for container, lines in told.pop("logs").items()}
    return Host(moments=moments, logs=logs, **told)


def list_hosts() -> list[str]:
    """The names of all that are recorded."""
    return sorted(path.name.removesuffix(".json.gz") for path in HOSTS.glob("*.json.gz"))
