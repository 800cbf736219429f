"""The longest tests begin first, wherever the workers begin that run them side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from tests.conftest import LONGEST, begin_with_longest
from tests.table_rows import table

if TYPE_CHECKING:
    import pytest

HERE = Path(__file__).parent


class Item:
    """A collected test."""

    def __init__(self, path: Path) -> None:
        self.path = path


def first_of_each(items: list[pytest.Item], workers: int) -> list[Path]:
    """What each worker begins with: it is given its part of those that are left (xdist, worksteal)."""
    firsts, left = [], list(items)
    for worker in range(workers):
        firsts.append(left[0].path)
        del left[: len(left) // (workers - worker)]
    return firsts


@table("workers", [1, 2, 3, 4, 5])
@table("others", range(100, 107))
def test_each_worker_begins_with_one_of_the_longest(workers: int, others: int) -> None:
    paths = [HERE / "elsewhere.py"] * others + [HERE / file for file in reversed(LONGEST)] + [Path("/other/test.py")]
    items = cast("list[pytest.Item]", [Item(path) for path in paths])
    before = sorted(map(id, items))

    begin_with_longest(items, workers)

    assert sorted(map(id, items)) == before
    assert first_of_each(items, workers) == [HERE / file for file in LONGEST[:workers]]


def test_they_are_there() -> None:
    assert all((HERE / file).exists() for file in LONGEST)
