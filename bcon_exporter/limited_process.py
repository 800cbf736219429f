"""Runs a program that foreign input may lead astray: with a deadline, little memory and bounded output.

The limits must be set before the program starts: set from outside just after the start, they meet the Go runtime in the
middle of its own start and kill one run in three (measured). A `preexec_fn` is unsafe in a process with threads. So a
launcher, a bare Python that takes 10 ms, limits itself and then becomes the program.
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
from pathlib import Path

from bcon_exporter import clock, limited_launcher

_LAUNCHER = (sys.executable, "-I", "-S", limited_launcher.__file__)
_ERROR_BYTES = 256 * 1024
_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits of one run. The defaults are those of the Compose binary.

    With less than 768 MB of address space that cannot start; with 768 MB one start in ten fails, with 1 GiB none in
    300.

    Attributes:
        memory_bytes: Of address space.
        file_bytes: Size of a file that it writes.
        output_bytes: What it may print; more ends it.
    """

    timeout_seconds: float = 10.0
    memory_bytes: int = 1024 * 1024 * 1024
    cpu_seconds: int = 10
    file_bytes: int = 0
    output_bytes: int = 32 * 1024 * 1024


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


def run_limited(
    command: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    limits: RunLimits,
    standard_input: bytes = b"",
    readable: Sequence[Path] = (),
) -> RunOutcome:
    """Run a program without a shell, with limits, in a process group of its own that never outlives the call.

    Args:
        command: Program and arguments.
        cwd: Where it runs.
        environ: Its whole environment.
        limits: Wall time, memory, CPU time and sizes.
        standard_input: What it may read.
        readable: It may open files below these paths only, where the kernel has Landlock; empty for all files.

    Raises:
        OSError: The program cannot be started.
    """
    numbers = (limits.memory_bytes, limits.cpu_seconds, limits.file_bytes)
    process = subprocess.Popen(
        [*_LAUNCHER, *map(str, numbers), *map(str, readable), "--", *command],
        cwd=cwd,
        env=environ,
        stdin=subprocess.PIPE if standard_input else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        output, errors, timed_out = _exchange(process, standard_input, limits)
    finally:
        _end(process)
    if process.returncode == limited_launcher.NOT_STARTED and not output:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    return RunOutcome(
        process.returncode, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace"), timed_out
    )


def _exchange(
    process: "subprocess.Popen[bytes]", standard_input: bytes, limits: RunLimits
) -> tuple[bytes, bytes, bool]:
    """Write the standard input and read both outputs until they end; True when the deadline or a cap came first."""
    deadline = clock.monotonic() + limits.timeout_seconds
    buffers: dict[int, tuple[bytearray, int]] = {}
    with selectors.DefaultSelector() as selector:
        for pipe, cap in ((process.stdout, limits.output_bytes), (process.stderr, _ERROR_BYTES)):
            if pipe is not None:
                buffers[pipe.fileno()] = (bytearray(), cap)
                selector.register(pipe, selectors.EVENT_READ)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            selector.register(process.stdin, selectors.EVENT_WRITE)
        is_cut = False
        while not is_cut and any(fd in selector.get_map() for fd in buffers):
            left = deadline - clock.monotonic()
            ready = selector.select(left) if left > 0 else []
            is_cut = not ready
            for key, events in ready:
                if events == selectors.EVENT_WRITE:
                    standard_input = _write(key.fd, standard_input)
                    is_over = not standard_input
                else:
                    chunk = os.read(key.fd, _CHUNK)
                    buffer, cap = buffers[key.fd]
                    buffer += chunk
                    is_cut, is_over = is_cut or len(buffer) > cap, not chunk
                if is_over:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]  # a pipe of subprocess
    output, errors = (bytes(buffer) for buffer, _ in buffers.values())
    return output, errors, is_cut


def _write(fd: int, content: bytes) -> bytes:
    """Write what the pipe takes now; return the rest, which is nothing for a program that reads no more."""
    try:
        return content[os.write(fd, content) :]
    except BlockingIOError:
        return content
    except BrokenPipeError:
        return b""


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
