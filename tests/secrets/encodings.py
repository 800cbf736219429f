"""Values that are secret, and the encodings in which programs log what they got."""

from __future__ import annotations

import base64
import html
import json
import random
import string
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable

LETTERS = string.ascii_letters + string.digits
HARD = "!#$%&'()*+,-./:;<=>?@[]^_{|}~\"\\ é"
_RANDOM = random.Random(29)


def password(number: int) -> str:
    """Every fourth has characters that encodings change."""
    if number % 4:
        return "Cnry" + "".join(_RANDOM.choices(LETTERS, k=12 + number % 9))
    middle = "".join(_RANDOM.choices(LETTERS + HARD, k=12))
    return f"Cn{number}{middle}9z"


CANARIES = tuple(password(number) for number in range(200))


def json_text(value: str) -> str:
    return json.dumps(value)[1:-1]


ENCODINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "hex": lambda value: value.encode().hex(),
    "hex in capitals": lambda value: value.encode().hex().upper(),
    **{
        f"base64, {offset} bytes before it": lambda value, offset=offset: base64.b64encode(  # type: ignore[misc]
            b"x" * offset + value.encode() + b"yyy"
        ).decode()
        for offset in range(3)
    },
    "base64 for URLs": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "percent": lambda value: quote(value, safe=""),
    "each byte in percent": lambda value: "".join(f"%{byte:02x}" for byte in value.encode()),
    "percent twice": lambda value: quote(quote(value, safe=""), safe=""),
    "JSON": json_text,
    "JSON in JSON": lambda value: json_text(json_text(value)),
    "HTML": html.escape,
    "HTML by number": lambda value: "".join(f"&#{ord(char)};" for char in value),
    "HTML by hex number": lambda value: "".join(f"&#x{ord(char):X};" for char in value),
    "Unicode escapes": lambda value: "".join(f"\\u{ord(char):04x}" for char in value),
    "Unicode escapes in JSON": lambda value: "".join(f"\\\\u{ord(char):04X}" for char in value),
    "byte escapes": lambda value: "".join(f"\\x{byte:02x}" for byte in value.encode()),
    "Unicode escapes in percent": lambda value: quote("".join(f"\\u{ord(char):04x}" for char in value), safe=""),
    "one character in percent": lambda value: f"{value[:3]}%{ord(value[3]):02X}{value[4:]}",
    "over two lines": lambda value: f"{value[: len(value) // 2]}\n{value[len(value) // 2 :]}",
    "continued on the next line": lambda value: f"{value[:5]}\\\n    {value[5:]}",
}
"""More than the fourteen that are promised."""


def is_whole(value: str, encoded: str) -> bool:
    """Whether wrapping leaves the value whole: a blank or a backslash at the end of a line is no part of it."""
    pieces = [piece.strip(" \\") for piece in encoded.split("\n")]
    return len(pieces) == 1 or "".join(pieces) == value
