"""Which tests a change of one package or module concerns: `make unit ONLY=drift`, `ONLY=drift.compare`, `ONLY=app.py`.

    python -m tests.selection drift          prints the files of tests, one a line, without those below tests/docker

Those are the files below tests/drift, and every file that uses by name

- what stands in the package or module, under whatever face it is exported, or
- what uses that in another module of the product: one step and no more,

itself or by helpers of the tests, however many. Imports for types alone and annotations do not count; nor does what
is asked for by a text, as a tool of the registry is: that takes the whole of `make unit`.
"""

from __future__ import annotations

import ast
import difflib
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ROOT = Path(__file__).parents[1]
PRODUCT, TESTS = "bcon_exporter", "tests"
ON_ENGINES = "tests/docker"

Names = frozenset[str]


class UnknownModuleError(ValueError):
    """There is no such package, module or file; the message lists the packages, or what is named alike."""


class Module:
    """One Python file, read when it is asked for."""

    def __init__(self, root: Path, path: Path) -> None:
        parts = path.relative_to(root).with_suffix("").parts
        self.path = path
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        self.is_face = parts[-1] == "__init__"  # it only passes names on
        self.is_test = parts[-1].startswith("test_")
        self.text = path.read_text(encoding="utf-8")

    @cached_property
    def statements(self) -> list[tuple[Names, Names, list[tuple[str, str, str]]]]:
        """For each statement at the top: the names it defines, the names it uses, and its imports (`imports_of`)."""
        return [
            (frozenset(_defined(top)), frozenset(_used(top)), list(imports_of(top)))
            for top in ast.parse(self.text, filename=str(self.path)).body
        ]

    def names_from(self, concerned: Concerned) -> Names:
        """The names at the top that are, or use, something that is concerned."""
        names: set[str] = set()
        for defined, _, imports in self.statements:
            for module, name, local in imports:
                if concerned.has(module, name):
                    names |= {local} if local in defined else defined or {local}
        grown = True
        while grown:
            more = {name for defined, used, _ in self.statements if used & names for name in defined or {"<run>"}}
            grown = not more <= names
            names |= more
        return frozenset(names)

    def mentions(self, words: Iterable[str]) -> bool:
        """Whether one of these words stands in it: a file without them needs no parsing."""
        return any(word in self.text for word in words)


class Concerned:
    """Modules of which all is concerned, and those of which some names are."""

    def __init__(self, whole: Iterable[str]) -> None:
        self.whole = set(whole)
        self.names: dict[str, Names] = {}

    def has(self, module: str, name: str) -> bool:
        """Whether `from module import name` takes something of it; `import module` has no name."""
        if module in self.whole or f"{module}.{name}" in self.whole or f"{module}.{name}" in self.names:
            return True
        names = self.names.get(module, frozenset())
        return name in names if name not in ("", "*") else bool(names)

    def words(self) -> set[str]:
        """The last part of each module's name: one of them stands in every import that takes something of it."""
        return {module.rpartition(".")[2] for module in {*self.whole, *self.names}}


class Tree:
    """The Python files of the product and its tests."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.product = self._read(PRODUCT)
        self.tests = self._read(TESTS)

    def _read(self, folder: str) -> dict[str, Module]:
        modules = (Module(self.root, path) for path in sorted((self.root / folder).rglob("*.py")))
        return {module.name: module for module in modules}

    def select(self, only: str) -> list[Path]:
        """Return the files of the tests that `only` concerns.

        Raises:
            UnknownModuleError: It names nothing.
        """
        name = self.find(only)
        if name in self.tests or name.startswith(f"{TESTS}."):
            named = {module for module in self.tests if module == name or module.startswith(f"{name}.")}
            return self._tests_of(Concerned(named))
        concerned = Concerned(module for module in self.product if module == name or module.startswith(f"{name}."))
        self._pass_on(concerned)
        others = [module for module in self.product.values() if module.name not in concerned.whole]
        words = concerned.words()
        concerned.names |= {
            module.name: names
            for module in others
            if not module.is_face and module.mentions(words) and (names := module.names_from(concerned))
        }
        self._pass_on(concerned)
        own = self.root / TESTS / Path(*name.split(".")[1:])
        below = {module.path for module in self.tests.values() if module.is_test and own in module.path.parents}
        return sorted({*self._tests_of(concerned), *below})

    def find(self, only: str) -> str:
        """The dotted name of a module or package that is given by its name or its file.

        Raises:
            UnknownModuleError: There is none.
        """
        parts = only.strip().removesuffix("/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        known = {*self.product, *self.tests, *(_folder_of(name) for name in self.tests)}
        for name in (parts, f"{PRODUCT}.{parts}", f"{TESTS}.{parts}"):
            if parts and name in known:
                return name
        short = {name.removeprefix(f"{PRODUCT}.") for name in self.product if name != PRODUCT}
        alike = sorted({name for name in short if name.split(".")[-1] == parts.split(".")[-1]})
        alike = alike or difflib.get_close_matches(parts, sorted(short), n=5)
        tops = ", ".join(sorted(name for name in short if "." not in name))
        message = f"ONLY={only}: there is no such package, module or file. "
        message += f"Did you mean {' or '.join(alike)}? " if alike else ""
        message += f"There are {tops}, their modules (drift.compare), and files."
        raise UnknownModuleError(message)

    def _pass_on(self, concerned: Concerned) -> None:
        """Follow names through the faces of the product."""
        faces = [module for module in self.product.values() if module.is_face and module.name not in concerned.whole]
        _grow(concerned, faces, lambda face: face.names_from(concerned))

    def _tests_of(self, concerned: Concerned) -> list[Path]:
        """The tests that use it, themselves or by a helper."""
        helpers = [
            module for module in self.tests.values() if not module.is_test and module.name not in concerned.whole
        ]
        _grow(concerned, helpers, lambda helper: helper.names_from(concerned))
        folders = {
            self.tests[name].path.parent for name in {*concerned.whole, *concerned.names} if name.endswith(".conftest")
        }
        folders.discard(self.root / TESTS)  # its fixtures are for every test: all would be concerned, and few are
        return sorted(
            module.path
            for module in self.tests.values()
            if module.is_test
            and (
                module.name in concerned.whole
                or not folders.isdisjoint(module.path.parents)
                or self._imports(module, concerned)
            )
        )

    @staticmethod
    def _imports(module: Module, concerned: Concerned) -> bool:
        return module.mentions(concerned.words()) and any(
            concerned.has(source, name) for _, _, imports in module.statements for source, name, _ in imports
        )


def _grow(concerned: Concerned, modules: Sequence[Module], names_of: Callable[[Module], Names]) -> None:
    grown = True
    while grown:
        words = concerned.words()
        found = {module.name: names_of(module) for module in modules if module.mentions(words)}
        more = {name: names for name, names in found.items() if names and names != concerned.names.get(name)}
        concerned.names.update(more)
        grown = bool(more)


def imports_of(top: ast.stmt) -> Iterator[tuple[str, str, str]]:
    """Each import below a statement as module, name ("" for the module itself) and the name it has here.

    Not those for types alone.
    """
    waiting: list[ast.AST] = [top]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting += node.orelse
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "", alias.asname or alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name, alias.asname or alias.name) for alias in node.names)
        elif not isinstance(node, ast.expr):
            waiting += ast.iter_child_nodes(node)


def _defined(top: ast.stmt) -> Iterator[str]:
    if isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield top.name
    elif isinstance(top, ast.Import | ast.ImportFrom):
        yield from (local for _, _, local in imports_of(top))
    else:
        yield from (node.id for node in ast.walk(top) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _used(top: ast.stmt) -> Iterator[str]:
    """Names that it reads, but for annotations; its arguments' names, which may be fixtures."""
    waiting: list[ast.AST] = [top]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.AnnAssign):
            waiting += [node.value] if node.value else []
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += [*node.decorator_list, node.args, *node.body]
        else:
            waiting += ast.iter_child_nodes(node)


def _folder_of(name: str) -> str:
    return name.rpartition(".")[0]


def main(words: Sequence[str], root: Path = ROOT) -> int:
    """Print the files; 2 for a name that there is not, or that no test uses."""
    tree, files = Tree(root), set[Path]()
    try:
        for only in words:
            files.update(path for path in tree.select(only) if tree.root / ON_ENGINES not in path.parents)
    except UnknownModuleError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if not files:
        sys.stderr.write(f"ONLY={' '.join(words)}: no unit test uses it by name\n")
        return 2
    sys.stdout.writelines(f"{path.relative_to(tree.root)}\n" for path in sorted(files))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
