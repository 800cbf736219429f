"""Which engine the tests run on, and what differs from one engine to another: nothing else here knows versions.

    make engines                              # the contract on every one of them, with a table of how it went
    TEST_DOCKER=28.5 pytest -m docker         # an engine and tools that .ci/engines.sh makes; so does `make test-all`
    TEST_DOCKER=28.5+image-store pytest …     # the same with containerd's image store
    TEST_DOCKER_HOST=unix:///… pytest -m contract   # an engine that runs already; it should have nothing in it

Without either, or with TEST_DOCKER=own, pytest uses this machine's own engine.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tests.long_forms import IS_NIGHTLY
from tests.runs.tries import Result, run_tests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

T = TypeVar("T")

SCRIPT = Path(__file__).parents[2] / ".ci" / "engines.sh"
IMAGE_STORE = "+image-store"
IMAGE_STORE_FLAGS = ("--feature", "containerd-snapshotter=true")
NEWEST = "28.5"
OWN, GUEST, GUEST_OUTSIDE, NEWEST_PYTHON = "own", "guest", "guest-outside", "newest-python"
GUEST_BY_API = "guest-by-api"
ALL = (OWN, "26.1", NEWEST, f"{NEWEST}{IMAGE_STORE}", GUEST, GUEST_OUTSIDE, NEWEST_PYTHON)
GUEST_SOCKET = "unix:///run/docker.sock"

IN_THE_GUEST = (GUEST, GUEST_BY_API)
"""What `make test-all` asks of one guest, one after the other."""

PLACES = ("tests/docker", "tests/alerting", "tests/outputs/alertmanager")
"""Where tests of the contract stand."""
CONTRACT = ("-m", "contract", *PLACES)
_OF_CGROUPS = ("host_snapshot", "host_events", "readers", "history_engine", "daemon_serving", "journal", "podman")
"""Files whose statements cgroups or systemd could make untrue; the engine of the guest is that of `whole`."""
IN_GUEST = (
    "-m",
    "contract and not own_engine",
    *(["tests/docker"] if IS_NIGHTLY else [f"tests/docker/test_{name}.py" for name in _OF_CGROUPS]),
)
_OUTSIDE = "contract and not own_engine and not same_machine"
FROM_OUTSIDE = ("-m", _OUTSIDE, "tests/docker")
_READERS = ("host_snapshot", "host_events", "host_logs", "readers", "history_engine")
BY_API = ("-m", _OUTSIDE, *(f"tests/docker/test_{name}.py" for name in _READERS))
"""What is read by the API alone. Of the rest of the contract `make test-all` is content with the guest's inside."""
_ANY_PYTHON = ("--hypothesis-profile=unit", "--ignore=tests/architecture", "--ignore=tests/deploy")
"""What the sources and a checkout say is the same on any Python; examples are searched for on another one."""
_PROCESSES = ("cli/test_process.py", "outputs/mcp/test_stdio.py", "test_daemon.py", "test_reload.py")
ON_NEWEST_PYTHON: dict[str, tuple[str, ...]] = (
    {"all without an engine": ("-m", "not docker and not alone and not slow", *_ANY_PYTHON)}
    if IS_NIGHTLY
    else {
        "unit tests": ("-m", "not docker and not alone and not slow and not integration", *_ANY_PYTHON),
        "processes": ("-m", "integration and not alone", *(f"tests/{name}" for name in _PROCESSES)),
    }
)
"""What is run → its tests. Of processes `make test-all` shows how they begin, serve, reload and end."""

AT_ONCE = ("-n", os.environ.get("WORKERS", "2"))


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


@dataclass(frozen=True)
class PrometheusDifferences:
    """The same of Prometheus and promtool.

    Attributes:
        agent: The flag that makes it an agent.
        takes_a_ranges_beginning: Whether a sample that is as old as a range is long belongs to it.
    """

    agent: str
    takes_a_ranges_beginning: bool


PROMETHEUS_SINCE: dict[tuple[int, int], PrometheusDifferences] = {
    (2, 0): PrometheusDifferences(agent="--enable-feature=agent", takes_a_ranges_beginning=True),
    (3, 0): PrometheusDifferences(agent="--agent", takes_a_ranges_beginning=False),
}


def differences_of(version: str) -> Differences:
    """What differs in an engine of this version ("28.5.2+dfsg4")."""
    return _newest_before(SINCE_VERSION, version)


def podman_differences_of(version: str) -> PodmanDifferences:
    """What differs in a Podman of this version ("5.8.6")."""
    return _newest_before(PODMAN_SINCE, version)


def prometheus_differences(program: str) -> PrometheusDifferences:
    """What differs in this prometheus or promtool."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    version = re.search(r"version (\d+\.\d+)", said.stdout + said.stderr)
    assert version is not None, said
    return _newest_before(PROMETHEUS_SINCE, version[1])


def _newest_before(table: Mapping[tuple[int, int], T], version: str) -> T:
    major, minor = version.split(".")[:2]
    return table[max(since for since in table if since <= (int(major), int(minor)))]


def use_wanted_engine() -> None:
    """Put the programs of the engine that TEST_DOCKER names first in PATH, in this process and all that it starts."""
    wanted = os.environ.get("TEST_DOCKER", "").removesuffix(IMAGE_STORE)
    if wanted in ("", OWN):
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


def find_file(program: Path) -> Path:
    """The file itself of a program that PATH has: of an engine made here that is a command that becomes the program."""
    folder = program.parent
    if folder.suffix != ".commands":
        return program.resolve()
    places = (folder.with_suffix("") / place / program.name for place in ("usr/bin", "usr/sbin"))
    return next(file for file in places if file.exists())


@dataclass(frozen=True)
class Run:
    """One row of the table: what ran where, and how it went."""

    engine: str
    what: str
    passed: bool
    seconds: float
    versions: str

    def __str__(self) -> str:
        result = "passed" if self.passed else "FAILED"
        return f"{self.engine:17} {self.what:19} {result:7} {self.seconds:5.0f} s  {self.versions}"


def run_on(*names: str) -> Iterator[Run]:
    """Run on each of these, of ALL, what it is there for; all that is asked of the guest, in one boot of it."""
    in_guest = [name for name in names if name in GUEST_RUNS]
    for name in names:
        if name not in GUEST_RUNS:
            yield from _or_not_made([name], _run_here(name))
        elif name == in_guest[0]:
            yield from _or_not_made(in_guest, _run_in_guest(in_guest))


def _or_not_made(names: Sequence[str], runs: Iterator[Run]) -> Iterator[Run]:
    """One that cannot be made is a run that failed, for each name that has not run."""
    ended = []
    try:
        for run in runs:
            ended.append(run.engine)
            yield run
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"{error}\n")
        for name in names:
            if name not in ended:
                yield Run(name, "could not be made", False, 0.0, "versions unknown")


def _run_here(name: str) -> Iterator[Run]:
    versions = versions_of(name)
    if name == NEWEST_PYTHON:
        for what, selected in ON_NEWEST_PYTHON.items():
            yield timed(name, what, versions, lambda lane: run_tests(on_newest_python(), lane, selected, AT_ONCE))  # noqa: B023 -- called at once
    else:
        pytest_there = here({"TEST_ENGINE": "required", "TEST_DOCKER": name})
        yield timed(name, "contract", versions, lambda lane: run_tests(pytest_there, lane, CONTRACT, AT_ONCE))


def _run_in_guest(names: Sequence[str]) -> Iterator[Run]:
    versions = versions_of(GUEST)
    with booted_guest() as guest:
        for name in names:
            what, selected, place = GUEST_RUNS[name]
            yield timed(name, what, versions, lambda lane: run_tests(place(guest), lane, selected))  # noqa: B023 -- called at once


def versions_of(name: str) -> str:
    """What there is, in one line."""
    made_as = {OWN: [], GUEST: [NEWEST], GUEST_OUTSIDE: [NEWEST], GUEST_BY_API: [NEWEST], NEWEST_PYTHON: [NEWEST]}.get(
        name, [name.removesuffix(IMAGE_STORE)]
    )
    return ", ".join(ask_script("versions", *made_as).splitlines())


def timed(engine: str, what: str, versions: str, run: Callable[[str], Result]) -> Run:
    """Run, and say how it went."""
    sys.stdout.write(f"== {engine}: {what}\n")
    sys.stdout.flush()
    result = run(f"{engine}: {what}")
    return Run(engine, what, result.passed, result.seconds, versions)


def here(environ: Mapping[str, str], *python: str | Path) -> Callable[[list[str]], int]:
    """Run pytest on this machine; return its exit code."""
    command = [*(python or (sys.executable,)), "-m", "pytest"]
    return lambda arguments: (
        subprocess.run([*command, *arguments], env={**os.environ, **environ}, check=False).returncode
    )


def on_newest_python() -> Callable[[list[str]], int]:
    """Run pytest on the Python of the newest userland, in that userland; the program itself is not installed there."""
    python = f"{ask_script('python', NEWEST)}/bin/python"
    environ = {"PYTHONPATH": str(SCRIPT.parents[1]), "TEST_DOCKER": OWN}
    return here(environ, SCRIPT, "run", NEWEST, python)


@dataclass(frozen=True)
class Guest:
    """A guest that runs, in which this repository and a virtual environment of its Python lie where they lie here."""

    folder: Path
    python: str

    @property
    def temporary(self) -> Path:
        """Lies at the same place inside and outside."""
        return self.folder / "tmp"


@contextmanager
def booted_guest() -> Iterator[Guest]:
    """Boot a guest, and end it."""
    with tempfile.TemporaryDirectory() as parent:
        guest = Guest(Path(parent) / "guest", ask_script("python", NEWEST))
        ask_script("guest", NEWEST, str(guest.folder))
        try:
            guest.temporary.mkdir()
            for shared in (str(SCRIPT.parents[1]), guest.python, str(guest.temporary)):
                ask_script("inside", str(guest.folder), f"mkdir -p {shared} && mount --bind /machine{shared} {shared}")
            yield guest
        finally:
            ask_script("end", str(guest.folder))


def inside(guest: Guest) -> Callable[[list[str]], int]:
    """Run pytest in the guest: on its Python, beside the engine and its files."""
    environ = {"TEST_ENGINE": "required", "TEST_DOCKER_HOST": GUEST_SOCKET, "PYTHONDONTWRITEBYTECODE": "1"}
    settings = [f"{name}={value}" for name, value in environ.items()]

    def run(arguments: list[str]) -> int:
        command = shlex.join(["env", *settings, f"{guest.python}/bin/python", "-m", "pytest", *arguments])
        shell = f"cd {SCRIPT.parents[1]} && {command}"
        return subprocess.run([SCRIPT, "inside", guest.folder, shell], check=False).returncode

    return run


def outside(guest: Guest) -> Callable[[list[str]], int]:
    """Run pytest on this machine, which knows of the guest's engine what it tells by its socket."""
    socket = f"unix://{guest.folder}/docker.sock"
    run = here({"TEST_ENGINE": "required", "TEST_DOCKER": NEWEST, "TEST_DOCKER_HOST": socket})
    return lambda arguments: run([*arguments, f"--basetemp={guest.temporary}/outside"])


GUEST_RUNS: dict[str, tuple[str, Sequence[str], Callable[[Guest], Callable[[list[str]], int]]]] = {
    GUEST: ("contract, inside", IN_GUEST, inside),
    GUEST_OUTSIDE: ("contract, outside", FROM_OUTSIDE, outside),
    GUEST_BY_API: ("what is read, by API", BY_API, outside),
}
"""What is asked of a guest's engine, by name: in words, which tests, and where they run."""


def ask_script(*arguments: str) -> str:
    """What the script prints; it says itself why it fails."""
    return subprocess.run([SCRIPT, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def main(names: Sequence[str]) -> int:
    """Run on the engines of these names, all without any; 1 when one failed or could not be made."""
    return tell(list(run_on(*(names or ALL))))


def tell(rows: Sequence[Run]) -> int:
    """Print the table; 1 when a run failed."""
    sys.stdout.write("".join(f"{row}\n" for row in rows))
    return 0 if all(row.passed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
