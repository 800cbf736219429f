"""Runs the Compose binary: a hostile file can neither hang nor fill the host, nor read our environment or files."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from bcon_exporter import limited_launcher
from bcon_exporter.limited_process import RunLimits, RunOutcome, run_limited

_FORCED = {
    "COMPOSE_EXPERIMENTAL_OCI_REMOTE": "0",
    "COMPOSE_EXPERIMENTAL_GIT_REMOTE": "0",
    "COMPOSE_ANSI": "never",
    "DOCKER_CONFIG": "/nonexistent/docker-configuration",
}
_WITHHELD_PREFIXES = ("OTEL_", "DOCKER_CLI_OTEL")
"""Tracing settings would make the binary open connections."""


@cache
def can_confine() -> bool:
    """Return whether the kernel lets a process confine itself to some files; Docker's seccomp profile may forbid it."""
    return limited_launcher.landlock_version() > 0


def run_compose(
    command: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    limits: RunLimits,
    standard_input: bytes = b"",
    readable: Sequence[Path] = (),
) -> RunOutcome:
    """Run the binary as `run_limited` does; `environ` is its environment, but for what is forced or withheld here.

    Raises:
        OSError: The binary cannot be started.
    """
    return run_limited(
        command,
        cwd=cwd,
        environ=_environment(environ),
        limits=limits,
        standard_input=standard_input,
        readable=readable,
    )


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in environ.items() if not key.startswith(_WITHHELD_PREFIXES)}
    return {"PATH": "/usr/bin:/bin", **kept, **_FORCED}
