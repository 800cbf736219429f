"""Finds a guard by its name, wherever it lives, and breaks it in its syntax tree.

A name is what a reader would search for: `check_request`, `ListenerPolicy.knows_host`, `HEADERS_MAX_BYTES`. It is looked up in
every module of the package, so that a guard may move to another file. Where two modules have the same name, the last
parts of the module's name stand before it: `protocol.STALL_SECONDS`. A name that is gone or ambiguous is an error.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.Assign | ast.AnnAssign


class NoSuchGuardError(Exception):
    """The name is gone, or there is nothing left in it to break: the table of guards must follow the code."""


@dataclass(frozen=True)
class Found:
    """One definition.

    Attributes:
        path: Its file.
        name: Module and qualified name, "bcon_exporter.outputs.http.access_control.ListenerPolicy.knows_host".
    """

    path: Path
    name: str
    module: ast.Module
    node: Definition


@dataclass(frozen=True)
class Break:
    """One way to break a definition; `apply` changes the node in place and returns whether it found what to change."""

    how: str
    apply: Callable[[Definition], bool]


def find(package: Path, name: str) -> Found:
    """Return the one definition of this name below a package's folder.

    Raises:
        NoSuchGuardError: There is none, or more than one.
    """
    found = [each for path in sorted(package.rglob("*.py")) for each in _definitions(package, path, name)]
    if len(found) != 1:
        places = ", ".join(each.name for each in found) or "nowhere"
        message = f"no such guard: {name} is defined {places}; name it as it is called now"
        raise NoSuchGuardError(message)
    return found[0]


def broken_source(package: Path, name: str, way: Break) -> tuple[Path, str]:
    """Return a guard's file and its source with the guard broken.

    Raises:
        NoSuchGuardError: The guard is not there, or there is nothing in it to break in this way.
    """
    guard = find(package, name)
    before = ast.dump(guard.node)
    if not way.apply(guard.node) or ast.dump(guard.node) == before:
        message = f"no such guard: {guard.name} has nothing to break so: {way.how}"
        raise NoSuchGuardError(message)
    return guard.path, ast.unparse(ast.fix_missing_locations(guard.module))


@lru_cache(maxsize=1000)
def _read(path: Path, _changed_at: int) -> str:
    return path.read_text(encoding="utf-8")


def _definitions(package: Path, path: Path, name: str) -> Iterator[Found]:
    text = _read(path, path.stat().st_mtime_ns)
    last = name.rpartition(".")[2]
    if last not in text or not any(start in text for start in (f"def {last}(", f"{last} = ", f"{last}: ")):
        return  # most modules only use it, or not even that: no need to parse them
    module = ast.parse(text, filename=str(path))
    parts = path.relative_to(package.parent).with_suffix("").parts
    where = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    for qualified, node in _walk(module.body):
        full = f"{where}.{qualified}"
        if full == name or full.endswith(f".{name}"):
            yield Found(path, full, module, node)


def _walk(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """Yield the functions and assigned names of a module and of its classes; what is inside a function has no name."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _walk(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield f"{prefix}{node.target.id}", node
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            yield from ((f"{prefix}{name}", node) for name in names)


# --- ways to break a guard -------------------------------------------------------------------------------------------


def returns(expression: str) -> Break:
    """The whole body becomes `return expression`; arguments may stand in it."""
    value = _expression(expression)

    def apply(node: Definition) -> bool:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        node.body = [ast.Return(copy.deepcopy(value))]
        return True

    return Break(f"its body is `return {expression}`", apply)


def set_to(expression: str) -> Break:
    """A constant, or a field's default, has another value."""
    value = _expression(expression)

    def apply(node: Definition) -> bool:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            return False
        node.value = copy.deepcopy(value)
        return True

    return Break(f"it is `{expression}`", apply)


def never(condition: str) -> Break:
    """Each condition in which this text stands is never true: of `if`, `while`, a comprehension, `x if … else y`."""
    return _replace_tests(condition, "False", f"`{condition}` is never true")


def always(condition: str) -> Break:
    """Each condition in which this text stands is always true."""
    return _replace_tests(condition, "True", f"`{condition}` is always true")


def without(call: str) -> Break:
    """Calls of this function (`name`, `object.name`) are left out; where a value is needed, their first argument is it."""
    return Break(f"`{call}` is not called", lambda node: _Uncall(call).run(node))


def without_raise() -> Break:
    """Nothing is raised."""
    return Break("it raises nothing", lambda node: _Unraise().run(node))


def with_keyword(keyword: str, expression: str) -> Break:
    """Wherever this keyword is given to a call, it has another value."""
    return Break(f"{keyword}={expression}", lambda node: _Keyword(keyword, _expression(expression)).run(node))


def with_text(old: str, new: str) -> Break:
    """One piece of its source, as the interpreter writes it (quotes are single), is another."""

    def apply(node: Definition) -> bool:
        text = ast.unparse(node)
        if text.count(old) != 1:
            return False
        changed = ast.parse(text.replace(old, new)).body[0]
        for name in changed._fields:
            setattr(node, name, getattr(changed, name))
        return True

    return Break(f"`{old}` is `{new}`", apply)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _replace_tests(condition: str, value: str, how: str) -> Break:
    return Break(how, lambda node: _Condition(condition, _expression(value)).run(node))


class _Change(ast.NodeTransformer):
    """Walks a definition, changes it, and knows whether it did."""

    changed = False

    def run(self, node: ast.AST) -> bool:
        self.generic_visit(node)
        return self.changed


class _Condition(_Change):
    def __init__(self, condition: str, value: ast.expr) -> None:
        self._condition, self._value = condition, value

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field in ("test", "ifs"):
            tests = getattr(node, field, None)
            if isinstance(tests, ast.expr) and self._is_meant(tests):
                setattr(node, field, self._new())
            elif isinstance(tests, list) and any(map(self._is_meant, tests)):
                setattr(node, field, [self._new() if self._is_meant(each) else each for each in tests])
        return super().generic_visit(node)

    def _is_meant(self, test: ast.expr) -> bool:
        return self._condition in ast.unparse(test)

    def _new(self) -> ast.expr:
        self.changed = True
        return copy.deepcopy(self._value)


class _Uncall(_Change):
    def __init__(self, call: str) -> None:
        self._call = call

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if self._is_meant(value):
            self.changed = True
            return ast.Pass()
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if self._is_meant(node) and node.args:
            self.changed = True
            return node.args[0]
        return node

    def _is_meant(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and ast.unparse(node.func) == self._call


class _Unraise(_Change):
    def visit_Raise(self, _node: ast.Raise) -> ast.AST:
        self.changed = True
        return ast.Pass()


class _Keyword(_Change):
    def __init__(self, keyword: str, value: ast.expr) -> None:
        self._keyword, self._value = keyword, value

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        self.generic_visit(node)
        if node.arg == self._keyword:
            self.changed = True
            node.value = copy.deepcopy(self._value)
        return node
