"""Tests say what they promise, mirror the package, and neither patch our code nor wait by sleeping."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.architecture.sources import PACKAGE, ROOT, dotted, find_modules, parse, show

if TYPE_CHECKING:
    from pathlib import Path

TESTS = ROOT / "tests"
MAY_SLEEP = ("tests/waiting.py", "tests/docker/engine_init.py")
OTHER_FOLDERS = {"architecture", "corpus", "deploy", "docker", "fixtures", "grafana", "security"}
WORDS_AT_LEAST = 3


def find_tests(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        node
        for node in ast.walk(parse(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]


@pytest.mark.parametrize("path", find_modules(TESTS), ids=show)
def test_every_test_file_states_its_promise(path: Path) -> None:
    if path.name == "__init__.py" and not path.read_text():
        return
    assert (ast.get_docstring(parse(path)) or "").strip(), "the file's docstring says what it promises"


@pytest.mark.parametrize("path", find_modules(TESTS), ids=show)
def test_every_test_name_is_a_sentence(path: Path) -> None:
    short = [test.name for test in find_tests(path) if len(test.name.split("_")) - 1 < WORDS_AT_LEAST]
    assert short == []


@pytest.mark.parametrize("path", find_modules(TESTS), ids=show)
def test_no_test_patches_our_code_or_sleeps(path: Path) -> None:
    used = {dotted(node) for node in ast.walk(parse(path)) if isinstance(node, ast.Attribute | ast.Name)}
    assert not {name for name in used if name.startswith(("mock.patch", "mocker.", "unittest.mock"))}
    if show(path) not in MAY_SLEEP:
        assert "time.sleep" not in used


def test_every_folder_of_tests_mirrors_one_of_the_package() -> None:
    folders = {path.parent for path in find_modules(TESTS) if path.name.startswith("test_")}
    strangers = {
        show(folder)
        for folder in folders
        if folder != TESTS
        and folder.relative_to(TESTS).parts[0] not in OTHER_FOLDERS
        and not (PACKAGE / folder.relative_to(TESTS)).exists()
        and not (PACKAGE / folder.relative_to(TESTS)).with_suffix(".py").exists()
    }
    assert strangers == set()


def test_every_test_of_a_real_engine_is_marked() -> None:
    unmarked = [
        show(path)
        for path in find_modules(TESTS / "docker")
        if path.name.startswith("test_") and "pytest.mark.docker" not in path.read_text()
    ]
    assert unmarked == []
