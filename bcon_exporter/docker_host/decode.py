"""Engine answers to Python values, mistrusting every byte: truncated, HTML, too deep, not UTF-8, another type."""

import json
from collections.abc import Iterator
from typing import Any

_DECODER = json.JSONDecoder()
_BLANKS = " \t\r\n"


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


def decode_array(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON array one by one.

    One `json.loads` of 1,000 containers holds the interpreter for tens of milliseconds, and a scrape waits that long;
    element by element other threads get their turn. Elements that are no objects are left out.

    Raises:
        NotJsonError: It is no array, or ends early; what came before has been yielded.
    """
    text = body.decode(errors="replace")
    position = _skip(text, 0)
    if not text.startswith("[", position):
        msg = "JSON of another kind than expected" if text[position : position + 1] in {"{", "n"} else "no JSON"
        raise NotJsonError(msg)
    position = _skip(text, position + 1)
    if text.startswith("]", position):
        return
    while True:
        try:
            element, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            msg = "JSON that ends early or is malformed"
            raise NotJsonError(msg) from None
        if isinstance(element, dict):
            yield element
        position = _skip(text, position)
        if text.startswith("]", position):
            return
        if not text.startswith(",", position):
            msg = "JSON that ends early or is malformed"
            raise NotJsonError(msg)
        position = _skip(text, position + 1)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANKS:
        position += 1
    return position
