"""Reads the query of a request, and what it selects of the answer."""

from typing import Any

from fastapi import Request

from bcon_exporter.agents.select import MAX_CHARACTERS
from bcon_exporter.errors import InvalidInputError

SELECT = "select"
SELECT_PARAMETER: dict[str, Any] = {
    "name": SELECT,
    "in": "query",
    "required": False,
    "description": "JMESPath expression: answer with what it chooses of the result",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_CHARACTERS},
}


def read_query(request: Request) -> dict[str, str]:
    """Return the query; of a repeated parameter only one value would count, so it is refused.

    Raises:
        InvalidInputError: A parameter is repeated.
    """
    query: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in query:
            msg = f"{name}: give it once; a repeated parameter is refused, since only one of its values would count"
            raise InvalidInputError(msg, {"errors": [{"field": name, "message": "given more than once"}]})
        query[name] = value
    return query


def read_expression(request: Request) -> str | None:
    """Return what a query selects, where its other parameters mean nothing; None where it selects nothing.

    Raises:
        InvalidInputError: A parameter is repeated.
    """
    return read_query(request).get(SELECT) if SELECT in request.query_params else None
