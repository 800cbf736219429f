"""HTTP/1.1 on one connection, with a time limit for each phase of a request."""

import asyncio
import socket
import struct
import sys
from enum import StrEnum
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from bcon_exporter.outputs.http.connections import Place
from bcon_exporter.outputs.http.replies import JSON, SECURITY_HEADERS, http_error
from bcon_exporter.outputs.http.served_tls import ServedTls
from bcon_exporter.tools.envelope import error_body

KEEP_ALIVE_SECONDS = 20
HEADER_SECONDS = 5.0
STALL_SECONDS = 20.0
_PATIENCE_SECONDS = 5.0
_LINGER_SECONDS = 0.2
"""How long to go on reading after a refusal: if the connection ends at once, the client sees a reset instead."""
_WRITE_BUFFER_BYTES = 32 * 1024
_DROP_WHAT_WAITS = struct.pack("ii", 1, 0)
"""SO_LINGER for zero seconds."""


class _Phase(StrEnum):
    """What a connection is doing."""

    HEADERS = "headers are being received"
    BODY = "the body is being received"
    WORK = "the answer is being made"
    READING = "the client reads the answer too slowly"
    IDLE = "no request is open"
    LOST = "the connection is lost"
    ENDING = "the rest of a request is thrown away, or the connection is being closed"


_LONGEST_SECONDS: dict[_Phase, float] = {
    _Phase.HEADERS: HEADER_SECONDS,
    _Phase.BODY: STALL_SECONDS,
    _Phase.READING: STALL_SECONDS,
    _Phase.IDLE: KEEP_ALIVE_SECONDS + _PATIENCE_SECONDS,
    _Phase.ENDING: 2 * _PATIENCE_SECONDS,
}
"""Uvicorn closes idle connections itself; this limit is for clients that do not read even then."""


class BoundedProtocol(H11Protocol, asyncio.BufferedProtocol):
    """Uvicorn's protocol with time limits; Uvicorn itself limits only the idle time between two requests.

    A connection ends without an answer when one of its phases lasts too long, also when its bytes trickle. It ends with
    its next request after the TLS settings were reloaded, as the client may no longer be let in. Bytes are received in
    pieces of 16 KiB, and none while an answer is being made, so further requests wait in the client's own buffers.
    """

    def __init__(self, *arguments: Any, place: Place, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._place = place
        self._phase: _Phase | None = None
        self._phase_began = 0.0
        self._time_limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Wait for headers."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=_WRITE_BUFFER_BYTES)
        self._enter(_Phase.HEADERS)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 -- asyncio's signature
        """Return the buffer for received bytes."""
        return self._place.read_buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Handle the bytes in the buffer."""
        self.data_received(bytes(self._place.read_buffer[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Handle received bytes; incomplete headers leave the phase as it is."""
        if self._is_outdated():
            self.transport.close()
        elif self.conn.their_state is not h11.ERROR:
            super().data_received(data)
        self._follow()

    def _is_outdated(self) -> bool:
        """Return whether the connection was made with TLS settings that are no longer in force."""
        served = self.config.ssl
        return isinstance(served, ServedTls) and (
            self.transport.get_extra_info("ssl_object").context is not served.in_force
        )

    def send_400_response(self, msg: str) -> None:
        """Answer malformed HTTP with an envelope, or only end the connection if an answer has begun."""
        is_head = self._is_answering and self.scope["method"] == "HEAD"
        if self._is_answering:
            self.cycle.disconnected = True  # so that the site does not answer too
            self.cycle.waiting_for_100_continue = False
            self.cycle.message_event.set()
            self.flow.resume_writing()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            too_large = getattr(sys.exception(), "error_status_hint", 400) == 431  # noqa: PLR2004 -- headers too large
            self._send_error(431 if too_large else 400, msg, is_head=is_head)
        self.loop.call_later(_LINGER_SECONDS, self._end)

    def _end(self) -> None:
        if self._phase is not _Phase.LOST:
            self.transport.close()

    def _send_error(self, status: int, message: str, *, is_head: bool) -> None:
        body = error_body(http_error(status, message))
        length = (b"content-length", str(len(body)).encode())
        headers = [(b"content-type", JSON), length, (b"connection", b"close"), *SECURITY_HEADERS]
        reason = b"Request Header Fields Too Large" if status == 431 else b"Bad Request"  # noqa: PLR2004
        for event in (
            h11.Response(status_code=status, headers=headers, reason=reason),
            h11.Data(data=b"" if is_head else body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")

    def on_response_complete(self) -> None:
        """Go on to the next request, unless the client read this answer too slowly."""
        was_slow = self._phase is _Phase.READING and self.loop.time() - self._phase_began > _PATIENCE_SECONDS
        self._place.hold(0)
        if was_slow:
            self.transport.close()
        super().on_response_complete()
        self._follow()

    def pause_writing(self) -> None:
        """Limit the time of a client that does not read."""
        super().pause_writing()
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the place and drop references, or the memory of TLS waits for the garbage collector."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._stop_clock()
        self._phase = _Phase.LOST
        self._place.leave()
        self.transport = self.flow = self.cycle = None  # type: ignore[assignment]  # as before the connection was made

    @property
    def _has_asked(self) -> bool:
        cycle: object = self.cycle  # None before the first request, whatever uvicorn declares
        return cycle is not None

    @property
    def _is_answering(self) -> bool:
        return self._has_asked and not self.cycle.response_complete

    def _follow(self) -> None:
        """Enter the phase that the connection is in now."""
        answering = self._is_answering
        if self.transport.is_closing() or self.conn.their_state is h11.ERROR:
            self._enter(_Phase.ENDING)
        elif answering and (self._phase is _Phase.READING or self.flow.write_paused):
            self._enter(_Phase.READING)  # until the answer is sent, so that trickling wins no time
        elif answering:
            self._enter(_Phase.BODY if self.conn.their_state is h11.SEND_BODY else _Phase.WORK)
        elif self.conn.their_state is h11.SEND_BODY:
            self._enter(_Phase.ENDING)
        elif self.conn.trailing_data[0] or not self._has_asked:
            self._enter(_Phase.HEADERS)
        else:
            self._enter(_Phase.IDLE)

    def _enter(self, phase: _Phase) -> None:
        """Begin a phase, unless it is the present one."""
        if phase is self._phase:
            return
        self._phase = phase
        self._phase_began = self.loop.time()
        self._stop_clock()
        if phase is _Phase.WORK:
            self._place.work()
            return
        self._place.wait()
        self._time_limit = self.loop.call_later(_LONGEST_SECONDS[phase], self._abort)

    def _abort(self) -> None:
        """End the connection and drop what waits to be sent, which the kernel would offer for minutes more."""
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DROP_WHAT_WAITS)
        self.transport.abort()

    def _stop_clock(self) -> None:
        if self._time_limit is not None:
            self._time_limit.cancel()
            self._time_limit = None
