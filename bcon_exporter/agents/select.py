"""Answers with a part of a report alone: with what a JMESPath expression chooses of it."""

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bcon_exporter.errors import InvalidInputError
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.tools.envelope import Envelope, failure

if TYPE_CHECKING:
    from jmespath.exceptions import ParseError
    from jmespath.parser import ParsedResult

MAX_CHARACTERS = 512
_TOO_LONG = f"must have {MAX_CHARACTERS} characters at most"
_TOO_DEEP = "is nested too deeply"
_END = "EOF"
_NO_VALUE = "gives an expression instead of a value"
_DO_NOT_FIT = (ArithmeticError, LookupError, TypeError, ValueError)
"""What the library lets through of Python where values do not fit: `ceil` of infinity, a slice in steps of 0."""


def check_expression(expression: str) -> None:
    """Check the form of an expression, before a report is made for it.

    Raises:
        InvalidInputError: It is none; `details["position"]` counts its characters from 1.
    """
    _parse(expression)


def select(expression: str, value: Any, size: int | None = None) -> Any:
    """Return what an expression chooses of a JSON value; None where it chooses nothing.

    Args:
        expression: JMESPath, 512 characters at most.
        value: Plain JSON.
        size: How many characters it has, where that is known.

    Raises:
        InvalidInputError: It is no expression, it does not fit the value, or it asks for too much.
    """
    parsed = _parse(expression)
    from bcon_exporter.agents.bounded_jmespath import BoundedInterpreter, TooCostlyError

    try:
        chosen = BoundedInterpreter(len(json.dumps(value)) if size is None else size).visit(parsed.parsed, value)
        return _to_json_value(chosen)
    except TooCostlyError as error:
        raise _refuse(str(error)) from None
    except RecursionError:
        raise _refuse(_TOO_DEEP) from None
    except _DO_NOT_FIT as error:
        raise _refuse(_tell(error)) from None


def select_in(expression: str, envelope: Envelope) -> Envelope:
    """Return the envelope of what an expression chooses of a result; an error stays what it is."""
    if envelope.error is not None:
        return envelope
    try:
        return Envelope(envelope.value, None, select_in_body(expression, envelope.body), envelope.shared)
    except InvalidInputError as error:
        return failure(error)


def select_in_body(expression: str, body: bytes) -> bytes:
    """Return the same as `select_in`, of the envelope of a result as JSON.

    Raises:
        InvalidInputError: As `select` raises it.
    """
    return result_body(select(expression, json.loads(body)["result"], len(body)))


def result_body(value: Any) -> bytes:
    """Return plain JSON in the envelope of a result, as bytes."""
    return json.dumps({"result": value}, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def _parse(expression: str) -> "ParsedResult":
    if len(expression) > MAX_CHARACTERS:
        raise _refuse(_TOO_LONG)
    import jmespath  # only here and in what this calls: few calls select
    from jmespath.exceptions import JMESPathError

    try:
        return jmespath.compile(expression)
    except RecursionError:
        raise _refuse(_TOO_DEEP) from None
    except JMESPathError as error:
        found = getattr(error, "lex_position", None)
        raise _refuse(_tell(error), None if found is None else min(found, len(expression)) + 1) from None


def _refuse(problem: str, position: int | None = None) -> InvalidInputError:
    message = problem if position is None else f"{problem}, at character {position}"
    details: dict[str, object] = {"errors": [{"field": "select", "message": message}]}
    if position is not None:
        details["position"] = position
    return InvalidInputError(f"select: {message}", details)


def _tell(error: Exception) -> str:
    """Return what is wrong with an expression, without any value of the report."""
    from jmespath import exceptions

    match error:
        case exceptions.EmptyExpressionError():
            return "is empty; @ chooses all"
        case exceptions.ArityError():
            return f"{error.function_name}() takes {error.expected_arity} arguments, not {error.actual_arity}"
        case exceptions.ParseError():
            return _tell_misread(error)
        case exceptions.JMESPathTypeError():
            return f"{error.function_name}() takes {' or '.join(error.expected_types)}, not {error.actual_type}"
        case exceptions.UnknownFunctionError():
            return f"there is no function {_shorten(str(error).rpartition(' ')[2])}"
        case _:
            return "calculates or compares what cannot be calculated or compared"


def _tell_misread(error: "ParseError") -> str:
    from jmespath.exceptions import IncompleteExpressionError, LexerError

    if isinstance(error, LexerError):
        return f"is no JMESPath expression: {_shorten(error.message)}"
    if isinstance(error, IncompleteExpressionError) or error.token_type == _END:
        return "ends too early"
    return f"is no JMESPath expression: unexpected {_shorten(error.token_type)}"


def _shorten(message: str) -> str:
    return clean_name(message.partition("\n")[0].replace("_", " ").lower())[:64]


def _to_json_value(chosen: Any) -> Any:
    """Return what was chosen, with null for a number that JSON does not have.

    Raises:
        InvalidInputError: It holds an expression reference, which is no JSON.
    """
    try:
        json.dumps(chosen, allow_nan=False)
    except ValueError:
        return _without_infinity(chosen)
    except TypeError:
        raise _refuse(_NO_VALUE) from None
    return chosen


def _without_infinity(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return None
        case list():
            return [_without_infinity(one) for one in value]
        case Mapping():
            return {key: _without_infinity(one) for key, one in value.items()}
        case _:
            return value
