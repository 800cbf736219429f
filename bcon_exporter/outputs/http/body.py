"""Reads a request's body before anybody looks at it: at most 64 KiB, within a time limit."""

import asyncio

from bcon_exporter.outputs.http.replies import Receive, Scope

BODY_MAX_BYTES = 64 * 1024
_BODY_SECONDS = 10.0


class BodyTooLargeError(Exception):
    """The body is larger than 64 KiB, or did not come in time."""


async def buffer_body(scope: Scope, receive: Receive) -> Receive:
    """Return a `receive` that hands out the whole body at once.

    Raises:
        BodyTooLargeError: It is larger than allowed, by its declared length or as it comes.
    """
    headers = dict(scope["headers"])
    declared = headers.get(b"content-length", b"0")
    if not declared.isdigit() or int(declared) > BODY_MAX_BYTES:
        raise BodyTooLargeError(_too_large())
    if declared == b"0" and b"transfer-encoding" not in headers:
        return receive
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            body = await _read(receive)
    except TimeoutError:
        msg = f"the body did not come within {_BODY_SECONDS:g} s"
        raise BodyTooLargeError(msg) from None
    return _replay(body, receive)


def _too_large() -> str:
    return f"the body is larger than {BODY_MAX_BYTES // 1024} KiB"


async def _read(receive: Receive) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b""
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > BODY_MAX_BYTES:
            raise BodyTooLargeError(_too_large())
        if not message.get("more_body", False):
            return b"".join(pieces)


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Scope:
        return waiting.pop() if waiting else await receive()

    return replay
