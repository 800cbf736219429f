"""Bytes of an engine → JSON → typed values, mistrusting all of it: truncated, HTML, too deep, not UTF-8, other types.

What is no JSON raises NotJsonError; a value of a wrong type reads as absent.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bcon_exporter.secrets.cleaning import clean_name

_EMPTY: dict[str, Any] = {}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER_YEAR = "0001"
_MAX_INT = 2**63
_DECODER = json.JSONDecoder()
_BLANKS = " \t\r\n"
_KEY_CHARS = len('{"Id":"') + 64
"""So many characters of a container's list entry hold its id, since the engine writes that first."""


def get_object(raw: Any, key: str) -> dict[str, Any]:
    """Return a nested object, or an empty one."""
    value = raw.get(key) if type(raw) is dict else None
    return value if type(value) is dict else _EMPTY


def get_list(raw: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list, or an empty one (the engine writes null for empty)."""
    value = raw.get(key)
    return value if type(value) is list else []


def get_text(raw: Mapping[str, Any], key: str) -> str | None:
    """Return a string, None for anything else."""
    value = raw.get(key)
    return value if type(value) is str else None


def get_name(raw: Mapping[str, Any], key: str) -> str | None:
    """Return a string, cleaned; None for anything else, and for an empty one."""
    value = raw.get(key)
    return clean_name(value) if type(value) is str and value else None


def get_int(raw: Mapping[str, Any], key: str) -> int | None:
    """Return an integer, None for anything else and for what no counter can be."""
    value = raw.get(key)
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and -_MAX_INT <= value <= 2 * _MAX_INT else None


def get_bool(raw: Mapping[str, Any], key: str) -> bool | None:
    """Return a truth value, None for anything else."""
    value = raw.get(key)
    return value if type(value) is bool else None


def parse_time(text: Any) -> datetime | None:
    """Parse an RFC 3339 time to the microsecond; the engine's zero time ("0001-01-01...") and nonsense are None."""
    if type(text) is not str or text.startswith(_NEVER_YEAR):
        return None
    try:
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def from_epoch(seconds: int | None, nanoseconds: int | None = None) -> datetime | None:
    """Return a time from epoch seconds, or from epoch nanoseconds where given; None when out of range."""
    micros = nanoseconds // 1000 if nanoseconds else (seconds or 0) * 1_000_000
    if micros <= 0:
        return None
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return None


def format_nanoseconds(nanoseconds: int) -> str:
    """Write a time since the epoch as the engine reads it in `since` and `until`: seconds, and nine digits."""
    seconds, nanoseconds_left = divmod(max(0, nanoseconds), 1_000_000_000)
    return f"{seconds}.{nanoseconds_left:09d}"


class NotJsonError(ValueError):
    """An answer is no JSON, or JSON of another kind than the endpoint gives."""


def decode_json(body: bytes) -> Any:
    """Decode one JSON document.

    Raises:
        NotJsonError: It is none, or nested too deep.
    """
    try:
        return json.loads(body.decode(errors="replace"))
    except (ValueError, RecursionError):
        msg = "text that is no JSON"
        raise NotJsonError(msg) from None


def decode_object(body: bytes) -> dict[str, Any]:
    """Decode a JSON object.

    Raises:
        NotJsonError: It is none.
    """
    content = decode_json(body)
    if not isinstance(content, dict):
        msg = "JSON of another kind than expected"
        raise NotJsonError(msg)
    return content


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """One object of an array as text: of hundreds of containers the values would weigh seven times as much.

    Attributes:
        id: What stands under "Id"; None when that is no text.
    """

    text: str
    id: str | None

    def read(self) -> dict[str, Any]:
        """Return its value, decoded anew; nothing of one that is nested too deep to be decoded from here."""
        try:
            value: dict[str, Any] = _DECODER.decode(self.text)
        except RecursionError:
            return {}
        return value


class ElementMemory:
    """Elements of the last array, by their own text: of hundreds of containers few change from one list to the next."""

    def __init__(self) -> None:
        self._before: dict[str, Element] = {}
        self._now: dict[str, Element] = {}

    def find(self, text: str, position: int) -> Element | None:
        """Return the element that begins at a position when its text is the same as before.

        An object's text ends at the brace that closes it, so the same characters are the same object.
        """
        key = text[position : position + _KEY_CHARS]
        previous = self._before.get(key)
        if previous is None or not text.startswith(previous.text, position):
            return None
        self._now[key] = previous
        return previous

    def keep(self, text: str, position: int, element: Element) -> None:
        """Remember an element, and where it begins, for the next array."""
        self._now[text[position : position + _KEY_CHARS]] = element

    def turn(self) -> None:
        """End an array: what it had is known to the next one, everything before is forgotten."""
        self._before, self._now = self._now, {}


def decode_array(text: str, memory: ElementMemory | None = None) -> Iterator[Element]:
    """Yield the objects of a JSON array one by one.

    Elements that are no objects are left out.

    Args:
        text: The answer's body.
        memory: Gives the same element again when its text has not changed.

    Raises:
        NotJsonError: It is no array, or ends early; what came before has been yielded.
    """
    memory = ElementMemory() if memory is None else memory
    try:
        yield from _decode_elements(text, memory)
    finally:
        memory.turn()


def _decode_elements(text: str, memory: ElementMemory) -> Iterator[Element]:
    position = _skip(text, 0)
    if not text.startswith("[", position):
        msg = "JSON of another kind than expected" if text[position : position + 1] in {"{", "n"} else "no JSON"
        raise NotJsonError(msg)
    position = _skip(text, position + 1)
    if text.startswith("]", position):
        return
    while True:
        element = memory.find(text, position)
        if element is None:
            start = position
            value, position = _decode_value(text, start)
            if isinstance(value, dict):
                element = Element(text[start:position], get_text(value, "Id"))
                memory.keep(text, start, element)
        else:
            position += len(element.text)
        if element is not None:
            yield element
        position = _skip(text, position)
        if text.startswith("]", position):
            return
        if not text.startswith(",", position):
            msg = "JSON that ends early or is malformed"
            raise NotJsonError(msg)
        position = _skip(text, position + 1)


def _decode_value(text: str, position: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):
        msg = "JSON that ends early or is malformed"
        raise NotJsonError(msg) from None


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANKS:
        position += 1
    return position
