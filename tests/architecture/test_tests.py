"""Tests neither patch our code nor wait by sleeping, and say when they need a real engine."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.architecture.sources import ROOT, dotted, find_modules, find_modules_with, parse, show
from tests.processes import processes_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TESTS = ROOT / "tests"
MODULES = find_modules(TESTS)
MAY_SLEEP = ("tests/waiting.py", "tests/docker/engine_init.py")


def find_forbidden(path: Path) -> set[str]:
    """The calls of a module that patch our code or sleep."""
    used = {dotted(node) for node in ast.walk(parse(path)) if isinstance(node, ast.Attribute | ast.Name)}
    sleeps = {"time.sleep"} & used if show(path) not in MAY_SLEEP else set()
    return {name for name in used if name.startswith(("mock.patch", "mocker.", "unittest.mock"))} | sleeps


def test_no_test_patches_our_code_or_sleeps() -> None:
    suspects = find_modules_with(TESTS, "sleep", "mock")
    assert {show(path): names for path in suspects if (names := find_forbidden(path))} == {}


def test_every_test_of_a_real_engine_is_marked() -> None:
    unmarked = [
        show(path)
        for path in MODULES
        if TESTS / "docker" in path.parents
        and path.name.startswith("test_")
        and "pytest.mark.docker" not in path.read_text()
    ]
    assert unmarked == []


@pytest.mark.parametrize("start", [lambda: subprocess.run([sys.executable, "--version"], check=True), os.fork])
def test_a_process_is_started_under_a_mark_only(start: Callable[[], object]) -> None:
    with processes_of("test_it", {"promise"}), pytest.raises(RuntimeError, match="test_it starts a process: mark it"):
        start()


@pytest.mark.integration
def test_a_marked_test_may_start_a_process() -> None:
    with processes_of("test_it", {"integration"}):
        assert subprocess.run([sys.executable, "--version"], check=False).returncode == 0
