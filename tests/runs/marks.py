"""Which tests a command runs, as their marks and the table of `smoke` say; read from the sources, without an import."""

from __future__ import annotations

import ast
from functools import cache

from tests.architecture.sources import ROOT, dotted, find_files, find_modules_with, parse
from tests.runs.smoke import SMOKE_TESTS

find_files(".py")  # asks git, as no test may that has no mark
NOT_IN_UNIT = {"docker", "integration", "slow", "alone"}


def marks_of(nodes: list[ast.expr]) -> dict[str, set[str]]:
    """Marks by their name, with the words in their parentheses."""
    found: dict[str, set[str]] = {}
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        call = node if isinstance(node, ast.Call) else None
        name = dotted(call.func if call else node)
        if name.startswith("pytest.mark."):
            words = {str(word.value) for word in call.args if isinstance(word, ast.Constant)} if call else set()
            found.setdefault(name.removeprefix("pytest.mark."), set()).update(words)
    return found


@cache
def marked_tests() -> dict[str, tuple[set[str], set[str]]]:
    """Every test function as pytest names it: its marks, and the rows that it shows."""
    tests = {}
    for path in find_modules_with(ROOT / "tests", "def test_"):
        tree, name = parse(path), path.relative_to(ROOT).as_posix()
        assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
        own = marks_of([node.value for node in assigned if dotted(node.targets[0]) == "pytestmark"])
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        for prefix, body, of_class in (
            ("", tree.body, {}),
            *((f"{c.name}::", c.body, marks_of(c.decorator_list)) for c in classes),
        ):
            for node in body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                    marks = marks_of(node.decorator_list)
                    rows = {row for given in (own, of_class, marks) for row in given.get("promise", ())}
                    tests[f"{name}::{prefix}{node.name}"] = ({*own, *of_class, *marks}, rows)
    return tests


def is_run_by_make_test(test: str) -> bool:
    """Whether `make test` runs a test, or one of a file: as a unit test or for the sake of a promise."""
    if test in SMOKE_TESTS or test.partition("::")[0] in SMOKE_TESTS:
        return True
    own = [marks for name, (marks, _) in marked_tests().items() if name == test or name.partition("::")[0] == test]
    return any(not marks & NOT_IN_UNIT for marks in own)
