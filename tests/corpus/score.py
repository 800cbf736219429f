"""Counts what was right over the corpus: per label, false alarms, whole sets of causes, and what is taken for what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.corpus.excerpts import HEALTHY, JUDGED, Excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ERROR = "LOG_ERROR"
OTHER = "other error"
NOTHING = "nothing"
KINDS = (HEALTHY, *(label for label in JUDGED if label != ERROR), OTHER)
"""Rows of the matrix; its columns are the same, with "nothing" for what is called healthy."""
SHORT = {"missing_dependency": "missing", "NETWORK_ERROR": "network", "OOM_KILLED": "oom", "DISK_PRESSURE": "disk"}


@dataclass(frozen=True)
class Counts:
    """How often one label was right, said without being true, and true without being said."""

    right: int
    too_much: int
    missed: int

    @property
    def precision(self) -> float:
        """Share of what was said that is true, 0 to 1; 1 when nothing was said."""
        return _share(self.right, self.right + self.too_much)

    @property
    def recall(self) -> float:
        """Share of what is true that was said, 0 to 1."""
        return _share(self.right, self.right + self.missed)

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        return _share(2 * self.right, 2 * self.right + self.too_much + self.missed)


@dataclass(frozen=True)
class Judgement:
    """One excerpt and what a matcher said of it."""

    excerpt: Excerpt
    found: frozenset[str]

    @property
    def missing(self) -> frozenset[str]:
        """True labels that were not said."""
        return self.excerpt.expected - self.found

    @property
    def extra(self) -> frozenset[str]:
        """Labels that were said and are not true."""
        return self.found - self.excerpt.expected


@dataclass(frozen=True)
class Score:
    """What a matcher reaches.

    Attributes:
        labels: Counts by judged label.
        healthy: Healthy excerpts; `flagged` of them got any label.
        faulty: Excerpts with a true label; `overlooked` of them got none.
        caused: Excerpts with a label beyond LOG_ERROR; for `causes_right` of them the set of such labels is exact.
        matrix: How often a kind of excerpt (row) was taken for a kind (column).
    """

    labels: Mapping[str, Counts]
    healthy: int
    flagged: int
    faulty: int
    overlooked: int
    caused: int
    causes_right: int
    matrix: Mapping[tuple[str, str], int]

    @property
    def flagged_share(self) -> float:
        """Share of the healthy excerpts that were called ill, 0 to 1."""
        return _share(self.flagged, self.healthy) if self.healthy else 0.0

    @property
    def causes_share(self) -> float:
        """Share of the excerpts with a cause whose set of causes is exact, 0 to 1."""
        return _share(self.causes_right, self.caused)


def judge(excerpts: Iterable[Excerpt], matcher: Callable[[Sequence[str]], frozenset[str]]) -> tuple[Judgement, ...]:
    """Ask the matcher about every excerpt."""
    return tuple(Judgement(excerpt, matcher(excerpt.lines)) for excerpt in excerpts)


def score(judgements: Sequence[Judgement]) -> Score:
    """Sum up."""
    healthy = [one for one in judgements if one.excerpt.is_healthy]
    faulty = [one for one in judgements if one.excerpt.expected]
    caused = [one for one in judgements if one.excerpt.expected - {ERROR}]
    return Score(
        labels={label: _count(label, judgements) for label in JUDGED},
        healthy=len(healthy),
        flagged=sum(bool(one.found) for one in healthy),
        faulty=len(faulty),
        overlooked=sum(not one.found for one in faulty),
        caused=len(caused),
        causes_right=sum(one.excerpt.expected - {ERROR} == one.found - {ERROR} for one in caused),
        matrix=Counter(pair for one in judgements for pair in _taken_for(one)),
    )


def _count(label: str, judgements: Sequence[Judgement]) -> Counts:
    return Counts(
        right=sum(label in one.found and label in one.excerpt.expected for one in judgements),
        too_much=sum(label in one.extra for one in judgements),
        missed=sum(label in one.missing for one in judgements),
    )


def _taken_for(one: Judgement) -> list[tuple[str, str]]:
    """Pairs of kinds for the matrix: each true kind with itself where it was said, else with what was said instead."""
    rows = _kinds(one.excerpt.expected) or (HEALTHY,)
    columns = _kinds(one.found) or (NOTHING,)
    return [(row, column) for row in rows for column in ((row,) if row in columns else columns)]


def _kinds(labels: frozenset[str]) -> tuple[str, ...]:
    kinds = tuple(label for label in JUDGED if label in labels and label != ERROR)
    return kinds or ((OTHER,) if ERROR in labels else ())


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def render(title: str, found: Score, naive: Score) -> str:
    """The figures of both matchers side by side, then the product's matrix, as text."""
    lines = [title, "", f"{'label':20}{'precision':>10}{'recall':>8}{'F1':>8}{'naive F1':>10}{'excerpts':>10}"]
    for label, counts in found.labels.items():
        shares = f"{counts.precision:>10.3f}{counts.recall:>8.3f}{counts.f1:>8.3f}{naive.labels[label].f1:>10.3f}"
        lines.append(f"{label:20}{shares}{counts.right + counts.missed:>10}")
    lines += [
        "",
        f"healthy called ill   {found.flagged:>4} of {found.healthy:<4} naive {naive.flagged:>4}",
        f"faults overlooked    {found.overlooked:>4} of {found.faulty:<4} naive {naive.overlooked:>4}",
        f"causes exact         {found.causes_right:>4} of {found.caused:<4} naive {naive.causes_right:>4}",
        "",
        *_matrix_lines(found),
    ]
    return "\n".join(lines)


def _matrix_lines(found: Score) -> list[str]:
    columns = (NOTHING, *KINDS[1:])
    lines = [f"{'is, taken for':20}" + "".join(f"{SHORT.get(name, name):>14}" for name in columns)]
    for row in KINDS:
        cells = "".join(f"{found.matrix.get((row, column), 0) or '.':>14}" for column in columns)
        lines.append(f"{row:20}{cells}")
    return lines
