"""Which engine the tests run on, and what differs from one engine to another: nothing else here knows versions.

    make engines                              # the contract on every one of them, with a table of how it went
    TEST_DOCKER=28.5 pytest -m docker         # an engine and tools that .ci/engines.sh makes
    TEST_DOCKER=28.5+image-store pytest …     # the same with containerd's image store
    TEST_DOCKER_HOST=unix:///… pytest -m contract   # an engine that runs already; it should have nothing in it

Without either, tests run on this machine's own engine.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPT = Path(__file__).parents[2] / ".ci" / "engines.sh"
IMAGE_STORE = "+image-store"
IMAGE_STORE_FLAGS = ("--feature", "containerd-snapshotter=true")


@dataclass(frozen=True)
class Differences:
    """What an engine does in its own way.

    Attributes:
        stop_events: What `docker stop` and `docker restart` tell after the kill, in each order that it may come in.
    """

    stop_events: tuple[tuple[str, ...], ...]


SINCE_VERSION: dict[tuple[int, int], Differences] = {
    (20, 10): Differences(stop_events=(("die", "stop"),)),
    (26, 0): Differences(stop_events=(("stop", "die"), ("die", "stop"))),
}


@dataclass(frozen=True)
class PodmanDifferences:
    """The same of Podman; `tells_oom_kills` by State.OOMKilled."""

    tells_oom_kills: bool


PODMAN_SINCE: dict[tuple[int, int], PodmanDifferences] = {
    (4, 0): PodmanDifferences(tells_oom_kills=False),
    (5, 0): PodmanDifferences(tells_oom_kills=True),
}


def podman_differences_of(version: str) -> PodmanDifferences:
    """What differs in a Podman of this version ("5.8.6")."""
    return PODMAN_SINCE[max(since for since in PODMAN_SINCE if since <= _parse(version))]


def differences_of(version: str) -> Differences:
    """What differs in an engine of this version ("28.5.2+dfsg4")."""
    return SINCE_VERSION[max(since for since in SINCE_VERSION if since <= _parse(version))]


def _parse(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def use_wanted_engine() -> None:
    """Put the programs of the engine that TEST_DOCKER names first in PATH, in this process and all that it starts."""
    wanted = os.environ.get("TEST_DOCKER", "").removesuffix(IMAGE_STORE)
    if not wanted:
        return
    made = subprocess.run([SCRIPT, "commands", wanted], stdout=subprocess.PIPE, text=True, check=False)
    if made.returncode != 0:
        message = f"the engine {wanted} could not be made: {SCRIPT} says why"
        raise RuntimeError(message)
    folder = made.stdout.strip()
    if not os.environ["PATH"].startswith(f"{folder}:"):
        os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def flags_of_wanted_engine() -> tuple[str, ...]:
    """How dockerd is to be started beyond what all tests want."""
    return IMAGE_STORE_FLAGS if os.environ.get("TEST_DOCKER", "").endswith(IMAGE_STORE) else ()


OWN, GUEST = "own", "guest"
ALL = (OWN, "26.1", "28.5", f"28.5{IMAGE_STORE}", GUEST)
GUEST_RUNS = "28.5"
GUEST_SOCKET = "unix:///run/docker.sock"


def run_contract(name: str) -> int:
    """Run the contract on one engine: this machine's own, one of .ci/engines.sh, or that in a guest with cgroup v2."""
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/docker"]
    if name != GUEST:
        environ = {**os.environ, "TEST_ENGINE": "required", "TEST_DOCKER": "" if name == OWN else name}
        return subprocess.run(
            [sys.executable, *pytest, "-m", "contract", "-n", "2"], env=environ, check=False
        ).returncode
    with run_guest() as (folder, python):
        environ = {"TEST_ENGINE": "required", "TEST_DOCKER_HOST": GUEST_SOCKET, "PYTHONDONTWRITEBYTECODE": "1"}
        settings = [f"{name}={value}" for name, value in environ.items()]
        command = ["env", *settings, f"{python}/bin/python", *pytest, "-m", "contract and not own_engine"]
        shell = f"cd {SCRIPT.parents[1]} && {shlex.join(command)}"
        return subprocess.run([SCRIPT, "inside", folder, shell], check=False).returncode


@contextmanager
def run_guest() -> Iterator[tuple[Path, str]]:
    """A guest in which this repository and a virtual environment of the guest's Python lie where they lie here."""
    python = ask_script("python", GUEST_RUNS)
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "guest"
        ask_script("guest", GUEST_RUNS, str(folder))
        try:
            for shared in (str(SCRIPT.parents[1]), python):
                ask_script("inside", str(folder), f"mkdir -p {shared} && mount --bind /machine{shared} {shared}")
            yield folder, python
        finally:
            ask_script("end", str(folder))


def ask_script(*arguments: str) -> str:
    """What the script prints; it says itself why it fails."""
    return subprocess.run([SCRIPT, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def main(names: list[str]) -> int:
    """Run the contract on the engines of these names, all without any; 1 when one failed or could not be made."""
    rows = []
    for name in names or ALL:
        began = time.monotonic()
        made = name.removesuffix(IMAGE_STORE) if name != GUEST else GUEST_RUNS
        try:
            versions = ask_script("versions", *([made] if made != OWN else []))
            code = run_contract(name)
        except subprocess.CalledProcessError as error:
            versions, code = f"could not be made: {error}", 1
        rows.append((name, code, time.monotonic() - began, ", ".join(versions.splitlines())))
    for name, code, seconds, versions in rows:
        sys.stdout.write(f"{name:18} {'passed' if code == 0 else 'FAILED':7} {seconds:5.0f} s  {versions}\n")
    return 0 if all(code == 0 for _, code, _, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
