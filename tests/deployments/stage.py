"""Plays the beginning of a case on a private engine, brings it up with the real Compose, and cleans up after it."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bcon_exporter.clock import monotonic
from tests.docker.image import archive, build, find_busybox, rootfs
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from tests.deployments.cases import Case
    from tests.docker.engine import PrivateEngine

COMPOSE = Path(sys.executable).parent / "docker-compose"
TAGS = ("1", "2", "arm", "sick")
UP_SECONDS = 150.0
_KEPT = "bench-kept"
"""Tags of ours, by which an image outlives a case that takes its own tag away."""
_DOCKERFILE = "FROM scratch\nADD rootfs.tar /\nENV PATH=/bin\n"
_MORE = {
    "1": "",
    "2": "ENV GENERATION=2\nLABEL generation=2\n",
    "sick": "HEALTHCHECK --interval=1s --timeout=2s --retries=2 CMD false\n",
}
_ARM64 = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x02\0\xb7\0" + b"\0" * 44
_GLOBAL_FLAGS = frozenset(("-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory"))
_LISTEN_SECONDS = 3.0


class StageError(RuntimeError):
    """A case cannot be played: something that its author wrote fails."""


@dataclass(frozen=True)
class Done:
    """What came of a command."""

    code: int
    out: str
    errors: str
    seconds: float


def make_images(engine: PrivateEngine) -> None:
    """Build the images of the cases in an engine, and have busybox's programs beside it for the host's lines."""
    busybox = find_busybox()
    if busybox is None:
        message = "no statically linked busybox (Debian, Ubuntu: apt-get install busybox-static)"
        raise FileNotFoundError(message)
    applets = engine.state / "applets"
    applets.mkdir(exist_ok=True)
    subprocess.run([str(busybox), "--install", "-s", str(applets)], check=True)
    # Its shell runs its own applets whatever PATH says: so that ours is found, its own has another name of that length.
    binary = busybox.read_bytes().replace(b"\0nc\0", b"\0nd\0", 1)
    tree = rootfs(busybox, {"bin/nc": Path(__file__).with_name("nc.sh").read_bytes()}, binary)
    for tag, more in _MORE.items():
        context = {"Dockerfile": ((_DOCKERFILE + more).encode(), 0o644), "rootfs.tar": (tree, 0o644)}
        build(engine.host, f"bench:{tag}", context)
    _make_arm_image(engine)
    for tag in TAGS:
        engine.docker("tag", f"bench:{tag}", f"{_KEPT}:{tag}")


def _make_arm_image(engine: PrivateEngine) -> None:
    """Make an image of another architecture: one whose description is rewritten, with a program that cannot run."""
    links = {f"bin/{name}": "/bin/busybox" for name in ("sh", "sleep", "httpd", "true", "cat", "echo", "nc")}
    tree = archive({"bin/busybox": (_ARM64, 0o755)}, links, folders=("tmp", "proc", "sys", "dev"))
    build(engine.host, "bench:arm", {"Dockerfile": (_DOCKERFILE.encode(), 0o644), "rootfs.tar": (tree, 0o644)})
    file = engine.state / "arm.tar"
    engine.docker("save", "-o", str(file), "bench:arm")
    file.write_bytes(_as_arm64(file.read_bytes()))
    engine.docker("rmi", "-f", "bench:arm")
    engine.docker("load", "-i", str(file))
    file.unlink()


def _as_arm64(saved: bytes) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(saved)) as source:
        files = {entry.name: source.extractfile(entry) for entry in source if entry.isfile()}
        contents = {name: stream.read() for name, stream in files.items() if stream is not None}
    manifest = json.loads(contents["manifest.json"])
    config = json.loads(contents.pop(manifest[0]["Config"]))
    config["architecture"] = "arm64"
    text = json.dumps(config).encode()
    manifest[0]["Config"] = f"{hashlib.sha256(text).hexdigest()}.json"
    contents |= {manifest[0]["Config"]: text, "manifest.json": json.dumps(manifest).encode()}
    return archive({name: (content, 0o644) for name, content in contents.items()})


def clear(engine: PrivateEngine) -> None:
    """Leave nothing on the engine but the images of the cases, each under its own tag."""

    def has_no_container() -> bool:
        if containers := engine.docker("ps", "-aq").split():
            engine.docker("rm", "-f", "-v", *containers, check=False)
        return not engine.docker("ps", "-aq").split()

    wait_until(has_no_container, "the engine to be rid of all containers", timeout_seconds=60)
    engine.docker("network", "prune", "-f")
    if volumes := engine.docker("volume", "ls", "-q").split():
        engine.docker("volume", "rm", "-f", *volumes)
    for tag in TAGS:
        engine.docker("tag", f"{_KEPT}:{tag}", f"bench:{tag}")
    ours = {f"{name}:{tag}" for name in ("bench", _KEPT) for tag in TAGS}
    images = engine.docker("images", "--format", "{{.Repository}}:{{.Tag}}").split()
    if others := [name for name in images if name not in ours and "<none>" not in name and "bcon-test" not in name]:
        engine.docker("rmi", "-f", *others)


class Stage:
    """One case on an engine; as a context manager it is set up and cleaned up.

    The engine needs the images of `make_images`. Cases may follow one another on it. Several at once need several
    engines, since each case has the engine's ports, names and subnets to itself, unless they are such that can share
    one: each then has its project alone.
    """

    def __init__(self, engine: PrivateEngine, case: Case, parent: Path, *, shares_engine: bool = False) -> None:
        self.engine, self.case = engine, case
        self._shares_engine = shares_engine
        self.folder = parent / case.id / case.project
        self._cleanup = ExitStack()

    def __enter__(self) -> Stage:
        try:
            if not self._shares_engine:
                clear(self.engine)
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            self._set_up()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes, empty the engine, or take its project down, and remove the folder."""
        self._cleanup.close()
        if not self._shares_engine:
            clear(self.engine)
        elif self.folder.exists():
            self.compose("down", "-v", "-t", "0", "--remove-orphans")
        shutil.rmtree(self.folder.parent, ignore_errors=True)

    @property
    def environ(self) -> dict[str, str]:
        """The variables of the user who deploys: for Compose and for bcon-exporter."""
        return {
            "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin:{self.engine.state / 'applets'}:{COMPOSE.parent}",
            "HOME": str(self.folder.parent),
            "DOCKER_HOST": self.engine.host,
            "DOCKER_CONFIG": str(self.engine.state / "client"),
            "PROJECT_DIR": str(self.folder),
            **self.case.environment,
        }

    def compose(self, *words: str, seconds: float = UP_SECONDS) -> Done:
        """Run Compose in the project's folder."""
        return self.run([str(COMPOSE), *words], seconds=seconds)

    def up(self, words: Sequence[str] = (), seconds: float = UP_SECONDS) -> Done:
        """Deploy as a user does: `docker compose up -d`, with words of Compose and of `up`."""
        before, behind = split_words(words)
        return self.compose(*before, "up", "-d", *behind, seconds=seconds)

    def run(self, command: Sequence[str], *, seconds: float = 60.0, given: str | None = None) -> Done:
        """Run a program in the project's folder and in the engine's network, as on the engine's own host."""
        started = monotonic()
        try:
            done = subprocess.run(
                self.command(command),
                cwd=self.folder,
                env=self.environ,
                capture_output=True,
                input=given,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Done(124, "", f"{command[0]} has not ended after {seconds:.0f} s", seconds)
        return Done(done.returncode, done.stdout, done.stderr, monotonic() - started)

    def command(self, command: Sequence[str]) -> list[str]:
        """Return the command by which a program runs in the engine's network."""
        return ["nsenter", f"--target={self.engine.init_pid()}", "--net", "--", *command]

    def shell(self, line: str) -> None:
        """Run a shell line of the case; StageError when it fails."""
        done = self.run(["sh", "-c", line])
        if done.code != 0:
            message = f"{self.case.id}: `{line}` ended with status {done.code}: {(done.errors or done.out)[-500:]}"
            raise StageError(message)

    def write(self, files: Mapping[str, str]) -> None:
        """Write files of the project."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def _set_up(self) -> None:
        """Have the project run as before, then put its new files in place and make what else is on the host.

        Where the project of before needs what the host's lines make, these come first.
        """
        before = self.case.before_files
        lines_done = False
        if before is not None:
            self.write(before)
            done = self.up(self.case.words)
            if done.code != 0 and self.case.host:
                self._run_host_lines()
                lines_done = True
                done = self.up(self.case.words)
            if done.code != 0:
                message = f"{self.case.id}: the project of before does not come up: {done.errors[-500:]}"
                raise StageError(message)
            threading.Event().wait(self.case.settle_seconds)
            for name in before.keys() - self.case.files.keys():
                (self.folder / name).unlink()
        self.write(self.case.files)
        if not lines_done:
            self._run_host_lines()
        for line in self.case.processes:
            self._start(line)

    def _run_host_lines(self) -> None:
        for line in self.case.host:
            self.shell(line)

    def _start(self, line: str) -> None:
        """Start a process of the host, and wait until it listens somewhere, if it does so soon."""
        sockets = self._sockets()
        process = subprocess.Popen(
            self.command(["sh", "-c", line]),
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._cleanup.callback(_end, process)
        with suppress(AssertionError):
            wait_until(lambda: self._sockets() != sockets, f"`{line}` to listen", timeout_seconds=_LISTEN_SECONDS)
        if process.poll() is not None:
            message = f"{self.case.id}: the process `{line}` has ended with status {process.returncode}"
            raise StageError(message)

    def _sockets(self) -> set[str]:
        """Return the sockets of the engine's network that wait for somebody."""
        net = Path(f"/proc/{self.engine.init_pid()}/net")
        lines = [line for kind in ("tcp", "tcp6", "udp", "udp6") for line in (net / kind).read_text().splitlines()[1:]]
        return {" ".join(line.split()[1:4]) for line in lines}


def split_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words for `docker compose` and those for its `up`."""
    before: list[str] = []
    behind: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word.partition("=")[0] not in _GLOBAL_FLAGS:
            behind.append(word)
            continue
        before.append(word)
        if "=" not in word and waiting:
            before.append(waiting.pop(0))
    return before, behind


def _end(process: subprocess.Popen[Any]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
