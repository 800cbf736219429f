"""A real, private Docker Engine for every test marked `docker`, and a clean one before each of them.

Without an engine these tests are skipped; in CI, and where `make test` finds an engine, they fail instead: neither is
green by skipping.
"""

from __future__ import annotations

import os
import re
import signal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docker.engine import ENGINES, EngineUnavailableError, PrivateEngine, sweep_leftovers
from tests.docker.engines import Differences, differences_of, flags_of_wanted_engine
from tests.docker.image import IMAGE, build_image
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator


_REMOVED_AT_ONCE = 50
_OWN_NETWORKS = {"bridge", "host", "none"}


class TestEngine(PrivateEngine):
    """A private engine with the test image in it."""

    __test__ = False
    image = IMAGE

    @cached_property
    def differences(self) -> Differences:
        """What this engine does in its own way."""
        return differences_of(self.docker("version", "--format", "{{.Server.Version}}"))

    def remove_everything(self) -> None:
        """Remove what a test has left: containers, networks, volumes, other images; a frozen engine is resumed."""
        self.resume("containerd")
        self.resume()
        wait_until(self._has_no_container, "the engine to be rid of all containers", timeout_seconds=60)
        if {network["Name"] for network in self.read("/networks")} - _OWN_NETWORKS:
            self.docker("network", "prune", "-f")
        if volumes := [volume["Name"] for volume in self.read("/volumes")["Volumes"] or ()]:
            self.docker("volume", "rm", "-f", *volumes)
        names = [name for image in self.read("/images/json") for name in image["RepoTags"] or ()]
        if others := [name for name in names if name != IMAGE and "<none>" not in name]:
            self.docker("rmi", "-f", *others)

    def _has_no_container(self) -> bool:
        """Remove all; one whose removal is under way already is refused, and gone soon.

        Some at a time: to remove a thousand takes a busy engine longer than one command may.
        """
        containers = [container["Id"] for container in self.read("/containers/json?all=1")]
        for first in range(0, len(containers), _REMOVED_AT_ONCE):
            self.docker("rm", "-f", "-v", *containers[first : first + _REMOVED_AT_ONCE], check=False)
        return not containers or not self.read("/containers/json?all=1")


class GivenEngine(TestEngine):
    """An engine that runs already and goes on running: tests that do more to it than ask cannot use it."""

    def __init__(self, host: str, state: Path) -> None:
        super().__init__(state)
        self.socket = Path(host.removeprefix("unix://"))

    def start(self, *flags: str, detached: bool = False) -> GivenEngine:
        """Do nothing; flags cannot be had."""
        assert not detached
        if flags:
            pytest.skip(f"the engine at {self.host} runs already, without {' '.join(flags)}")
        return self

    def signal(self, name: str, number: signal.Signals) -> None:
        """Only what is frozen by us needs to be resumed: nothing."""
        if number is not signal.SIGCONT:
            pytest.skip(f"{name} at {self.host} is not ours to be sent {number.name}")

    def init_pid(self) -> int:
        """Its namespaces are not ours to enter."""
        pytest.skip(f"the namespaces of {self.host} are not ours to enter")

    def destroy(self) -> None:
        """Leave it as it was found."""
        self.remove_everything()


def make_engine(*flags: str) -> TestEngine:
    """Start an engine with the test image; where none can run skips, or fails if one is required."""
    try:
        sweep_leftovers()
        given = os.environ.get("TEST_DOCKER_HOST")
        started = GivenEngine(given, ENGINES / f"given-{os.getpid()}") if given else TestEngine()
        started.start(*flags_of_wanted_engine(), *flags)
        try:
            build_image(started.host)
        except BaseException:
            started.destroy()
            raise
    except (EngineUnavailableError, FileNotFoundError) as error:
        if os.environ.get("CI") == "true" or os.environ.get("TEST_ENGINE") == "required":
            pytest.fail(f"no private engine, and one is required here: {error}", pytrace=False)
        pytest.skip(f"no private engine: {error}")
    return started


@pytest.fixture(scope="session")
def engine_of_session() -> Iterator[TestEngine]:
    """The one engine that the tests of a run share; use `engine`."""
    started = make_engine()
    yield started
    started.destroy()


@pytest.fixture
def engine(engine_of_session: TestEngine) -> Iterator[TestEngine]:
    """The shared engine, empty but for the image `engine.image`; emptied again after the test."""
    yield engine_of_session
    engine_of_session.remove_everything()


@pytest.fixture
def project_name(request: pytest.FixtureRequest) -> str:
    """A Compose project name of the test's own."""
    return re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:40]
