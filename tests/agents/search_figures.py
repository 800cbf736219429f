"""Figures of the search: how right it is on labelled questions, and how long one takes among many incidents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.search import INCIDENTS, measure, p95_of
from tests.agents.figures import Figure, at_most
from tests.search.judging import FILES, Judged, judge, load_queries, make_search_context

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST_SHARE, THIRD_SHARE, ANSWERED_SHARE = 0.8, 0.95, 0.1
P95_MILLISECONDS = 20.0
HALVES = ("blind", "own")
"""Of the questions, as FILES has them: by somebody who saw the documents alone, and by us."""
ROUNDS = 3
"""The best of so many counts: CPU time, so that what else the machine does is seen as little as possible."""


def right_answers() -> Iterator[Figure]:
    """The shares of all questions; each half's own stand beside them."""
    context, whole = make_search_context(), Judged()
    halves = [judge(context, load_queries(name)) for name in FILES]
    for half in halves:
        whole.add(half)
    for told, share, bar, counts in (
        ("first", whole.first / whole.asked, FIRST_SHARE, [(one.first, one.asked) for one in (whole, *halves)]),
        (
            "in the first three",
            whole.third / whole.asked,
            THIRD_SHARE,
            [(one.third, one.asked) for one in (whole, *halves)],
        ),
    ):
        yield Figure(f"search, what is right comes {told}", _share(counts), f">= {bar:.0%}", share < bar)
    counts = [(one.answered, one.strange) for one in (whole, *halves)]
    share = whole.answered / whole.strange
    yield Figure(
        "search, strange questions answered", _share(counts), f"<= {ANSWERED_SHARE:.0%}", share > ANSWERED_SHARE
    )


def _share(counts: list[tuple[int, int]]) -> str:
    (kept, total), *halves = counts
    told = [f"{name} {one}/{of}" for name, (one, of) in zip(HALVES, halves, strict=True)]
    return f"{kept / total:.0%} ({', '.join(told)})"


def times() -> Iterator[Figure]:
    """The 95th percentile of a question's CPU time."""
    best = min(p95_of(measure()[1]) for _ in range(ROUNDS))
    yield at_most(f"search, p95 among {INCIDENTS:,} incidents, CPU time", round(best, 1), P95_MILLISECONDS, " ms")
