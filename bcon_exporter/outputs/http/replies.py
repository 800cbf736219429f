"""Answers outside the API framework, and the HTTP status of every error code."""

from collections.abc import Iterable, Sequence
from typing import Any

from bcon_exporter.errors import BconError, ErrorCode, InternalError, InvalidInputError, PermissionDeniedError
from bcon_exporter.tools.envelope import error_body

Scope = Any
Receive = Any
Send = Any
"""ASGI 3 has these as plain callables and dictionaries."""

STATUS_BY_CODE: dict[ErrorCode, int] = {
    ErrorCode.INVALID_INPUT: 400,
    ErrorCode.PERMISSION_DENIED: 403,
    ErrorCode.CONTAINER_NOT_FOUND: 404,
    ErrorCode.COMPOSE_FILE_NOT_FOUND: 404,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.COMPOSE_PARSE_ERROR: 422,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.INTERNAL_ERROR: 500,
    ErrorCode.NOT_AVAILABLE: 501,
    ErrorCode.DOCKER_CONNECTION_FAILED: 503,
    ErrorCode.TIMEOUT: 504,
}
JSON = b"application/json"
RETRY_AFTER_SECONDS = 5
SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)

_HTTP_MESSAGES = {
    404: "there is no such address; /openapi.json lists all",
    405: "this address does not take that method; /openapi.json says which it takes",
}


def http_error(status: int, message: str | None = None) -> BconError:
    """Return the error of the envelope for an HTTP status that no tool caused."""
    text = message or _HTTP_MESSAGES.get(status, "the request cannot be answered as it stands")
    if status in (401, 403):
        return PermissionDeniedError(text)
    if status >= 500:  # noqa: PLR2004 -- the class of server errors
        return InternalError(text)
    return InvalidInputError(text)


def extra_headers(status: int) -> list[tuple[bytes, bytes]]:
    """Return the headers that go with a status."""
    if status == 429:  # noqa: PLR2004 -- too many requests
        return [(b"retry-after", str(RETRY_AFTER_SECONDS).encode())]
    return []


async def send_reply(
    send: Send, status: int, body: bytes, content_type: bytes, headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Send a whole answer."""
    all_headers = [(b"content-type", content_type), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": all_headers})
    await send({"type": "http.response.body", "body": body})


async def send_error(
    send: Send, error: BconError, status: int | None = None, headers: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    """Send an error in the envelope, with the status of its code and the headers of that unless others are given."""
    code = STATUS_BY_CODE[error.code] if status is None else status
    await send_reply(send, code, error_body(error), JSON, headers or extra_headers(code))
