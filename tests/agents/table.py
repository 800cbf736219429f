"""What agents pay, find and may trust, and how they are served: all figures, each beside its bar.

python -m tests.agents.table [--engine]     # `make agents`; exits with 1 when a bar is missed

With --engine also what needs a real one: edits that are brought up, and a recording of all requests.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.agents import answer_figures, search_figures, served_figures
from tests.agents.figures import Figure, Group, exit_code, gather, not_measured, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

INSPECTOR = not_measured("the protocol's inspector --strict, both transports", "no error", "run make inspector")
GROUPS = (
    Group("lists of tools", answer_figures.tool_lists),
    Group("default answers", answer_figures.default_answers),
    Group("pages", answer_figures.pages),
    Group("words of others", answer_figures.words_of_others),
    Group("conversations", answer_figures.conversations),
    Group("search", search_figures.right_answers),
    Group("time of a search", search_figures.times),
    Group("protocol", served_figures.protocol),
    Group("gate", served_figures.gate),
    Group("hung engine", served_figures.hung_engine),
    Group("clients", served_figures.clients),
    Group("weight", served_figures.weight),
    Group("inspector", lambda: [INSPECTOR]),
)
ON_ENGINE = (
    (Group("what-if equal to `up`, 30 edits", served_figures.what_if), "30 of 30"),
    (Group("requests other than GET and HEAD (tests/docker/test_read_only.py)", served_figures.requests), "0"),
)
"""Groups that need an engine, and the bar that is told where there is none."""


def groups_of(*, engine: bool) -> list[Group]:
    """All groups; those that need an engine only say so where none is asked for."""
    return [*GROUPS, *(group if engine else _postpone(group, bar) for group, bar in ON_ENGINE)]


def _postpone(group: Group, bar: str) -> Group:
    return Group(group.name, lambda: [not_measured(group.name, bar, "run with --engine")])


def print_table(groups: Iterable[Group]) -> int:
    """Print the table, and meanwhile what is measured; return 1 when a bar is missed."""
    figures: list[Figure] = list(gather(_announce(groups)))
    sys.stdout.write(render(figures))
    return exit_code(figures)


def _announce(groups: Iterable[Group]) -> Iterator[Group]:
    for group in groups:
        sys.stderr.write(f"measuring: {group.name}\n")
        yield group


if __name__ == "__main__":
    sys.exit(print_table(groups_of(engine="--engine" in sys.argv[1:])))
