"""Tests neither patch our code nor wait by sleeping, and say when they need a real engine."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.architecture.sources import ROOT, dotted, find_modules, parse, show

if TYPE_CHECKING:
    from pathlib import Path

TESTS = ROOT / "tests"
MAY_SLEEP = ("tests/waiting.py", "tests/docker/engine_init.py")


@pytest.mark.parametrize("path", find_modules(TESTS), ids=show)
def test_no_test_patches_our_code_or_sleeps(path: Path) -> None:
    used = {dotted(node) for node in ast.walk(parse(path)) if isinstance(node, ast.Attribute | ast.Name)}
    assert not {name for name in used if name.startswith(("mock.patch", "mocker.", "unittest.mock"))}
    if show(path) not in MAY_SLEEP:
        assert "time.sleep" not in used


def test_every_test_of_a_real_engine_is_marked() -> None:
    unmarked = [
        show(path)
        for path in find_modules(TESTS / "docker")
        if path.name.startswith("test_") and "pytest.mark.docker" not in path.read_text()
    ]
    assert unmarked == []
