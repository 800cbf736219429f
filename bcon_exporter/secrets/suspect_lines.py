"""Finds the few lines of a text that may hold a known secret, in one pass; only those are searched exactly.

The pass looks for the beginnings of all forms of all values, and for the escapes that they may be written with, over
lines that are joined without what may stand where a value is cut in two. It finds too much at times, never too little.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat
from typing import Any

import re2

from bcon_exporter.secrets.escapes import escape_expression
from bcon_exporter.secrets.written_forms import PIECE_CHARS, base64_cores, escaped_codes, hex_form, text_forms

WRAPPING = " \t\\"
"""What stands at the end of a line, behind a value that goes on in the next one."""
INDENT = " \t"
_BEGINNING = 12
"""Characters of a form that are looked for: what tokens of one issuer begin with is shorter."""
_BEGINNING_OF_MANY = 8
_MANY = 256
"""Values whose forms begin with fewer characters, so that an expression takes less memory."""
_FORMS_AT_ONCE = 1024
_EXPRESSION_BYTES = 4 * 2**20
_FORMS_KEPT = 8 * 1024
"""Forms in all expressions that are kept, some 1 kB each."""
_LEAST_BLOCK_BYTES = 256
"""To search less than this by itself costs as much, above all for very many values."""


@dataclass(frozen=True, slots=True)
class _Search:
    """What finds the beginnings of values.

    Attributes:
        expressions: All of them are searched; none where there is no expression for these values.
        forms: How many forms they look for.
        reach: Bytes of text behind a line in which a value begins that are searched exactly, too.
    """

    expressions: tuple[Any, ...]
    forms: int
    reach: int


class _Searches:
    """The searches that were used last, for sets of values; what two threads make at once is made twice."""

    def __init__(self) -> None:
        self._kept: dict[frozenset[str], _Search] = {}

    def get(self, values: frozenset[str]) -> _Search:
        kept = dict(self._kept)
        search = kept.pop(values, None) or _make_search(values)
        kept[values] = search
        forms = sum(other.forms for other in kept.values())
        while forms > _FORMS_KEPT and len(kept) > 1:
            forms -= kept.pop(next(iter(kept))).forms
        self._kept = kept
        return search


_searches = _Searches()


def find_suspect_lines(lines: Sequence[str], values: frozenset[str]) -> list[tuple[int, int]]:
    """Return the first and last number of the lines, block by block, that may hold one of the values, whole or in part.

    Args:
        lines: Clean, and without line breaks.
        values: At least one, and no more than can be searched.
    """
    search = _searches.get(values)
    if not search.expressions:
        return [(0, len(lines) - 1)]
    bodies = _strip_wrapping(lines)
    joined = "".join(bodies)
    blocks: list[tuple[int, int]] = []
    for expression in search.expressions:
        if expression.search(joined) is not None:
            blocks += _find_blocks(expression, joined, bodies, search.reach)
    return _merge(blocks)


def _strip_wrapping(lines: Iterable[str]) -> list[str]:
    return list(map(str.lstrip, map(str.rstrip, lines, repeat(WRAPPING)), repeat(INDENT)))


def _find_blocks(expression: Any, joined: str, bodies: Sequence[str], reach: int) -> Iterable[tuple[int, int]]:
    """Yield each line in which something begins, with the lines that a value may reach from there."""
    text = joined.encode()
    ends = list(accumulate(len(body.encode()) for body in bodies))
    position = 0
    while (match := expression.search(text, position)) is not None:
        first = bisect_right(ends, match.start())
        position = ends[first]
        yield first, min(bisect_left(ends, position + reach), len(bodies) - 1)


def _merge(blocks: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(blocks):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _make_search(values: frozenset[str]) -> _Search:
    chars = _BEGINNING if len(values) <= _MANY else _BEGINNING_OF_MANY
    longest = max((len(value.encode()) for value in values if len(value) <= PIECE_CHARS), default=0)
    reach = max(longest, _LEAST_BLOCK_BYTES)
    literals = {form for value in values for form in (*text_forms(value), *base64_cores(value))}
    beginnings = {"".join(_strip_wrapping(literal.split("\n")))[:chars] for literal in literals}
    if "" in beginnings:
        return _Search((), 0, reach)
    forms = [re2.escape(beginning) for beginning in sorted(beginnings)]
    forms += sorted({f"(?i:{digits[:chars]})" for value in values if (digits := hex_form(value))})
    escapes = f"(?:{escape_expression(escaped_codes(values))})"
    searched = [forms[start : start + _FORMS_AT_ONCE] for start in range(0, len(forms), _FORMS_AT_ONCE)]
    searched[0].append(escapes)
    try:
        expressions = tuple(map(_compile, searched))
    except re2.error:
        return _Search((), 0, reach)
    return _Search(expressions, len(forms), reach)


def _compile(forms: Iterable[str]) -> Any:
    options = re2.Options()
    options.never_capture = True
    options.log_errors = False
    options.max_mem = _EXPRESSION_BYTES
    expression = re2.compile("|".join(forms), options)
    re2.purge()  # it would keep the last 128
    return expression
