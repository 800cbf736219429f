"""Engine answers to Python values, mistrusting every byte: truncated, HTML, too deep, not UTF-8, another type."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bcon_exporter.docker_host.raw import get_text

_DECODER = json.JSONDecoder()
_BLANKS = " \t\r\n"
_KEY_CHARS = len('{"Id":"') + 64
"""So many characters of a container's list entry hold its id, since the engine writes that first."""


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
        known = self._before.get(key)
        if known is None or not text.startswith(known.text, position):
            return None
        self._now[key] = known
        return known

    def keep(self, text: str, position: int, element: Element) -> None:
        """Remember an element, and where it begins, for the next array."""
        self._now[text[position : position + _KEY_CHARS]] = element

    def turn(self) -> None:
        """End an array: what it had is known to the next one, everything before is forgotten."""
        self._before, self._now = self._now, {}


def decode_array(text: str, memory: ElementMemory | None = None) -> Iterator[Element]:
    """Yield the objects of a JSON array one by one.

    One `json.loads` of 1,000 containers holds the interpreter for tens of milliseconds, and a scrape waits that long;
    element by element other threads get their turn. Elements that are no objects are left out.

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
