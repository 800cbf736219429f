"""RE2 over log lines: one expression, or many of which a filter says which may match a text at all."""

from collections.abc import Sequence
from typing import Any

import re2

_BY_LINE = b"(?m)"
_NOT_TO_BE_JOINED = ("(?P<", "(?<", r"\Q")
"""A name may be given once only, and a quotation without an end takes in what follows."""


def compile_pattern(regex: str) -> Any:
    """Compile one RE2 expression over UTF-8 bytes; `^` and `$` are the ends of a line.

    Raises:
        re2.error: With the reason; nothing is written to stderr.
    """
    return re2.compile(_BY_LINE + regex.encode(), _options())


class Expressions:
    """Many expressions side by side. Which of them may match a text is known from the words that each needs.

    A few need none, and may match every text: one search tells whether any of those does, five times as fast as one for
    each. Searching for the words takes one pass over the text. The interpreter is released meanwhile.

    Args:
        regexes: RE2 over single lines, as for `compile_pattern`.
    """

    def __init__(self, regexes: Sequence[str]) -> None:
        options = _options()
        options.never_capture = True  # whether and where it matches is all that is asked
        self._filter = re2.Filter()
        for regex in regexes:
            self._filter.Add(_BY_LINE + regex.encode(), options)
        self._compiled: tuple[Any, ...] = ()
        self._joined: frozenset[int] = frozenset()
        self._any_joined: Any = None
        if regexes:
            self._filter.Compile()
            self._compiled = tuple(map(self._filter.re, range(len(regexes))))
            self._join_wordless(regexes, options)

    def _join_wordless(self, regexes: Sequence[str], options: Any) -> None:
        wordless = frozenset(self._filter.Match(b"", potential=True) or ())
        joined = {index for index in wordless if not any(sign in regexes[index] for sign in _NOT_TO_BE_JOINED)}
        try:
            joint = "|".join(f"(?:{regexes[index]})" for index in sorted(joined))
            self._any_joined = re2.compile(_BY_LINE + joint.encode(), options)
        except re2.error:  # too large
            return
        self._joined = frozenset(joined)

    def candidates(self, text: bytes) -> list[tuple[int, Any]]:
        """Return index and compiled form of every expression that may match in the text, and of a few that do not."""
        if not self._compiled:
            return []
        found = self._filter.Match(text, potential=True) or ()
        if self._joined and self._any_joined.search(text) is None:
            found = [index for index in found if index not in self._joined]
        return [(index, self._compiled[index]) for index in sorted(found)]


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    return options
