"""The repository's files as the architecture tests read them."""

from __future__ import annotations

import ast
import shutil
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "bcon_exporter"


def _list_names() -> tuple[str, ...]:
    if shutil.which("git") is None:
        return ()  # the guest and the newest Python have none, and take from here where the repository is
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(listed.stdout.split("\0"))


NAMES = _list_names()
"""Asked for once, when this module is read: a unit test may start no process."""


@cache
def find_files(*suffixes: str) -> tuple[Path, ...]:
    """Every file of the repository with one of these suffixes, committed or about to be; never ignored ones."""
    assert NAMES, "git lists the repository's files, and is not installed"
    paths = (ROOT / name for name in NAMES if name.endswith(suffixes))
    return tuple(sorted(path for path in paths if path.is_file()))


def find_modules(folder: Path) -> tuple[Path, ...]:
    """Every Python file below a folder."""
    return tuple(path for path in find_files(".py") if path.is_relative_to(folder))


@cache
def parse(path: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    return ast.parse(read(path), filename=str(path))


def find_modules_with(folder: Path, *words: str) -> tuple[Path, ...]:
    """Every Python file below a folder in whose text one of these words stands: the others need not be parsed."""
    return tuple(path for path in find_modules(folder) if any(word in read(path) for word in words))


@cache
def read(path: Path) -> str:
    """The text of a Python file."""
    return path.read_text(encoding="utf-8")


def dotted(node: ast.AST) -> str:
    """`a.b.c` for a chain of names, "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def show(path: Path) -> str:
    """A path as the repository names it."""
    return str(path.relative_to(ROOT))
