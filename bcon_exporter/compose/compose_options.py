"""How Compose files are read: what may be read, with which binary, in which environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class ComposeOptions:
    """Settings of the Compose reader.

    Attributes:
        binary: Command of the Compose binary (`find_binary`); None when there is none.
        roots: The daemon resolves files asked for over HTTP only below these directories.
        files: Compose files to check, running or not.
        env_file: Extra variables for interpolation, in place of those of the shell that ran `up`.
        path_map: (path on the Docker host, path here) pairs, for an exporter in a container; longest match wins.
        environ: Environment of the binary: the user's own on the command line, a scrubbed one in the daemon.
        wait_seconds: How long a scan waits for one project; work that takes longer goes on in the background.
        trusted: True on the command line: the user's own rights apply, and errors say what is wrong with a path.
    """

    binary: tuple[str, ...] | None = None
    roots: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    env_file: Path | None = None
    path_map: tuple[tuple[str, str], ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = 10.0
    wait_seconds: float = 2.0
    memory_bytes: int = 1024 * 1024 * 1024
    trusted: bool = False
