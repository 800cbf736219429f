"""Reads a request's whole body before it is parsed: at most 64 KiB, within a time limit."""

import asyncio

from bcon_exporter.errors import BconError, DeadlineExceededError, InvalidInputError
from bcon_exporter.outputs.http.replies import Receive, Scope

BODY_MAX_BYTES = 64 * 1024
_BODY_SECONDS = 10.0
_SWALLOWED_BYTES = 1024 * 1024
"""Bytes that are read of a body that is too large: many clients send all before they read an answer."""
_LENGTH_MAX_DIGITS = 20


class BodyRefusedError(Exception):
    """The body is refused: too large, too late, or its declared length is no number.

    Attributes:
        status: The HTTP status that says so.
        error: The error of the envelope.
    """

    def __init__(self, status: int, error: BconError) -> None:
        super().__init__(error.message)
        self.status, self.error = status, error


class ClientGoneError(Exception):
    """The connection ended before the body was complete."""


async def buffer_body(scope: Scope, receive: Receive, seconds: float = _BODY_SECONDS) -> Receive:
    """Return a `receive` that hands out the whole body at once.

    Raises:
        BodyRefusedError: It is larger than allowed, by its declared length or as it comes, or takes longer.
        ClientGoneError: It will not come.
    """
    headers = dict(scope["headers"])
    declared = headers.get(b"content-length", b"0")
    if not declared.isdigit():
        raise BodyRefusedError(400, InvalidInputError("the header Content-Length must be a number of bytes"))
    if len(declared) > _LENGTH_MAX_DIGITS or int(declared) > _SWALLOWED_BYTES:
        raise _too_large()
    if declared == b"0" and b"transfer-encoding" not in headers:
        return receive
    too_large = int(declared) > BODY_MAX_BYTES
    try:
        async with asyncio.timeout(seconds):
            body = await _read(receive)
    except TimeoutError:
        if too_large:
            raise _too_large() from None
        msg = f"the body did not come within {seconds:g} s"
        raise BodyRefusedError(408, DeadlineExceededError(msg)) from None
    if too_large:
        raise _too_large()
    return _replay(body, receive)


def _too_large() -> BodyRefusedError:
    return BodyRefusedError(413, InvalidInputError(f"the body is larger than {BODY_MAX_BYTES // 1024} KiB"))


async def _read(receive: Receive) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        piece = message.get("body", b"")
        size += len(piece)
        if size <= BODY_MAX_BYTES:
            pieces.append(piece)
        if not message.get("more_body", False) or size > _SWALLOWED_BYTES:
            break
    if size > BODY_MAX_BYTES:
        raise _too_large()
    return b"".join(pieces)


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Scope:
        return waiting.pop() if waiting else await receive()

    return replay
