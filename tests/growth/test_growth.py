"""No text from outside makes a function slower than in proportion to its length, up to what is really let in.

The one place in the tests that judges by time: CPU time of one thread, four times the text against six times the cost.
The short form repeats each row's own units and some others; the long form (`make fuzz`) repeats all units, with other
beginnings and ends, and lets hypothesis look for the dearest. Of tens of thousands of pairs it measures those closely
that seem to grow: all of them would take it ten hours.
"""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings, target
from hypothesis import strategies as st

from tests.growth.measuring import MOST_GROWTH, Row, Shape, measure_growth, seems_to_grow
from tests.growth.rows import ANY_UNITS, HOSTILE_UNITS, ROWS, SECRET_UNITS

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
LONG = bool(os.environ.get("TEST_FUZZ"))
SHORT_UNITS = (" ", "\n", "a", "0", "/", '"', "[", "a:", "a=", "\x9d", "\r", "\x1b]")
SHORT_OWN_UNITS = 8
ENDS = ("", "\n", "é")
SEARCHES = 50


def shapes_of(row: Row) -> Iterator[Shape]:
    """What is repeated over a row: in the short form its own units and some, in the long form all, and in pairs."""
    if not LONG:
        own = row.units[:: max(len(row.units) // SHORT_OWN_UNITS, 1)]
        yield from (Shape(unit, after="!") for unit in dict.fromkeys((*own, *SHORT_UNITS)))
        return
    units = tuple(dict.fromkeys((*row.units, *ANY_UNITS, *HOSTILE_UNITS, *SECRET_UNITS)))
    yield from (Shape(unit, after="!") for unit in units)
    yield from (Shape(unit, after=end) for unit in row.units for end in ENDS)
    yield from (Shape(unit, before=other) for unit, other in itertools.permutations(row.units, 2))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_cost_grows_with_the_text_and_no_faster(row: Row) -> None:
    for shape in shapes_of(row):
        is_own = LONG and shape.unit in row.units and not shape.before
        if is_own or seems_to_grow(row, shape):
            growth = measure_growth(row, shape)
            assert growth.ratio <= MOST_GROWTH, growth


@pytest.mark.skipif(not LONG, reason="the search for the dearest text belongs to `make fuzz`")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_text_that_hypothesis_finds_costs_more_than_in_proportion(row: Row) -> None:
    pieces = st.sampled_from(tuple(dict.fromkeys((*row.units, *ANY_UNITS, *HOSTILE_UNITS)))) | st.characters(codec=None)
    units = st.lists(pieces, min_size=1, max_size=5).map("".join)

    @settings(
        max_examples=SEARCHES,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
    )
    @given(unit=units, before=st.just("") | units, after=st.just("") | units)
    def search(unit: str, before: str, after: str) -> None:
        growth = measure_growth(row, Shape(unit, before, after), enough_seconds=0.005)
        target(growth.seconds / growth.chars * 1e9, label="nanoseconds a character")
        target(growth.ratio, label="growth")
        note(str(growth))
        assert growth.ratio <= MOST_GROWTH, growth

    search()
