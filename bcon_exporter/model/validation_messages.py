"""What is wrong with a value that a model refused, in words for people; the value itself is never told."""

from collections.abc import Mapping
from typing import Any

from bcon_exporter.model.day_words import DAY_WORDS
from bcon_exporter.model.text_patterns import (
    CONTAINER_PATTERN,
    HOST_PATTERN,
    LINE_PATTERN,
    NAME_PATTERN,
    NOTE_ID_PATTERN,
    PLAIN_PATTERN,
    PROJECT_PATTERN,
    TARGET_PATTERN,
    TEXT_PATTERN,
    UNIT_PATTERN,
    WHOLE_DURATION_PATTERN,
)

EXAMPLE_TIME = "2026-01-31T12:00:00Z"

KINDS = {
    "int": "must be a whole number",
    "float": "must be a number",
    "bool": "must be true or false",
    "string": "must be text",
    "tuple": "must be a list",
    "list": "must be a list",
    "dict": "must be a mapping",
    "datetime": f"must be a time with its zone, for example {EXAMPLE_TIME}, or how long ago: 10m, 2h, 1d",
}
"""What a value of each of pydantic's kinds must be."""
NO_MOMENT = f"{KINDS['datetime']}; words that are known: {', '.join(DAY_WORDS)}"

_CASES = {
    "extra_forbidden": "is unknown here",
    "missing": "is missing",
    "model_type": KINDS["dict"],
    "model_attributes_type": KINDS["dict"],
}
_PARSING = frozenset(("type", "parsing", "from_float", "from_date_parsing", "parsing_size", "object_invalid"))


_SENTENCES = {
    CONTAINER_PATTERN: "must be a name, an id or the beginning of an id: letters, digits, _ . and - only, "
    "255 of them at most, and no pattern such as web-*",
    PROJECT_PATTERN: "must be the name of a project: lower-case letters, digits, _ and -, and no more than 128 of them",
    WHOLE_DURATION_PATTERN: "must be how long, a number with its unit (s, m, h, d, w): 30m, 1h30m, 2d",
    TEXT_PATTERN: "must be on one line, without control characters",
    NAME_PATTERN: "must be on one line, without control characters",
    LINE_PATTERN: "must be on one line",
    NOTE_ID_PATTERN: "must be the id of a note, as `notes list` shows it: n12",
    HOST_PATTERN: "must be the name of a host: letters, digits, _ and - only",
    TARGET_PATTERN: "must be a host and an absolute path: localhost:/srv/shop/compose.yaml",
    PLAIN_PATTERN: "must be 1 to 200 characters on a line, without signs of a shell: ; & | ` $ ( ) < > { } [ ] \\ \" '",
    UNIT_PATTERN: "must be the name of a container, with or without .service",
}
"""What text must be that a pattern refuses: people read no regular expressions."""


def _pattern_of(problem: Mapping[str, Any]) -> str:
    """Return the pattern of a refusal; it is quoted in the message, which is there without a context too."""
    return str(problem["msg"]).partition("'")[2].removesuffix("'")


def tell_refusal(problem: Mapping[str, Any]) -> str:
    """Return what one of pydantic's errors says, in its own words only where those are clear."""
    kind, _, what = str(problem["type"]).partition("_")
    if what in _PARSING and kind in KINDS:
        return KINDS[kind]
    if problem["type"] == "string_pattern_mismatch":
        return _SENTENCES.get(_pattern_of(problem), "holds characters that may not stand here")
    if problem["type"] in _CASES:
        return _CASES[problem["type"]]
    message = str(problem["msg"]).removeprefix("Value error, ")
    return message.replace("Input should be", "must be", 1).replace("String should", "must", 1)
