"""First process of a private engine: runs inside the new namespaces, starts its daemon, starts it again when it dies.

Run by `tests/docker/engine.py` as pid 1, with the standard library only, under `unshare --net --uts --mount --pid`.
What the engine writes outside its own folder (/run, /etc/docker, /opt/containerd, /var/lib/docker) goes to memory that
dies with the namespace. When standard input closes, the owner is gone, and so is the engine a moment later.
"""

from __future__ import annotations

import fcntl
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

SHADOWED = ("/etc", "/opt", "/var/lib")  # dockerd, containerd and Swarm write there whatever --data-root says
RESTARTS_AT_MOST = 50
STOP_SECONDS = 20.0
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1


def shadow_writes(state: Path) -> None:
    """Lay a memory-backed copy-on-write layer over the folders that an engine would otherwise write to."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"], check=True)
    for folder in SHADOWED:
        if not Path(folder).is_dir() or state.is_relative_to(folder):
            continue
        layer = Path("/run/shadow") / folder.strip("/").replace("/", "-")
        (layer / "upper").mkdir(parents=True)
        (layer / "work").mkdir()
        options = f"lowerdir={folder},upperdir={layer}/upper,workdir={layer}/work"
        subprocess.run(["mount", "-t", "overlay", "-o", options, "overlay", folder], check=False)


def raise_loopback() -> None:
    """Bring the new network namespace's loopback interface up (no `ip` needed)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        answer = fcntl.ioctl(any_socket, SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0))
        flags = struct.unpack("16sH14x", answer)[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def start_daemon(state: Path, command: list[str]) -> int:
    """Start the daemon and return its pid; its output is appended to dockerd.log."""
    with (state / "dockerd.log").open("ab") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log).pid


def reap() -> set[int]:
    """Collect every child that has ended, orphans of the containers included."""
    gone: set[int] = set()
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return gone
        if pid == 0:
            return gone
        gone.add(pid)


def stop(dockerd: int) -> None:
    """Ask dockerd to stop its containers and itself; what is left dies with pid 1."""
    try:
        os.kill(dockerd, signal.SIGCONT)
        os.kill(dockerd, signal.SIGTERM)
    except ProcessLookupError:
        return
    deadline = time.monotonic() + STOP_SECONDS
    while dockerd not in reap() and time.monotonic() < deadline:
        time.sleep(0.05)


def supervise(state: Path, command: list[str], *, detached: bool) -> None:
    """Keep dockerd running until a signal or the owner's end; a file named `hold` keeps a killed one down."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    stopping: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: stopping.append(number))
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    dockerd, starts = start_daemon(state, command), 1
    watched = [wake_read] if detached else [wake_read, 0]
    while True:
        ready, _, _ = select.select(watched, [], [], 0.2)
        if wake_read in ready:
            os.read(wake_read, 4096)
        if stopping:
            stop(dockerd)
            return
        if 0 in ready and not os.read(0, 1):
            return
        if dockerd in reap():
            dockerd = 0
        if not dockerd and not (state / "hold").exists():
            if starts >= RESTARTS_AT_MOST:
                return
            dockerd, starts = start_daemon(state, command), starts + 1


def main(arguments: list[str]) -> None:
    """Set the namespaces up and supervise: STATE_FOLDER HOSTNAME detached|owned DAEMON FLAGS…"""
    state, name, mode, command = Path(arguments[0]), arguments[1], arguments[2], arguments[3:]
    shadow_writes(state)
    raise_loopback()
    socket.sethostname(name)
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    supervise(state, command, detached=mode == "detached")


if __name__ == "__main__":
    main(sys.argv[1:])
