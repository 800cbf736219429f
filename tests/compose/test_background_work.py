"""A project that hangs holds up no other, and is left alone for a while."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.compose import ComposeOptions, ComposeReader
from bcon_exporter.compose.background_work import (
    FIRST_PAUSE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    MOST_IN_BACKGROUND,
    BackgroundWork,
)
from bcon_exporter.errors import BconError, DeadlineExceededError, InternalError
from bcon_exporter.model.desired import ProjectProblem, RunningProject
from tests.compose.conftest import NOW, SEALER
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path


WAIT, AT_ONCE = 30.0, 0.01


class Clock:
    """A monotonic clock that is set by hand."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def timing_out(_deadline: float | None) -> DeadlineExceededError:
    return DeadlineExceededError("in time it was not")


def test_what_timed_out_is_left_alone_twice_as_long_each_time_up_to_ten_minutes() -> None:
    clock, attempts = Clock(), list[float]()
    background = BackgroundWork[str](lambda _key, _answer: None, clock)

    def work(deadline: float | None) -> DeadlineExceededError:
        attempts.append(clock.now)
        return timing_out(deadline)

    for _ in range(2000):
        assert isinstance(background.run("shop", "v1", work, WAIT), DeadlineExceededError)
        clock.now += 1
    pauses = [later - earlier for earlier, later in pairwise(attempts)]
    assert pauses == [FIRST_PAUSE_SECONDS, 60, 120, 240, 480, LONGEST_PAUSE_SECONDS]


def test_other_files_are_tried_at_once() -> None:
    background = BackgroundWork[str](lambda _key, _answer: None, Clock())
    assert isinstance(background.run("shop", "v1", timing_out, WAIT), DeadlineExceededError)
    assert background.run("shop", "v2", lambda _: "fine", WAIT) == "fine"
    assert isinstance(background.run("shop", "v1", timing_out, WAIT), DeadlineExceededError)
    assert background.run("blog", "v1", lambda _: "fine", WAIT) == "fine"


def test_what_takes_long_goes_on_beside_and_its_answer_is_kept() -> None:
    kept: dict[str | None, str | BconError] = {}
    background = BackgroundWork[str](kept.__setitem__)
    may_end = threading.Event()

    def work(_deadline: float | None) -> str:
        may_end.wait(30)
        return "late"

    assert isinstance(background.run("shop", "v1", work, AT_ONCE), DeadlineExceededError)
    assert isinstance(background.run("shop", "v1", timing_out, WAIT), DeadlineExceededError), "it is not started twice"
    assert background.run("blog", "v1", lambda _: "fine", WAIT) == "fine"
    assert (kept, background.has_late_answer()) == ({"v1": "fine"}, False)
    kept.clear()
    may_end.set()
    wait_until(lambda: kept == {"v1": "late"}, "the late answer to be kept", timeout_seconds=10)
    assert (background.has_late_answer(), background.has_late_answer()) == (True, False)


def test_no_more_than_two_go_on_beside() -> None:
    background = BackgroundWork[str](lambda _key, _answer: None)
    may_end = threading.Event()
    deadlines: list[float | None] = []

    def work(deadline: float | None) -> str:
        deadlines.append(deadline)
        may_end.wait(30 if deadline is None else 0)
        return "x"

    for number in range(4):
        background.run("shop", f"v{number}", work, AT_ONCE)  # also where one project's files change again and again
    may_end.set()
    assert [deadline is None for deadline in deadlines] == [True] * MOST_IN_BACKGROUND + [False] * 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_defect_in_the_work_is_an_error_and_no_hang() -> None:
    background = BackgroundWork[str](lambda _key, _answer: None)
    assert isinstance(background.run("shop", "v1", lambda _: str(1 // 0), WAIT), InternalError)
    wait_until(lambda: all(thread.name != "compose" for thread in threading.enumerate()), "the traceback to be told")


@pytest.fixture
def stuck_at_bad(tmp_path: Path) -> tuple[str, ...]:
    """A Compose binary that hangs over every file in a folder called bad…"""
    script = tmp_path / "docker-compose"
    answer = '{"name": "good", "services": {"web": {"image": "x:1"}}}'
    script.write_text(
        f"#!/bin/sh\ncase \"$*\" in version*) echo 5.6.1;; */bad*) exec sleep 60;; *) echo '{answer}';; esac\n"
    )
    script.chmod(0o755)
    return (str(script),)


@pytest.mark.integration
def test_three_projects_that_hang_hold_up_no_other(tmp_path: Path, stuck_at_bad: tuple[str, ...]) -> None:
    projects = []
    for name in ("bad1", "bad2", "bad3", "good"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "compose.yaml").write_text("services: {web: {image: 'x:1'}}\n")
        projects.append(RunningProject(name=name, config_files=(f"{tmp_path}/{name}/compose.yaml",)))
    options = ComposeOptions(binary=stuck_at_bad, roots=(tmp_path,), timeout_seconds=20.0, wait_seconds=1.0)
    reader = ComposeReader(options, SEALER)
    first = [reader.resolve_running(project, NOW) for project in projects]
    assert [desired.problem for desired in first] == [ProjectProblem.TIMEOUT] * 3 + [None]
    assert ["still" in str(desired.problem_detail) for desired in first[:3]] == [True, True, False], "two go on beside"
    runs = reader.runs
    again = [reader.resolve_running(project, NOW).problem for project in projects]
    assert again == [ProjectProblem.TIMEOUT] * 3 + [None]
    assert reader.runs == runs, "they run or are left alone"
