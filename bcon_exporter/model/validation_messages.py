"""What is wrong with a value that a model refused, in words for people; the value itself is never told."""

from collections.abc import Mapping
from typing import Any

from bcon_exporter.model.day_words import DAY_WORDS

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


def tell_refusal(problem: Mapping[str, Any]) -> str:
    """Return what one of pydantic's errors says, in its own words only where those are clear."""
    kind, _, what = str(problem["type"]).partition("_")
    if what in _PARSING and kind in KINDS:
        return KINDS[kind]
    if problem["type"] in _CASES:
        return _CASES[problem["type"]]
    message = str(problem["msg"]).removeprefix("Value error, ")
    return message.replace("Input should be", "must be", 1).replace("String should", "must", 1)
