"""HTTP/1.1 over one connection, which a client cannot keep for longer than its requests need."""

import asyncio
import sys
from enum import StrEnum
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from bcon_exporter.outputs.http.connections import Place
from bcon_exporter.outputs.http.replies import JSON, SECURITY_HEADERS, error_json, http_error
from bcon_exporter.outputs.http.served_tls import ServedTls

KEEP_ALIVE_SECONDS = 20
HEADER_SECONDS = 5.0
STALL_SECONDS = 20.0
_PATIENCE_SECONDS = 5.0
_LINGER_SECONDS = 0.2
"""After a refusal, in which what still comes is thrown away: ended at once, the client would see a reset instead."""
_WRITE_BUFFER_BYTES = 32 * 1024


class _Phase(StrEnum):
    """What a connection does."""

    HEADERS = "the headers of a request come"
    BODY = "its body comes"
    WORK = "the answer is being made"
    READING = "the client reads the answer too slowly"
    IDLE = "nothing is asked"
    LOST = "it is over"
    ENDING = "the rest of a request is thrown away, or the connection is being closed"


_LONGEST_SECONDS: dict[_Phase, float] = {
    _Phase.HEADERS: HEADER_SECONDS,
    _Phase.BODY: STALL_SECONDS,
    _Phase.READING: STALL_SECONDS,
    _Phase.IDLE: KEEP_ALIVE_SECONDS + _PATIENCE_SECONDS,
    _Phase.ENDING: 2 * _PATIENCE_SECONDS,
}
"""Uvicorn ends an idle connection itself and politely; a client that still does not read is ended here."""


class BoundedProtocol(H11Protocol, asyncio.BufferedProtocol):
    """Uvicorn's protocol, which itself limits only how long a connection may idle between two requests.

    A connection ends at once, without an answer, when a phase of it lasts longer than allowed, however its bytes
    trickle; and when a client asks on after TLS was exchanged: it may no longer be one to let in, and one that keeps
    asking would never need another connection. What is received comes in pieces of 16 KiB and is not read on while
    an answer is being made, so that requests sent at once wait in the client's own buffers.
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
        """Return where to put what is received."""
        return self._place.read_buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take what was received."""
        self.data_received(bytes(self._place.read_buffer[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Take what came; go on waiting while headers are not whole."""
        if self._is_outdated():
            self.transport.close()
        elif self.conn.their_state is not h11.ERROR:
            super().data_received(data)
        self._follow()

    def _is_outdated(self) -> bool:
        """Whether the connection was made with TLS settings that are no longer in force."""
        served = self.config.ssl
        return isinstance(served, ServedTls) and (
            self.transport.get_extra_info("ssl_object").context is not served.in_force
        )

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP in the envelope; only end the connection where an answer is on its way already."""
        is_head = self._is_answering and self.scope["method"] == "HEAD"
        if self._is_answering:
            self.cycle.disconnected = True  # or the site would answer as well
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
        body = error_json(http_error(status, message))
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
        """Go on to the next request; not with a client that had to be waited for."""
        was_slow = self._phase is _Phase.READING and self.loop.time() - self._phase_began > _PATIENCE_SECONDS
        self._place.hold(0)
        self._place.clean_up()
        if was_slow:
            self.transport.close()
        super().on_response_complete()
        self._follow()

    def pause_writing(self) -> None:
        """Give a client that does not read what is sent some time."""
        super().pause_writing()
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the place, and nothing behind that refers to each other: what TLS holds would wait for a collection."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._stop_clock()
        self._phase = _Phase.LOST
        self._place.leave()
        self.transport = self.flow = self.cycle = None  # type: ignore[assignment]  # as before there was a connection

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
            self._enter(_Phase.READING)  # and stays in it until the answer is sent: trickling wins no time
        elif answering:
            self._enter(_Phase.BODY if self.conn.their_state is h11.SEND_BODY else _Phase.WORK)
        elif self.conn.their_state is h11.SEND_BODY:
            self._enter(_Phase.ENDING)
        elif self.conn.trailing_data[0] or not self._has_asked:
            self._enter(_Phase.HEADERS)
        else:
            self._enter(_Phase.IDLE)

    def _enter(self, phase: _Phase) -> None:
        """Begin a phase, or go on in it as begun."""
        if phase is self._phase:
            return
        self._phase = phase
        self._phase_began = self.loop.time()
        self._stop_clock()
        if phase is _Phase.WORK:
            self._place.work()
            return
        self._place.wait()
        self._time_limit = self.loop.call_later(_LONGEST_SECONDS[phase], self.transport.abort)

    def _stop_clock(self) -> None:
        if self._time_limit is not None:
            self._time_limit.cancel()
            self._time_limit = None
