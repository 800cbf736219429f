"""HTTP/1.1 over one connection, which a client cannot keep for longer than its requests need."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from bcon_exporter.outputs.http.served_tls import ServedTls

HEADER_SECONDS = 5.0
STALL_SECONDS = 20.0
CONNECTIONS_MAX = 1000


class BoundedProtocol(H11Protocol):
    """Uvicorn's protocol, which itself limits only how long a connection may idle between two requests.

    A connection ends at once, without an answer, when the headers of a request do not come whole within
    `HEADER_SECONDS`, when for `STALL_SECONDS` a client reads too little of its answer, when there are
    `CONNECTIONS_MAX` others on the listener, and when a client asks on after TLS was exchanged: it may no longer be one
    to let in, and one that keeps asking would never need another connection.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._waiting: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Wait for headers, unless there are too many connections."""
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS_MAX:
            transport.abort()
        else:
            self._await_headers()

    def data_received(self, data: bytes) -> None:
        """Take what came; go on waiting while headers are not whole."""
        if self._is_outdated():
            self.transport.close()
            return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._await_headers()
        else:
            self._stop_waiting()

    def _is_outdated(self) -> bool:
        """Whether the connection was made with TLS settings that are no longer in force."""
        served = self.config.ssl
        return isinstance(served, ServedTls) and (
            self.transport.get_extra_info("ssl_object").context is not served.in_force
        )

    def pause_writing(self) -> None:
        """Give a client that does not read what is sent some time."""
        super().pause_writing()
        self._stalled = self._stalled or self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on sending."""
        super().resume_writing()
        self._forget_stall()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget both times."""
        super().connection_lost(exc)
        self._stop_waiting()
        self._forget_stall()

    def _await_headers(self) -> None:
        """Begin to wait, or go on as begun: bytes that trickle win no time."""
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _forget_stall(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
