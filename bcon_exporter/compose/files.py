"""Checks whether a Compose file may be read, and makes the errors for one that may not (docs/drift.md)."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from bcon_exporter.errors import BconError, ComposeFileNotFoundError, PermissionDeniedError
from bcon_exporter.secrets.masking import safe_text

FILE_BYTES = 1024 * 1024
_DEFAULT_NAMES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
_ELSEWHERE = "Check the path, or set compose.path-map when bcon-exporter runs in a container."
_OVERRIDE_NAMES = (
    "compose.override.yml",
    "compose.override.yaml",
    "docker-compose.override.yml",
    "docker-compose.override.yaml",
)


def to_local(path: str, path_map: Sequence[tuple[str, str]]) -> str:
    """Return the local path for a path on the Docker host."""
    return _mapped(path, path_map)


def to_host(path: str, path_map: Sequence[tuple[str, str]]) -> str:
    """Return the path on the Docker host for a local path."""
    return _mapped(path, [(local, host) for host, local in path_map])


def _mapped(path: str, pairs: Sequence[tuple[str, str]]) -> str:
    for old, new in sorted(pairs, key=lambda pair: len(pair[0]), reverse=True):
        prefix = old.rstrip("/")
        if path == prefix or path.startswith(prefix + "/"):
            return new.rstrip("/") + path[len(prefix) :]
    return path


def is_file(path: Path) -> bool:
    """Return whether there is a regular file; False also for a name that no path can have, where pathlib raises."""
    return stat.S_ISREG(_mode_of(path))


def is_directory(path: Path) -> bool:
    """Return whether there is a directory; False also where pathlib raises."""
    return stat.S_ISDIR(_mode_of(path))


def _mode_of(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def find_default_file(directory: Path) -> Path | None:
    """Return the file that Compose reads in this directory when no file is named; None when there is none."""
    return next((directory / name for name in _DEFAULT_NAMES if is_file(directory / name)), None)


def find_override(file: Path) -> Path | None:
    """Return the override file that Compose merges into a default file by itself."""
    return next(filter(is_file, override_files(file)), None)


def override_files(file: Path) -> tuple[Path, ...]:
    """Return the candidates for a file's override file, in order of precedence; only a default file has any."""
    return tuple(file.parent / name for name in _OVERRIDE_NAMES) if file.name in _DEFAULT_NAMES else ()


def check_file(path: Path) -> BconError | None:
    """Return what is wrong with a Compose file's path; None when it can be read."""
    try:
        facts = path.stat()
    except PermissionError:
        return _forbidden(path)
    except (OSError, ValueError):
        return _unusable(path, "does not exist here", _ELSEWHERE)
    if stat.S_ISDIR(facts.st_mode):
        return _unusable(path, "is a directory without a default Compose file", "Name the file.")
    if not stat.S_ISREG(facts.st_mode):
        return _unusable(path, "is no regular file", "Name a regular file: pipes and devices are not read.")
    if facts.st_size > FILE_BYTES:
        reason = f"is larger than {FILE_BYTES // 1024} KiB"
        return _unusable(path, reason, "Is it a Compose file? Split it with `include` if it is.")
    return None if os.access(path, os.R_OK) else _forbidden(path)


def _unusable(path: Path, what: str, what_to_do: str) -> BconError:
    details: dict[str, object] = {"file": str(path), "reason": what}
    return ComposeFileNotFoundError(f"The Compose file {path} {what}. {what_to_do}", details)


def _forbidden(path: Path) -> BconError:
    return PermissionDeniedError(
        f"The Compose file {path} may not be read by this user (uid {os.geteuid()}). Change its rights, or run as a "
        "user who may.",
        {"file": str(path)},
    )


def opaque_file_error() -> ComposeFileNotFoundError:
    """Return the one error for every path, so that an HTTP client learns nothing about this host's files."""
    return ComposeFileNotFoundError(
        "No Compose file can be read at this path. The daemon reads files under compose.roots only, and so must lie "
        "all that they include."
    )


class OutsideRootsError(ComposeFileNotFoundError):
    """A file involved lies outside of compose.roots, or may do so."""


def outside_roots_error(file: str, roots: Sequence[Path]) -> OutsideRootsError:
    """Return the error for a file outside of the roots; the same whether it exists or not."""
    why = "lies outside of compose.roots" if roots else "is not read, since compose.roots is not set"
    shown = safe_text(file)  # a Compose file may name anything
    return OutsideRootsError(f"The file {shown} {why}: add its folder to compose.roots.", {"file": shown})


def undetermined_files_error(file: str) -> OutsideRootsError:
    """Return the error for a Compose file that may make Compose read files nobody can determine."""
    shown = safe_text(file)
    return OutsideRootsError(
        f"Which files {shown} makes Compose read cannot be told: it names too many, a remote one, or one by a variable "
        "whose value is not plain. That counts as outside of compose.roots.",
        {"file": shown},
    )


def unfit_file_error(file: str, named_by: str) -> ComposeFileNotFoundError:
    """Return the error for a named file that is too large or not regular."""
    shown = safe_text(file)
    return ComposeFileNotFoundError(
        f"The file {shown}, which {named_by} leads to, is no regular file of at most {FILE_BYTES // 1024} KiB: pipes, "
        "devices and directories are not read.",
        {"file": shown},
    )


def is_within(path: Path, roots: Sequence[Path]) -> bool:
    """Return whether the real path, symlinks resolved, lies below one of the real roots.

    Where there are no roots, the file system is not asked.
    """
    if not roots:
        return False
    real = real_path(path)
    return any(real.is_relative_to(real_path(root)) for root in roots)


def real_path(path: Path) -> Path:
    """Return the path with symlinks resolved; a path that cannot exist where the text is no valid path."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return Path("/dev/null/no-path")
