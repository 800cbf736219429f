"""Engine answers to Python values, mistrusting every byte: truncated, HTML, too deep, not UTF-8, another type."""

import json
from collections.abc import Iterator
from typing import Any

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


class ElementMemory:
    """Elements of the last array, by their own text: of hundreds of containers few change from one list to the next."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[str, dict[str, Any]]] = {}
        self._now: dict[str, tuple[str, dict[str, Any]]] = {}

    def find(self, text: str, position: int) -> tuple[dict[str, Any], int] | None:
        """Return the element that begins at a position, and where it ends, when its text is the same as before.

        An object's text ends at the brace that closes it, so the same characters are the same object.
        """
        key = text[position : position + _KEY_CHARS]
        known = self._before.get(key)
        if known is None or not text.startswith(known[0], position):
            return None
        self._now[key] = known
        return known[1], position + len(known[0])

    def keep(self, text: str, position: int, end: int, element: dict[str, Any]) -> None:
        """Remember an element and its text for the next array."""
        self._now[text[position : position + _KEY_CHARS]] = (text[position:end], element)

    def turn(self) -> None:
        """End an array: what it had is known to the next one, everything before is forgotten."""
        self._before, self._now = self._now, {}


def decode_array(body: bytes, memory: ElementMemory | None = None) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON array one by one.

    One `json.loads` of 1,000 containers holds the interpreter for tens of milliseconds, and a scrape waits that long;
    element by element other threads get their turn. Elements that are no objects are left out.

    Args:
        body: The answer's body.
        memory: Gives the same value again for an element that has not changed; nobody may change it.

    Raises:
        NotJsonError: It is no array, or ends early; what came before has been yielded.
    """
    memory = ElementMemory() if memory is None else memory
    try:
        yield from _decode_elements(body, memory)
    finally:
        memory.turn()


def _decode_elements(body: bytes, memory: ElementMemory) -> Iterator[dict[str, Any]]:
    text = body.decode(errors="replace")
    position = _skip(text, 0)
    if not text.startswith("[", position):
        msg = "JSON of another kind than expected" if text[position : position + 1] in {"{", "n"} else "no JSON"
        raise NotJsonError(msg)
    position = _skip(text, position + 1)
    if text.startswith("]", position):
        return
    while True:
        known = memory.find(text, position)
        if known is None:
            start = position
            element, position = _decode_element(text, start)
            if isinstance(element, dict):
                memory.keep(text, start, position, element)
        else:
            element, position = known
        if isinstance(element, dict):
            yield element
        position = _skip(text, position)
        if text.startswith("]", position):
            return
        if not text.startswith(",", position):
            msg = "JSON that ends early or is malformed"
            raise NotJsonError(msg)
        position = _skip(text, position + 1)


def _decode_element(text: str, position: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):
        msg = "JSON that ends early or is malformed"
        raise NotJsonError(msg) from None


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANKS:
        position += 1
    return position
