"""Runs the Compose binary so that a hostile file can neither hang nor fill the host, nor read our environment or files.

The limits must be set before the binary starts: set from outside just after the start, they meet the Go runtime in the
middle of its own start and kill one run in three (measured). A `preexec_fn` is unsafe in a process with threads. So a
launcher, a bare Python that takes 10 ms, limits itself and then becomes the binary.
"""

import contextlib
import errno
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bcon_exporter import clock
from bcon_exporter.compose import limited_launcher

_LAUNCHER = (sys.executable, "-I", "-S", limited_launcher.__file__)
_OUTPUT_BYTES = 32 * 1024 * 1024
_ERROR_BYTES = 256 * 1024
_CHUNK = 64 * 1024
_FORCED = {
    "COMPOSE_EXPERIMENTAL_OCI_REMOTE": "0",
    "COMPOSE_EXPERIMENTAL_GIT_REMOTE": "0",
    "COMPOSE_ANSI": "never",
    "DOCKER_CONFIG": "/nonexistent/docker-configuration",
}
_WITHHELD_PREFIXES = ("OTEL_", "DOCKER_CLI_OTEL")
"""Tracing settings would make the binary open connections."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits of one run.

    With less than 768 MB of address space the binary cannot start; with 768 MB one start in ten fails, with 1 GiB none
    in 300.
    """

    timeout_seconds: float = 10.0
    memory_bytes: int = 1024 * 1024 * 1024
    cpu_seconds: int = 10


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """Result of one run.

    Attributes:
        exit_code: Negative for a signal.
        timed_out: The wall clock or the output cap ended it.
    """

    exit_code: int
    output: str
    errors: str
    timed_out: bool = False


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
    """Run the binary without a shell, with limits, in a process group of its own that never outlives the call.

    Args:
        command: Program and arguments.
        cwd: Where it runs.
        environ: Its whole environment, except for what is forced or withheld here.
        limits: Wall time, memory and CPU time.
        standard_input: At most as much as a pipe holds.
        readable: The binary may open files below these paths only, where the kernel has Landlock; empty for all files.

    Raises:
        OSError: The binary cannot be started.
    """
    process = subprocess.Popen(
        [*_LAUNCHER, str(limits.memory_bytes), str(limits.cpu_seconds), *map(str, readable), "--", *command],
        cwd=cwd,
        env=_environment(environ),
        stdin=subprocess.PIPE if standard_input else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _write_standard_input(process, standard_input)
        output, errors, timed_out = _read_output(process, clock.monotonic() + limits.timeout_seconds)
    finally:
        _end(process)
    if process.returncode == limited_launcher.NOT_STARTED and not output:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    return RunOutcome(
        process.returncode, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace"), timed_out
    )


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in environ.items() if not key.startswith(_WITHHELD_PREFIXES)}
    return {"PATH": "/usr/bin:/bin", **kept, **_FORCED}


def _write_standard_input(process: "subprocess.Popen[bytes]", content: bytes) -> None:
    """Write the standard input and close it, without waiting for a program that does not read."""
    if process.stdin is not None:
        with process.stdin as pipe, contextlib.suppress(BlockingIOError, BrokenPipeError):
            os.set_blocking(pipe.fileno(), False)
            os.write(pipe.fileno(), content)


def _read_output(process: "subprocess.Popen[bytes]", deadline: float) -> tuple[bytes, bytes, bool]:
    """Read both pipes until both end; True when the deadline or a cap came first."""
    buffers: dict[int, tuple[bytearray, int]] = {}
    with selectors.DefaultSelector() as selector:
        for pipe, cap in ((process.stdout, _OUTPUT_BYTES), (process.stderr, _ERROR_BYTES)):
            if pipe is not None:
                buffers[pipe.fileno()] = (bytearray(), cap)
                selector.register(pipe, selectors.EVENT_READ)
        is_cut = False
        while selector.get_map() and not is_cut:
            left = deadline - clock.monotonic()
            ready = selector.select(left) if left > 0 else []
            is_cut = not ready
            for key, _ in ready:
                chunk = os.read(key.fd, _CHUNK)
                buffer, cap = buffers[key.fd]
                buffer += chunk
                is_cut = is_cut or len(buffer) > cap
                if not chunk:
                    selector.unregister(key.fd)
    output, errors = (bytes(buffer) for buffer, _ in buffers.values())
    return output, errors, is_cut


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
