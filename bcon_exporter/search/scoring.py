"""How well a text answers a question: from 0 to 1, and comparable between questions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from bcon_exporter.search.terms import find_terms

TITLE_WEIGHT = 3.0
_SATURATION = 1.2
_LENGTH_SHARE = 0.75
_HALF_SCORE = 2.0
"""A bm25 of this much halves the score."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """How rare terms are. Counted over the shipped texts alone: a score does not depend on what happened on a host.

    Attributes:
        count: Of texts.
        frequencies: In how many texts a term stands.
        mean_length: Of a text, in terms, those of its title by their weight.
    """

    count: int
    frequencies: Mapping[str, int]
    mean_length: float

    @classmethod
    def of(cls, texts: Iterable[tuple[Sequence[str], Sequence[str]]]) -> "Statistics":
        """Count the terms of titles and bodies."""
        frequencies: Counter[str] = Counter()
        count, length = 0, 0.0
        for title, body in texts:
            frequencies.update({*title, *body})
            count += 1
            length += weigh_length(title, body)
        return cls(count, frequencies, length / max(1, count))

    def rarity(self, term: str) -> float:
        """Return the idf of a term: about 0 where every text has it, 6 or 7 where none does."""
        frequency = self.frequencies.get(term, 0)
        return log(1 + (self.count - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True, slots=True)
class Question:
    """A question's terms, each with how rare it is."""

    weights: Mapping[str, float]

    @classmethod
    def of(cls, words: str, statistics: Statistics) -> "Question":
        """Read a question. Numbers that stand in no text say nothing: times, ports and ids of a log line."""
        terms = dict.fromkeys(find_terms(words))
        kept = [term for term in terms if not term.isdigit() or statistics.frequencies.get(term)]
        return cls({term: statistics.rarity(term) for term in kept})


def weigh_length(title: Sequence[str], body: Sequence[str]) -> float:
    """Return a text's length in terms, those of its title by their weight."""
    return TITLE_WEIGHT * len(title) + len(body)


def score_text(question: Question, title: Sequence[str], body: Sequence[str], statistics: Statistics) -> float:
    """Return the share of the question's weight that a text has, times bm25 / (bm25 + 2)."""
    whole = sum(question.weights.values())
    if not whole:
        return 0.0
    length = weigh_length(title, body)
    normal = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / max(1.0, statistics.mean_length))
    shared = bm25 = 0.0
    for term, weight in question.weights.items():
        count = TITLE_WEIGHT * title.count(term) + body.count(term)
        if count:
            shared += weight
            bm25 += weight * count * (_SATURATION + 1) / (count + normal)
    return (shared / whole) * bm25 / (bm25 + _HALF_SCORE)
