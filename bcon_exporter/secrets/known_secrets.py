"""Known secrets: values that an environment holds under a secret's name are hidden wherever they stand.

A bare password has no shape and no name beside it, so only its value tells. `find_secrets` takes the values out of an
environment, `KnownSecrets` hides them in text. They live in memory only: nothing here is a field of a model.
"""

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

import re2

from bcon_exporter.secrets.cleaning import strip_controls
from bcon_exporter.secrets.escapes import mask_spans, read_escapes, written_spans
from bcon_exporter.secrets.secret_names import key_strength
from bcon_exporter.secrets.shapes import MASK, looks_random
from bcon_exporter.secrets.suspect_lines import INDENT, WRAPPING, find_suspect_lines
from bcon_exporter.secrets.written_forms import (
    LEAST_HEX_BYTES,
    PIECE_CHARS,
    base64_cores,
    escaped_codes,
    hex_form,
    text_forms,
)

MOST_VALUES = 1024
"""Values of one environment, or of a project's files over time; where there are more, no text is shown at all."""
_MOST_CHARS = 256 * 1024
_SHORTEST = 4
_WHOLE_WORD_BELOW = 8
"""A shorter value is hidden as a whole word only, or it would cut holes into digests and ids."""
_SHORTEST_DOCUMENT_LINE = 8
_HEX_RUNS = re2.compile(rf"[0-9A-Fa-f]{{{2 * LEAST_HEX_BYTES},}}")
_GRAM = 4
"""Characters at the end or the beginning of a line that may be a piece of a value."""
_MOST_CHECKED = 32 * 1024
"""Values that are compared with the ends of a text's lines."""
_LITTLE_TO_SEARCH = 2**22
"""Characters times literals. Below that each literal is looked for by itself: to make an expression takes longer, and
on a host of very many containers, each with values of its own, it would be made at every scan."""
_MANY_LITERALS = 128
"""So many are looked for in the long words and hexadecimal digits of a text, which costs more to find than few literals."""
_LONG_WORD = 20
_LONG_WORDS = re2.compile(rf"\S{{{_LONG_WORD},}}")
"""Most values are as long, above all in base64, and few words of a log are: they are looked for in these only."""
_LONG_TEXT = 2000
_OF_WORDS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=")

_WORD = r"(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)"
_LONGEST_PLAIN = 24
_PLAIN = re2.compile(
    "|".join(
        (
            r"[0-9]{1,8}",  # ports, counts, dates
            rf"{_WORD}",
            rf"{_WORD}(?:[-_. ]{_WORD})+",  # my-app, db.example.com
            r"[a-z]{2}-[a-z]+-[0-9]",  # eu-west-1
            r"v?[0-9]{1,4}(?:\.[0-9]{1,5}){1,3}(?::[0-9]{1,5})?",  # versions, addresses
            r"[0-9]{1,6}[a-zA-Z]{1,2}",  # 30s, 64m
            r"(?i:aes|rsa|sha|hmac|hs|rs|es|ps|ed|md|utf|base|iso)[-_]?[0-9]{1,5}(?:[-_][a-z]{2,4})?",
            rf"\.{{0,2}}/(?:{_WORD}[-_./]?)*",  # /run/secrets/db_password
            rf"(?:https?|tcp|unix)://{_WORD}(?:[-.]{_WORD})*(?::[0-9]{{1,5}})?/?",
            r"\$?\{.*\}|<[a-z_ -]*>",  # a place for a value
        )
    )
)
_SHORT_PLAIN = re2.compile(rf"{_WORD}[0-9]{{1,4}}")  # python3, admin123
_LONGEST_SHORT_PLAIN = 8
_LONGEST_WORD = 14


def is_plain_word(value: str) -> bool:
    """Return whether a value is too common to hide: hiding each "postgres" or "5432" would make logs unreadable."""
    if len(value) < _SHORTEST or len(set(value)) == 1:
        return True
    if len(value) > _LONGEST_PLAIN or not value.isascii():
        return False
    if value.isalpha() and len(value) > _LONGEST_WORD:
        return False
    if _PLAIN.fullmatch(value):
        return True
    return len(value) <= _LONGEST_SHORT_PLAIN and _SHORT_PLAIN.fullmatch(value) is not None


def find_secrets(pairs: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the values that stand under a secret's name, and the passwords within URLs under any name.

    Each line of a longer value stands for itself. Plain words are left out, however secret, and so is the folder that
    every shell exports as PWD: hidden, it would be so in each path of a project.

    Args:
        pairs: Names and raw values of an environment, of labels, of options.
    """
    values: set[str] = set()
    for key, value in pairs:
        strength = key_strength(key)
        if strength != "no" and not (key == "PWD" and value.startswith("/")):
            values.update(_lines_of(strip_controls(value), weak=strength == "weak"))
        if "@" in value:
            for password in _url_passwords(value):
                values.update(_lines_of(strip_controls(password), weak=False))
    return frozenset(values)


def environment_pairs(entries: Iterable[Any]) -> Iterable[tuple[str, str]]:
    """Yield names and values of entries "KEY=value"."""
    for entry in entries:
        key, equals, value = str(entry).partition("=")
        if equals:
            yield key, value


def _lines_of(value: str, *, weak: bool) -> Iterable[str]:
    lines = [line.strip() for line in value.split("\n")]
    least = _SHORTEST_DOCUMENT_LINE if sum(map(bool, lines)) > 1 else _SHORTEST
    for line in lines:
        if len(line) >= least and not is_plain_word(line) and MASK not in line and (not weak or looks_random(line)):
            yield line


def _url_passwords(value: str) -> Iterable[str]:
    """Yield the passwords of URLs, or of "user:password@host", as they are before they are escaped."""
    for rest in value.split("://")[1:] or [value]:
        at = rest.find("@")
        end = min((position for position in (rest.find(char, at) for char in "/?#, ") if position > 0), default=None)
        userinfo = rest[:end].rpartition("@")[0]
        _, colon, password = userinfo.partition(":")
        if at > 0 and colon:
            yield unquote(password)


class KnownSecrets:
    """Values that must not be shown, and how they are found in text: in time linear in the text, in little memory.

    Each is searched as it is, escaped for JSON, for URLs and for Compose, within base64 and as hexadecimal digits, then in
    the text as its escapes are read, and over the ends of lines.
    """

    __slots__ = ("_base64", "_codes", "_joined", "_literals", "_long_words", "_too_many", "_values")

    def __init__(self, values: frozenset[str] = frozenset()) -> None:
        self._values = values
        self._too_many: bool | None = None
        self._base64: frozenset[str] = frozenset()
        self._literals: tuple[str, ...] | None = None
        self._long_words: frozenset[str] = frozenset()
        self._codes: frozenset[int] = frozenset()
        self._joined = ""

    def __repr__(self) -> str:
        return f"KnownSecrets({len(self._values)} values)"

    def __reduce__(self) -> Any:
        msg = "secrets stay in memory"
        raise TypeError(msg)

    @property
    def values(self) -> frozenset[str]:
        """The values themselves; never show them."""
        return self._values

    @property
    def too_many(self) -> bool:
        """Whether there are more than can be searched; then nothing is shown."""
        if self._too_many is None:
            self._too_many = len(self._values) > MOST_VALUES or sum(map(len, self._values)) > _MOST_CHARS
        return self._too_many

    def hide(self, text: str) -> str:
        """Return the text with `***` in the place of each value; the text must be clean."""
        if not self._values or not text:
            return text
        if self.too_many:
            return MASK
        if self._is_little(len(text)):
            return self._hide(text)
        lines = text.split("\n")
        shown = self._hide_suspects(lines)
        return text if shown is lines else "\n".join(shown)

    def _hide_suspects(self, lines: list[str]) -> list[str]:
        """Hide the values in those of many lines that may hold some.

        From the end, since a value that reaches over lines makes one of them.
        """
        shown = lines
        for first, last in reversed(find_suspect_lines(lines, self._values)):
            text = "\n".join(lines[first : last + 1])
            if (hidden := self._hide(text)) is not text:
                shown = [*lines] if shown is lines else shown
                shown[first : last + 1] = hidden.split("\n")
        return shown

    def _is_little(self, chars: int) -> bool:
        """Return whether each literal is looked for by itself in so many characters."""
        if self._literals is None:
            self._literals = self._find_literals()
        return chars * len(self._literals) < _LITTLE_TO_SEARCH

    def _hide(self, text: str) -> str:
        text = self._hide_literals(text)
        text = self._hide_hex(text)
        text = self._hide_escaped(text)
        return self._hide_split(text) if "\n" in text else text

    def _hide_literals(self, text: str) -> str:
        """Hide the values as they are, and in forms that are literal texts."""
        are_many = len(text) > _LONG_TEXT and len(self._long_words) > _MANY_LITERALS
        words = " ".join(_LONG_WORDS.findall(text)) if are_many else text
        for literal in self._literals or ():
            if literal in (words if literal in self._long_words else text):
                text = self._mask(_find_all(literal, text), text)
        return text

    def _hide_hex(self, text: str) -> str:
        """Hide values that are written as hexadecimal digits of either case."""
        digits = (" ".join(_HEX_RUNS.findall(text)) if len(self._values) > _MANY_LITERALS else text).lower()
        found = [literal for literal in map(hex_form, self._values) if literal and literal in digits]
        if not found:
            return text
        spans = []
        for match in _HEX_RUNS.finditer(text):
            run, start = match.group().lower(), match.start()
            spans += [(start + first, start + last) for literal in found for first, last in _find_all(literal, run)]
        return mask_spans(text, spans)

    def _hide_escaped(self, text: str) -> str:
        """Hide values that are written with escapes, in part or in whole, also within one another."""
        levels = read_escapes(text, self._codes)
        spans: list[tuple[int, int]] = []
        for count, level in enumerate(levels, start=1):
            if (found := self._find_in(level.text)) is not None:
                spans += written_spans(levels[:count], found)
        return mask_spans(text, spans)

    def _find_in(self, text: str) -> list[tuple[int, int]] | None:
        """Return where values stand in a text as it is read; None where none does."""
        if self._hide_literals(text) is text:
            return None
        return [span for literal in self._literals or () for span in _find_all(literal, text)]

    def _hide_split(self, text: str) -> str:
        """Hide values that begin at the end of a line and go on in the next ones; behind very many, both lines."""
        lines = text.split("\n")
        shown: dict[int, str] = {}
        checks_left = _MOST_CHECKED
        for at in range(len(lines) - 1):
            here, after = lines[at].rstrip(WRAPPING), lines[at + 1].lstrip(INDENT)
            if not here or not after or (here[-_GRAM:] not in self._joined and after[:_GRAM] not in self._joined):
                continue
            checks_left -= len(self._values)
            if checks_left < 0:
                shown |= {at: MASK, at + 1: MASK}
                continue
            for pieces in self._find_split(lines, at, here, after):
                for number, piece in pieces:
                    shown[number] = _hide_piece(shown.get(number, lines[number]), piece, is_first=number == at)
        return "\n".join(shown.get(at, line) for at, line in enumerate(lines)) if shown else text

    def _find_split(self, lines: list[str], at: int, here: str, after: str) -> Iterator[list[tuple[int, str]]]:
        """Yield the pieces of each value that goes on behind the end of a line, with their lines' numbers."""
        for value, length in self._find_splits(here[-_GRAM:], after[:_GRAM]):
            if not here.endswith(value[:length]):
                continue
            pieces, rest, number = [(at, value[:length])], value[length:], at + 1
            while number < len(lines) and (body := lines[number].lstrip(INDENT).rstrip(WRAPPING)):
                if body.startswith(rest):
                    yield [*pieces, (number, rest)]
                    break
                if len(body) < _GRAM or not rest.startswith(body):
                    break
                pieces.append((number, body))
                rest, number = rest[len(body) :], number + 1

    def _find_splits(self, before: str, after: str) -> Iterator[tuple[str, int]]:
        """Yield values, and how much of each may end a line that ends with `before`, where `after` begins the next."""
        for value in self._values:
            if _WHOLE_WORD_BELOW <= len(value) <= PIECE_CHARS:
                lengths = {first + len(before) for first, _ in _find_all_in(before, value)}
                lengths |= {first for first, _ in _find_all_in(after, value)}
                yield from ((value, length) for length in lengths if 0 < length < len(value))

    def stand_in(self, texts: Iterable[str]) -> bool:
        """Return whether one of the values may stand in one of these raw texts: one search for all."""
        if not self._values:
            return False
        text = "\n".join(texts)
        return len(text) > _MOST_CHARS or self.hide(clean := strip_controls(text)) != clean

    def hide_lines(self, lines: list[str]) -> list[str]:
        """Return lines with `***` in the place of each value: one search for all."""
        if not self._values or not lines:
            return lines
        text = "\n".join(lines)
        hidden = self.hide(text)
        if hidden is text:
            return lines
        shown = hidden.split("\n")
        return shown if len(shown) == len(lines) else [self.hide(line) for line in lines]

    def hide_tag(self, reference: str) -> str:
        """Return an image reference with values hidden in its tag only: an image's name is an identity."""
        name, colon, tag = reference.rpartition(":")
        if not colon or "/" in tag or "@" in name:
            return reference
        return f"{name}:{self.hide(tag)}"

    def _mask(self, spans: Iterable[tuple[int, int]], text: str) -> str:
        done: list[str] = []
        position = 0
        for first, last in spans:
            start, end = first, last
            if end <= position:
                continue
            if text[start:end] in self._base64:
                while start > position and text[start - 1] in _BASE64:
                    start -= 1
                while end < len(text) and text[end] in _BASE64:
                    end += 1
            done += [text[position : max(start, position)], MASK]
            position = end
        return "".join(done) + text[position:] if done else text

    def _find_literals(self) -> tuple[str, ...]:
        """Return what is looked for, the longest first."""
        self._base64 = frozenset(core for value in self._values for core in base64_cores(value))
        literals = self._base64.union(form for value in self._values for form in text_forms(value))
        self._codes = escaped_codes(self._values)
        self._joined = "\n".join(value for value in self._values if _WHOLE_WORD_BELOW <= len(value) <= PIECE_CHARS)
        self._long_words = frozenset(filter(_is_long_word, literals))
        return tuple(sorted(literals, key=lambda literal: (-len(literal), literal)))


def _is_long_word(literal: str) -> bool:
    return len(literal) >= _LONG_WORD and _LONG_WORDS.fullmatch(literal) is not None


def _find_all_in(piece: str, value: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each place of a piece in a value."""
    start = value.find(piece) if piece else -1
    while start >= 0:
        yield start, start + len(piece)
        start = value.find(piece, start + 1)


def _hide_piece(line: str, piece: str, *, is_first: bool) -> str:
    """Return a line without the piece of a value that it ends with, or begins with where it is not the first."""
    if is_first:
        body = line.rstrip(WRAPPING)
        return body.removesuffix(piece) + MASK + line[len(body) :] if body.endswith(piece) else line
    body = line.lstrip(INDENT)
    return line[: len(line) - len(body)] + MASK + body.removeprefix(piece) if body.startswith(piece) else line


def _ends_of_words(text: str) -> tuple[bool, bool]:
    """Return whether a value must begin and end where a word does."""
    if len(text) >= _WHOLE_WORD_BELOW and not text.isdigit():
        return False, False
    return text[0] in _OF_WORDS - {"_"}, text[-1] in _OF_WORDS - {"_"}


def _find_all(literal: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each occurrence of a value, a short one as a whole word only."""
    before, after = _ends_of_words(literal)
    start = text.find(literal)
    while start >= 0:
        end = start + len(literal)
        within = (before and text[start - 1 : start] in _OF_WORDS) or (after and text[end : end + 1] in _OF_WORDS)
        if not within:
            yield start, end
        start = text.find(literal, start + 1 if within else end)


NO_SECRETS = KnownSecrets()
