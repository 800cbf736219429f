"""The workflows trust little: actions by commit, least permissions, no text from outside in a shell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from tests.architecture.sources import ROOT, find_files

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = [path for path in find_files(".yml") if path.parent.name == "workflows"]
WORKFLOWS: dict[str, Any] = {path.name: yaml.load(path.read_text(), yaml.BaseLoader) for path in FILES}
PAGE = (ROOT / "docs" / "development" / "release.md").read_text()
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
OWN = "./.github/workflows/ci.yml"
WRITES = {
    ("release.yml", "image"): {"packages"},
    ("release.yml", "index"): {"packages", "id-token"},
    ("release.yml", "pypi"): {"id-token"},
    ("release.yml", "github"): {"contents"},
}
"""The jobs that may write, and what; every other job reads the sources alone."""


def find_jobs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for file, workflow in WORKFLOWS.items():
        for name, job in workflow["jobs"].items():
            yield file, name, job


def find_steps() -> list[dict[str, Any]]:
    action = yaml.load((ROOT / "action.yml").read_text(), yaml.BaseLoader)
    return [*action["runs"]["steps"], *(step for _, _, job in find_jobs() for step in job.get("steps", ()))]


def test_every_action_is_pinned_by_a_commit_and_one_commit_alone() -> None:
    used = [line.partition("uses: ")[2] for path in FILES for line in path.read_text().splitlines() if "uses: " in line]
    foreign = {action for action in used if not action.startswith(OWN)}

    assert len(foreign) >= 6
    assert [action for action in foreign if not PINNED.fullmatch(action)] == []
    assert len({action.partition("@")[0] for action in foreign}) == len(foreign)


def test_a_job_may_write_only_what_it_is_there_to_write() -> None:
    assert {file: workflow["permissions"] for file, workflow in WORKFLOWS.items()} == {file: {} for file in WORKFLOWS}
    writes = {
        (file, name): {scope for scope, level in job["permissions"].items() if level == "write"}
        for file, name, job in find_jobs()
    }
    assert {job: scopes for job, scopes in writes.items() if scopes} == WRITES


def test_no_checkout_leaves_a_token_behind() -> None:
    checkouts = [step for step in find_steps() if step.get("uses", "").startswith("actions/checkout@")]

    assert len(checkouts) >= 5
    assert [step for step in checkouts if step["with"]["persist-credentials"] != "false"] == []


def test_no_expression_is_pasted_into_a_shell() -> None:
    assert [step["run"] for step in find_steps() if "${{" in step.get("run", "")] == []


def test_tests_run_on_both_architectures_and_on_the_oldest_and_newest_python() -> None:
    matrix = WORKFLOWS["ci.yml"]["jobs"]["test"]["strategy"]["matrix"]

    assert matrix == {"runner": ["ubuntu-24.04", "ubuntu-24.04-arm"], "python": ["3.11", "3.14"]}


def test_what_cannot_be_made_again_comes_after_all_that_can() -> None:
    jobs = WORKFLOWS["release.yml"]["jobs"]

    assert {name: job.get("needs") for name, job in jobs.items()} == {
        "test": None, "dist": None, "image": ["test", "dist"], "index": "image", "pypi": "index", "github": "pypi",
    }  # fmt: skip
    assert jobs["test"]["uses"] == OWN
    assert jobs["pypi"]["environment"]["name"] == "pypi"


def test_the_page_about_releases_lists_every_line_that_no_test_runs() -> None:
    """tests/deploy/test_release.py runs the lines of .ci/release.sh; what it cannot run, and each action, is listed."""
    lines = {step["run"] for step in find_steps() if ".ci/release.sh" not in step.get("run", ".ci/release.sh")}
    lines -= {"mkdir packages && cp dist/*.whl dist/*.tar.gz packages"}  # run there too
    actions = {step["uses"].partition("@")[0] for step in find_steps() if "uses" in step}
    listed = PAGE.partition("\n## What no test runs here\n")[2].partition("\n## ")[0]

    assert lines
    assert [text for text in sorted(lines | actions) if f"`{text}`" not in listed] == []
