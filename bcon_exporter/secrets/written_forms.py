"""How a known secret is written in text: bare, in JSON, in a URL, in a Compose file, within base64, as hexadecimal digits."""

import base64
import json
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote, quote_plus

from bcon_exporter.secrets.cleaning import strip_controls

PIECE_CHARS = 512
"""A longer value is searched in pieces of this size."""
LEAST_HEX_BYTES = 6
"""A shorter value is not looked for as hexadecimal digits."""
_SHORTEST_DOCUMENT_LINE = 8
_SHORTEST_BASE64_BYTES = 9
_UNRESERVED = str.maketrans("", "", "-._~")
_LETTERS_AND_DIGITS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_LAST_CODE = 255
_SETS_OF_CODES_KEPT = 16


def text_forms(value: str) -> Iterable[str]:
    """Yield the spellings of a value in text: bare, in JSON, in a URL, in a Compose file."""
    forms = (
        {value}
        if value.isascii() and value.translate(_UNRESERVED).isalnum()
        else {
            value,
            strip_controls(json.dumps(value, ensure_ascii=False)[1:-1]),
            json.dumps(value)[1:-1],
            value.replace("$", "$$"),
            quote_plus(value),
            _as_bytes(value),
            *(quote(value, safe=kept) for kept in ("", "/", "$&+,;=", "!'()*")),
        }
    )
    for form in forms:
        if len(form) <= PIECE_CHARS:
            yield form
        else:
            for start in range(0, len(form) - _SHORTEST_DOCUMENT_LINE, PIECE_CHARS):
                yield form[start : start + PIECE_CHARS]


def _as_bytes(value: str) -> str:
    """Return a value as escapes of its bytes are read one by one."""
    return "".join(character if (character := chr(byte)).isprintable() else " " for byte in value.encode())


def base64_cores(value: str) -> Iterable[str]:
    """Yield the part of the base64 text that depends on the value alone, for each of its three alignments."""
    raw = value.encode()
    if not _SHORTEST_BASE64_BYTES <= len(raw) <= PIECE_CHARS:
        return
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw).decode()
        core = encoded[(8 * offset + 5) // 6 : 8 * (offset + len(raw)) // 6]
        yield core
        if "+" in core or "/" in core:
            yield core.replace("+", "-").replace("/", "_")


def hex_form(value: str) -> str:
    """Return a value as hexadecimal digits; empty where it is too short for that."""
    raw = value.encode()
    return raw.hex() if len(raw) >= LEAST_HEX_BYTES else ""


def escaped_codes(values: Iterable[str]) -> frozenset[int]:
    """Return which characters' escapes are read where these values are looked for."""
    return _codes_of("".join(sorted({*"".join(values)})))


@lru_cache(maxsize=_SETS_OF_CODES_KEPT)
def _codes_of(characters: str) -> frozenset[int]:
    """Return which characters' escapes are read; the same object for most sets of values."""
    codes = {code for code in (*characters.encode(), *map(ord, characters)) if code <= _LAST_CODE}
    return _LETTERS_AND_DIGITS | codes if codes - _LETTERS_AND_DIGITS else _LETTERS_AND_DIGITS
