"""The secrets that a container is known to hold: a program that prints one bare gives no other sign of what it is."""

from collections.abc import Iterable, Sequence
from typing import Any

from bcon_exporter.model.cleaning import strip_controls
from bcon_exporter.model.secret_keys import key_strength
from bcon_exporter.model.secret_shapes import MASK, looks_random

_MOST_VALUES = 64
_LONGEST_VALUE = 4096
"""A longer one is a document; keys in it are known by their shape."""


def find_env_secrets(environment: Iterable[Any]) -> tuple[str, ...]:
    """Return the values that stand under a secret's name, longest first, each line of such a value on its own.

    Plain words are left out, however secret: to hide each "postgres" or "admin" in a log would hide what is wrong.

    Args:
        environment: Entries "KEY=value".
    """
    found: set[str] = set()
    for entry in environment:
        key, _, value = str(entry).partition("=")
        if len(value) <= _LONGEST_VALUE and key_strength(key) != "no":
            found.update(line for line in strip_controls(value).split("\n") if looks_random(line.strip()))
    return tuple(sorted(map(str.strip, found), key=len, reverse=True)[:_MOST_VALUES])


def hide_values(text: str, values: Sequence[str]) -> str:
    """Return the text with `***` in the place of each value."""
    for value in values:
        if value in text:
            text = text.replace(value, MASK)
    return text
