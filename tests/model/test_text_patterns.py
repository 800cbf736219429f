"""Promise: people who write something wrong read what to write, and no regular expression."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import StringConstraints, TypeAdapter, ValidationError

from bcon_exporter.model.quiet import EndQuietInput, QuietInput
from bcon_exporter.model.validation_messages import tell_refusal
from bcon_exporter.tools import TOOLS

if TYPE_CHECKING:
    from bcon_exporter.model.base import Frozen


def find_patterns(schema: Any) -> Iterator[str]:
    """Yield every pattern of a schema."""
    if isinstance(schema, dict):
        yield from (value for key, value in schema.items() if key == "pattern" and isinstance(value, str))
        yield from (pattern for value in schema.values() for pattern in find_patterns(value))
    elif isinstance(schema, list):
        yield from (pattern for value in schema for pattern in find_patterns(value))


def tell(pattern: str) -> str:
    """Return what is said of text that a pattern refuses."""
    try:
        TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)]).validate_python("\x00\n")
    except ValidationError as error:
        return tell_refusal(dict(error.errors(include_context=False)[0]))
    return ""


def test_each_pattern_of_an_input_is_told_as_a_sentence() -> None:
    models: list[type[Frozen]] = [*(tool.input_model for tool in TOOLS), QuietInput, EndQuietInput]
    patterns = {pattern for model in models for pattern in find_patterns(model.model_json_schema())}
    said = {pattern: tell(pattern) for pattern in patterns}
    assert len(said) > 5
    assert {pattern: text for pattern, text in said.items() if not text.startswith("must be ")} == {}
    shown = [text.partition("without signs of a shell")[0] for text in said.values()]  # those are named by themselves
    assert not any(sign in text for text in shown for sign in "^$[{"), said


def test_a_pattern_that_has_no_sentence_is_not_shown() -> None:
    assert tell("^[a-c]+$") == "holds characters that may not stand here"
