"""The answer of every tool: `{"result": …}` or `{"error": {"code", "message", "details"}}`."""

import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

from bcon_exporter.errors import BconError, ErrorCode


@dataclass(frozen=True, slots=True)
class Envelope:
    """One answer.

    Attributes:
        value: The result as typed values; None with an error.
        error: What went wrong; None with a result.
        body: The envelope as JSON bytes (UTF-8).
        shared: True when the answer is that of an identical request that ran at the same time.
    """

    value: Any
    error: BconError | None
    body: bytes
    shared: bool = False

    @property
    def code(self) -> ErrorCode | None:
        """The error's code; None with a result."""
        return None if self.error is None else self.error.code

    def data(self) -> dict[str, Any]:
        """Return the envelope as plain JSON values."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


def error_body(error: BconError) -> bytes:
    """Return the error's envelope as JSON bytes."""
    fields = {"code": error.code.value, "message": error.message, "details": error.details}
    return to_json({"error": fields}, fallback=str)


def success(value: BaseModel) -> Envelope:
    """Return the envelope of a report that no tool of this process has made."""
    return Envelope(value=value, error=None, body=b'{"result":' + value.model_dump_json().encode() + b"}")


def failure(error: BconError) -> Envelope:
    """Return the envelope of an error."""
    return Envelope(value=None, error=error, body=error_body(error))
