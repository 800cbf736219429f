"""The table of `make mutants` follows the code: each guard is there, can be broken, and names tests that exist."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.architecture.sources import ROOT, parse
from tests.mutants.breaking import NoSuchGuardError, broken_source, find, returns, set_to, without
from tests.mutants.guards import GUARDS, Guard, ShippedGuard

if TYPE_CHECKING:
    from pathlib import Path

GUARDS_AT_LEAST = 60
HOUSE = """
LIMIT = 5

def check(words):
    if len(words) > LIMIT:
        raise ValueError(words)

def serve(words):
    check(words)
    return words

class Door:
    def open(self):
        return False
"""


def find_tests(file: str) -> set[str]:
    """The names of a file's tests, as pytest names them: also those of its classes."""
    body = parse(ROOT / file).body
    functions = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    return functions | {
        f"{each.name}::{node.name}" for each in classes for node in each.body if isinstance(node, ast.FunctionDef)
    }


def tell_what_is_wrong(guard: Guard | ShippedGuard) -> str | None:
    try:
        guard.break_in(ROOT)
    except NoSuchGuardError as error:
        return str(error)
    return None


@pytest.mark.slow
def test_every_guard_is_there_and_can_be_broken() -> None:
    assert [wrong for guard in GUARDS if (wrong := tell_what_is_wrong(guard))] == []


@pytest.mark.slow
def test_every_test_that_must_find_a_broken_guard_exists() -> None:
    named = {test.partition("::")[::2] for guard in GUARDS for test in guard.tests}
    gone = [f"{file}::{test}" for file, test in named if not (ROOT / file).is_file() or test not in find_tests(file)]
    assert gone == []


def test_there_are_as_many_guards_as_promised_and_none_twice() -> None:
    broken = {(guard.name, guard.how) for guard in GUARDS}
    assert len(broken) == len(GUARDS) >= GUARDS_AT_LEAST


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "house"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "rules.py").write_text(HOUSE)
    return folder


def test_a_guard_is_found_wherever_it_has_moved(package: Path) -> None:
    before = find(package, "Door.open").path
    before.rename(package / "moved.py")

    assert find(package, "Door.open").path == package / "moved.py"
    assert find(package, "moved.Door.open").name == "house.moved.Door.open"


@pytest.mark.parametrize("name", ["gone", "Door.gone", "elsewhere.check"])
def test_a_guard_that_is_gone_is_an_error(package: Path, name: str) -> None:
    with pytest.raises(NoSuchGuardError, match=f"{name} is defined nowhere"):
        broken_source(package, name, returns("None"))


def test_a_name_that_two_modules_have_is_an_error_until_the_module_is_named(package: Path) -> None:
    (package / "other.py").write_text("LIMIT = 6\n")

    with pytest.raises(NoSuchGuardError, match=r"house\.deep\.rules\.LIMIT, house\.other\.LIMIT"):
        find(package, "LIMIT")
    assert broken_source(package, "other.LIMIT", set_to("7")) == (package / "other.py", "LIMIT = 7")


def test_a_break_that_changes_nothing_is_an_error(package: Path) -> None:
    with pytest.raises(NoSuchGuardError, match="has nothing to break so"):
        broken_source(package, "Door.open", without("check"))
