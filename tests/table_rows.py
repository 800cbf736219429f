"""A matrix is one test over a table: every row runs, and the failure names each row that fails, with its reason.

`table` takes what `pytest.mark.parametrize` takes and stands where that stands; two of them, one above the other, are
every row of the one with every row of the other:

    @table(("method", "path"), ROUTES)
    def test_every_route_refuses_a_rebound_host_name(method: str, path: str) -> None: ...

Rows share the fixtures of their test. Four are made anew for each row: tmp_path (a folder of its own), monkeypatch,
caplog and capsys. All others are refused unless `shared` names them: they hold nothing that a row changes.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

RENEWED = frozenset({"tmp_path", "monkeypatch", "caplog", "capsys"})
"""The fixtures that each row gets anew."""

Test = Callable[..., None]

_NAME_MAX_CHARS = 100
_REASON_MAX_CHARS = 300
_SHARED = frozenset({"self", "request", "tmp_path_factory"})


@dataclass(frozen=True)
class Row:
    """One row of a table: what the failure calls it, and the test's arguments."""

    name: str
    arguments: Mapping[str, Any]

    def __add__(self, other: Row) -> Row:
        """Both at once, as a row of two tables that stand one above the other."""
        return Row(f"{self.name}, {other.name}", {**self.arguments, **other.arguments})


class Table:
    """A test, the names of the arguments that its rows give, and the rows, which run in this order."""

    def __init__(self, test: Test, names: frozenset[str], rows: Sequence[Row], shared: frozenset[str]) -> None:
        self.test = test
        self.names = names
        self.rows = rows
        self.shared = shared
        self.parameters = inspect.signature(test).parameters

    def refuse_shared_state(self) -> None:
        """Refuse a fixture whose state one row could leave to the next, and an argument that the test does not take.

        Raises:
            TypeError: It says which.
        """
        if unknown := sorted(self.names - set(self.parameters)):
            message = f"{self.test.__name__} takes no {', '.join(unknown)}"
            raise TypeError(message)
        if shared := sorted(set(self.parameters) - self.names - RENEWED - _SHARED - self.shared):
            message = (
                f"{self.test.__name__}: rows would share {', '.join(shared)}. Make it in the test, "
                "or name it in `shared` if no row changes it"
            )
            raise TypeError(message)

    def run(self, *instance: object, **fixtures: Any) -> None:
        """Run every row.

        Raises:
            AssertionError: It names all rows that fail; its cause is the error of the first.
            TypeError: As `refuse_shared_state`.
        """
        self.refuse_shared_state()
        if not self.rows:
            message = f"the table of {self.test.__name__} is empty: it shows nothing"
            raise AssertionError(message)
        failures = {}
        for number, row in enumerate(self.rows, start=1):
            try:
                with _renewed(fixtures, number) as own:
                    self.test(*instance, **own, **row.arguments)
            except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:  # noqa: BLE001  # any: told below
                failures[f"row {number}: {row.name}"] = error
        if failures:
            lines = [f"  {name}: {self._reason(error)}" for name, error in failures.items()]
            message = "\n".join([f"{len(failures)} of {len(self.rows)} rows fail", *lines])
            raise AssertionError(message) from next(iter(failures.values()))

    def _reason(self, error: BaseException) -> str:
        """The error in one line, and the line of the test that it was raised in."""
        text = str(error).partition("\n")[0][:_REASON_MAX_CHARS]
        own_file = self.test.__code__.co_filename
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own_file]
        return f"{type(error).__name__}: {text} (line {lines[-1] if lines else '?'})"


def table(
    names: str | Sequence[str],
    rows: Iterable[Any],
    *,
    ids: Iterable[str] | Callable[[Any], object] | None = None,
    shared: Iterable[str] = (),
) -> Callable[[Test], Test]:
    """Make a test of one row into a test of a whole table.

    Args:
        names: The test's arguments that a row gives, as `parametrize` takes them.
        rows: A value for each name, or `pytest.param(..., id=...)`; the value itself for one name.
        ids: What failures call the rows: texts, or a function of each value. Otherwise the values.
        shared: Fixtures that no row changes.

    Raises:
        TypeError: A row has marks or does not fit the names.
    """
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    one = len(given) == 1 and isinstance(names, str)
    texts = None if ids is None or callable(ids) else list(ids)
    name_of = ids if callable(ids) else _readable
    values = [row if isinstance(row, type(pytest.param())) else pytest.param(*((row,) if one else row)) for row in rows]
    own: list[Row] = []
    for number, value in enumerate(values):
        if value.marks or len(value.values) != len(given):
            message = f"{value} is no row for {', '.join(given)}: a row has a value for each and no marks"
            raise TypeError(message)
        text = value.id or (texts[number] if texts else ", ".join(str(name_of(each)) for each in value.values))
        own.append(Row(str(text)[:_NAME_MAX_CHARS], dict(zip(given, value.values, strict=True))))

    def make(test: Test) -> Test:
        inner: Table | None = getattr(test, "table", None)
        if inner is None:
            whole = Table(test, frozenset(given), own, frozenset(shared))
        else:
            both = [outer + row for outer, row in product(own, inner.rows)]
            whole = Table(inner.test, inner.names.union(given), both, inner.shared.union(shared))
        return _as_test(whole)

    return make


def _as_test(whole: Table) -> Test:
    """A function for pytest: it takes the fixtures, and the rows give the rest."""

    @functools.wraps(whole.test)
    def run(*instance: object, **fixtures: Any) -> None:
        whole.run(*instance, **fixtures)

    left = [parameter for name, parameter in whole.parameters.items() if name not in whole.names]
    vars(run).update(table=whole, __signature__=inspect.Signature(left))
    return run


@contextmanager
def _renewed(fixtures: Mapping[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """The fixtures for one row."""
    own = dict(fixtures)
    with ExitStack() as stack:
        if "monkeypatch" in own:
            own["monkeypatch"] = stack.enter_context(pytest.MonkeyPatch.context())
        if "tmp_path" in own:
            own["tmp_path"] = own["tmp_path"] / f"row{number}"
            own["tmp_path"].mkdir()
        if "caplog" in own:
            own["caplog"].clear()
        if "capsys" in own:
            own["capsys"].readouterr()
        yield own


def _readable(value: object) -> str:
    """What a failure calls a value: a name if it has one, or how Python writes it."""
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else repr(value)
