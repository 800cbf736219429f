r"""Reads text through its escapes: %22, &quot;, \u0022, \x22, also within one another, with the places of what is read.

A secret or its name may be written so in part or in whole. What is found in the text that is read is masked where it is
written. Each character is looked at a bounded number of times.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from bcon_exporter.secrets.issuer_tokens import MASK

_NAMED = {"quot": '"', "apos": "'", "lt": "<", "gt": ">", "amp": "&"}
_ALL = frozenset(range(256))
_OF_ESCAPES = frozenset(b"\\%&")
"""What escapes are made of: one may be written as another, `%5Cu0022`."""
_MOST_LEVELS = 3
_PATTERNS_KEPT = 64

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text as its escapes are read.

    Attributes:
        text: What is read.
        at, starts, ends: Of each escape the place of its character in that, and where it begins and ends as it is written.
    """

    text: str
    at: list[int]
    starts: list[int]
    ends: list[int]

    def written(self, span: Span) -> Span:
        """Return where something is written that is read at a place; it is not empty."""
        return self._find(span[0])[0], self._find(span[1] - 1)[1]

    def _find(self, place: int) -> Span:
        index = bisect_right(self.at, place) - 1
        if index < 0:
            return place, place + 1
        if self.at[index] == place:
            return self.starts[index], self.ends[index]
        start = self.ends[index] + place - self.at[index] - 1
        return start, start + 1


def escape_expression(codes: frozenset[int]) -> str:
    """Return what finds the escapes of these characters. More backslashes, "25" and "amp;" are those of nested ones."""
    written = sorted(codes | _OF_ESCAPES)
    digits = "|".join(f"{code:02x}" for code in written)
    numbers = "|".join(map(str, written))
    names = "".join(f"|{name}" for name, character in _NAMED.items() if ord(character) in written)
    quotes = "".join(re2.escape(character) for character in "\"'\\/" if ord(character) in codes)
    return (
        rf"(?i)%(?:25)*(?:{digits})|\\+(?:u00|x)(?:{digits})"
        rf"|&(?:amp;)*(?:#(?:x0{{0,4}}(?:{digits})|0{{0,4}}(?:{numbers})){names});"
        + (rf"|\\+[{quotes}]" if quotes else "")
    )


@lru_cache(maxsize=_PATTERNS_KEPT)
def _pattern(codes: frozenset[int]) -> Any:
    options = re2.Options()
    options.never_capture = True
    options.log_errors = False
    return re2.compile(escape_expression(codes), options)


def read_escapes(text: str, codes: frozenset[int] = _ALL) -> list[ReadText]:
    """Return a text as it is read level by level, the first one first; nothing where it has no escape.

    Args:
        text: Clean.
        codes: Of the characters, below 256, whose escapes are read; all others stay as they are.
    """
    levels: list[ReadText] = []
    pattern = _pattern(codes)
    while len(levels) < _MOST_LEVELS and ("%" in text or "&" in text or "\\" in text):
        read = _read_once(text, pattern)
        if read is None:
            break
        levels.append(read)
        text = read.text
    return levels


def _read_once(text: str, pattern: Any) -> ReadText | None:
    pieces: list[str] = []
    at: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    position = place = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        pieces += [text[position:start], _character(match.group())]
        place += start - position
        at.append(place)
        starts.append(start)
        ends.append(end)
        place += 1
        position = end
    return ReadText("".join(pieces) + text[position:], at, starts, ends) if at else None


def _character(escape: str) -> str:
    """Return what an escape stands for; a blank for what may not stand in clean text."""
    if escape.startswith("&"):
        name = escape.rstrip(";").rpartition(";")[2].lstrip("&")
        if name in _NAMED:
            return _NAMED[name]
        digits = name.lstrip("#")
        code = int(digits[1:], 16) if digits[:1] in "xX" else int(digits)
    elif escape[-1] in "\"'\\/" and escape[0] == "\\":
        return escape[-1]
    else:
        code = int(escape[-2:], 16)
    character = chr(code)
    return character if character.isprintable() else " "


def written_spans(levels: Iterable[ReadText], spans: Iterable[Span]) -> Iterator[Span]:
    """Yield where things are written that are read at these places in the last level."""
    inner = list(levels)[::-1]
    for found in spans:
        span = found
        for level in inner:
            span = level.written(span)
        yield span


def mask_spans(text: str, spans: Iterable[Span]) -> str:
    """Return a text with `***` in the place of each span; the number of lines stays."""
    done: list[str] = []
    position = 0
    for start, end in sorted(spans):
        if end <= position:
            continue
        inner = text[max(start, position) : end]
        done += [text[position : max(start, position)], "\n".join(MASK for _ in inner.split("\n"))]
        position = end
    return "".join(done) + text[position:] if done else text
