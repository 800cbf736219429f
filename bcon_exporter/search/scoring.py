"""How well a text answers a question: from 0 to 1, and comparable between questions."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import log

from bcon_exporter.search.terms import find_terms

TITLE_WEIGHT = 3.0
_SATURATION = 1.2
_LENGTH_SHARE = 0.75
_BODY_SHARE = 0.95
_ELSEWHERE_SHARE = 0.5
"""A term counts whole where it stands in the title, a little less in the body, and half elsewhere in the document."""
_AIM = 0.3
"""How much a text gains whose title is all in the question: it is about that and nothing else."""
_UNKNOWN_SHARE = 0.25
"""Weight of a term that stands in no text, as a share of its rarity."""
_SHORTEST_SLIP = 6
_SLIP_LIKENESS = 0.85
_SLIPS_AT_MOST = 4
"""Shorter words are not taken for slips of others, nor those that are less like them."""
_HALF_SCORE = 2.0
"""A bm25 of this much halves the score."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """How rare terms are. Counted over the shipped texts alone: a score does not depend on what happened on a host.

    Attributes:
        count: Of texts.
        frequencies: In how many texts a term stands.
        mean_length: Of a text, in terms, those of its title by their weight.
        by_letter: The terms that begin with a letter.
    """

    count: int
    frequencies: Mapping[str, int]
    mean_length: float
    by_letter: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, texts: Iterable[tuple[Sequence[str], Sequence[str]]]) -> "Statistics":
        """Count the terms of titles and bodies."""
        frequencies: Counter[str] = Counter()
        count, length = 0, 0.0
        for title, body in texts:
            frequencies.update({*title, *body})
            count += 1
            length += weigh_length(title, body)
        by_letter: dict[str, list[str]] = {}
        for term in frequencies:
            by_letter.setdefault(term[0], []).append(term)
        return cls(count, frequencies, length / max(1, count), by_letter)

    def rarity(self, term: str) -> float:
        """Return the idf of a term: about 0 where every text has it, 6 where one does.

        What stands in no text tells none from another, so it weighs little; still it says that the question may be
        about something else.
        """
        frequency = self.frequencies.get(term, 0)
        rarity = log(1 + (self.count - frequency + 0.5) / (frequency + 0.5))
        return rarity if frequency else _UNKNOWN_SHARE * rarity


@dataclass(frozen=True, slots=True)
class Question:
    """A question's terms, each with how rare it is."""

    weights: Mapping[str, float]

    @classmethod
    def of(cls, words: str, statistics: Statistics) -> "Question":
        """Read a question. Numbers that stand in no text say nothing: times, ports and ids of a log line."""
        terms = dict.fromkeys(_correct(find_terms(words), statistics))
        kept = [term for term in terms if not term.isdigit() or statistics.frequencies.get(term)]
        return cls({term: statistics.rarity(term) for term in kept})


def _correct(terms: Sequence[str], statistics: Statistics) -> Iterator[str]:
    """Yield terms, of the first unknown ones the known term that each is probably a slip of."""
    tries = _SLIPS_AT_MOST
    for term in terms:
        if term in statistics.frequencies or len(term) < _SHORTEST_SLIP or not term.isalpha() or not tries:
            yield term
            continue
        tries -= 1
        near = [one for one in statistics.by_letter.get(term[0], ()) if abs(len(one) - len(term)) <= 1]
        yield next(iter(get_close_matches(term, near, n=1, cutoff=_SLIP_LIKENESS)), term)


def weigh_length(title: Sequence[str], body: Sequence[str]) -> float:
    """Return a text's length in terms, those of its title by their weight."""
    return TITLE_WEIGHT * len(title) + len(body)


def score_text(
    question: Question,
    title: Sequence[str],
    body: Sequence[str],
    statistics: Statistics,
    document: Collection[str] = (),
) -> float:
    """Return the share of the question's weight that a document has, times bm25 / (bm25 + 2) of its text.

    Args:
        question: What is asked.
        title: Terms of the text's title.
        body: Terms of the rest of it.
        statistics: How rare terms are.
        document: All terms of the document that the text is a part of.
    """
    whole = sum(question.weights.values())
    if not whole:
        return 0.0
    length = weigh_length(title, body)
    normal = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / max(1.0, statistics.mean_length))
    shared = bm25 = 0.0
    for term, weight in question.weights.items():
        in_title, in_body = title.count(term), body.count(term)
        if in_title or in_body:
            count = TITLE_WEIGHT * in_title + in_body
            shared += weight if in_title else _BODY_SHARE * weight
            bm25 += weight * count * (_SATURATION + 1) / (count + normal)
        elif term in document:
            shared += _ELSEWHERE_SHARE * weight
    names = set(title)
    named = sum(statistics.rarity(term) for term in names if term in question.weights)
    aim = named / max(1.0, sum(statistics.rarity(term) for term in names))
    return min(1.0, (1 + _AIM * aim) * (shared / whole) * bm25 / (bm25 + _HALF_SCORE))
