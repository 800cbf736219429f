"""The files of a running project: where they are, which override counts, and why they may be unknown."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.compose.compose_options import ComposeOptions
from bcon_exporter.compose.running_projects import find_files, find_problem
from bcon_exporter.model.desired import ProjectProblem, RunningProject

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime.now(UTC)
OPTIONS = ComposeOptions(trusted=True)


def running(directory: Path, *names: str, **facts: Any) -> RunningProject:
    """A project whose containers were made an hour ago."""
    given = {
        "name": "shop",
        "config_files": tuple(str(directory / name) for name in names),
        "working_dir": str(directory),
        "newest_created_at": NOW - timedelta(hours=1),
        **facts,
    }
    return RunningProject(**given)


def names_of(project: RunningProject, options: ComposeOptions = OPTIONS) -> list[str]:
    """The names of the files that count."""
    return [file.name for file in find_files(project, options)]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A project directory with a default file and an override."""
    for name in ("compose.yaml", "compose.override.yaml", "prod.yaml"):
        (tmp_path / name).write_text("services: {}\n")
    return tmp_path


def test_an_override_file_added_after_up_counts(directory: Path) -> None:
    assert names_of(running(directory, "compose.yaml")) == ["compose.yaml", "compose.override.yaml"]


def test_an_override_file_that_was_there_when_the_labels_were_made_does_not_count(directory: Path) -> None:
    later = running(directory, "compose.yaml", newest_created_at=NOW + timedelta(hours=1))
    assert names_of(later) == ["compose.yaml"]
    os.utime(directory / "compose.override.yaml", (0, 0))
    assert names_of(running(directory, "compose.yaml")) == ["compose.yaml"], "older content that was copied here"


@pytest.mark.parametrize(
    ("names", "facts"),
    [
        (("prod.yaml",), {}),
        (("compose.yaml", "prod.yaml"), {}),
        (("compose.yaml",), {"working_dir": "/elsewhere"}),
        (("compose.yaml",), {"newest_created_at": None}),
    ],
)
def test_an_override_file_counts_only_beside_the_one_default_file(
    directory: Path, names: tuple[str, ...], facts: dict[str, Any]
) -> None:
    assert names_of(running(directory, *names, **facts)) == list(names)


def test_relative_names_of_compose_1_are_read_from_the_working_directory(directory: Path) -> None:
    project = running(directory, config_files=("prod.yaml",))
    assert find_files(project, OPTIONS) == (directory / "prod.yaml",)
    assert find_problem(project, OPTIONS) is None


@pytest.mark.parametrize("file", ["-", "/srv/shop/-", "/dev/stdin", "/dev/fd/63", "/proc/self/fd/11"])
def test_standard_input_is_no_file(directory: Path, file: str) -> None:
    problem, told = find_problem(running(directory, config_files=(file,)), OPTIONS) or ("", "")
    assert (problem, "standard input" in told) == (ProjectProblem.NOT_FOUND, True)


def test_stacks_and_containers_without_a_file_are_told_apart(directory: Path) -> None:
    assert "Swarm" in (find_problem(running(directory, is_stack=True), OPTIONS) or ("", ""))[1]
    assert "name no Compose file" in (find_problem(running(directory), OPTIONS) or ("", ""))[1]


def test_portainers_files_are_said_to_lie_in_its_container(directory: Path) -> None:
    project = running(directory, config_files=("/data/compose/7/docker-compose.yml",))
    problem, told = find_problem(project, OPTIONS) or ("", "")
    assert (problem, "Portainer" in told) == (ProjectProblem.NOT_FOUND, True)


@pytest.mark.parametrize(
    ("file", "problem"),
    [("/elsewhere/compose.yaml", ProjectProblem.OUTSIDE_ROOTS), ("gone/compose.yaml", ProjectProblem.NOT_FOUND)],
)
def test_a_file_that_is_not_here_is_outside_or_gone(directory: Path, file: str, problem: ProjectProblem) -> None:
    path = file if file.startswith("/") else str(directory / file)
    project = running(directory, config_files=(path,))
    for trusted in (True, False):
        found, told = find_problem(project, ComposeOptions(roots=(directory,), trusted=trusted)) or ("", "")
        assert (found, path in told) == (problem, True)
    mapped = ComposeOptions(path_map=(("/srv", str(directory)),), trusted=True)
    told_of = [find_problem(project, options) for options in (mapped, OPTIONS)]
    assert [found and found[0] for found in told_of] == [problem, ProjectProblem.NOT_FOUND]


def test_only_a_command_reads_a_file_wherever_it_lies(directory: Path, tmp_path: Path) -> None:
    roots = (tmp_path / "other",)
    project = running(directory, "compose.yaml")
    assert find_problem(project, ComposeOptions(roots=roots, trusted=True)) is None
    problem, told = find_problem(project, ComposeOptions(roots=roots)) or ("", "")
    assert (problem, "compose.roots" in told) == (ProjectProblem.OUTSIDE_ROOTS, True)
