"""One HTTP request whose answer ends in time, however it trickles: the time-out of a socket is for each read only."""

import http.client
import socket
import ssl
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

_FAILURES = (OSError, http.client.HTTPException, ValueError)
_CHUNK = 65536


class BoundedConnection(http.client.HTTPConnection):
    """A connection for one request, without proxies and redirects; in a `with` it is cut when its time is over.

    Args:
        seconds: From the connection to the last byte of the answer.
        tls: How to encrypt; None for plain HTTP.
        server_name: The name that the certificate must have; None for that of the address.
    """

    def __init__(
        self,
        host: str,
        port: int | None,
        seconds: float,
        tls: ssl.SSLContext | None = None,
        server_name: str | None = None,
    ) -> None:
        if tls is not None:
            self.default_port = http.client.HTTPS_PORT
        super().__init__(host, port, timeout=seconds)
        self._tls, self._server_name = tls, server_name or host
        self._opened: socket.socket | None = None
        self._answer: http.client.HTTPResponse | None = None
        self._is_cut = False
        self._guard = threading.Timer(seconds, self._cut)
        self._guard.daemon = True

    def connect(self) -> None:
        """Connect and shake hands."""
        super().connect()
        if self._tls is not None:
            self.sock = self._tls.wrap_socket(
                self.sock, server_hostname=self._server_name, do_handshake_on_connect=False
            )
        if self._is_cut:  # a name or one of several addresses took all the time
            raise TimeoutError
        self._opened = self.sock  # http.client forgets it once the head of an answer is there that ends with it
        if isinstance(self.sock, ssl.SSLSocket):
            self.sock.do_handshake()

    def getresponse(self) -> http.client.HTTPResponse:
        """Return the answer, which ends with the connection whether it was read or not."""
        self._answer = super().getresponse()
        return self._answer

    def read(self, answer: http.client.HTTPResponse, max_bytes: int) -> bytes:
        """Return the body of an answer.

        Raises:
            http.client.HTTPException: It is longer.
            TimeoutError: It was cut.
        """
        body = bytearray()
        while chunk := answer.read1(_CHUNK):
            body += chunk
            if len(body) > max_bytes:
                msg = f"it is longer than {max_bytes} bytes"
                raise http.client.HTTPException(msg)
        if self._is_cut:  # within a line of the head, too: what came until then looks whole
            raise TimeoutError
        return bytes(body)

    def __enter__(self) -> Self:
        self._guard.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._guard.cancel()
        self.close()
        if self._answer is not None:
            self._answer.close()
        if self._is_cut and isinstance(error, _FAILURES):
            raise TimeoutError from None

    def _cut(self) -> None:
        self._is_cut = True
        if self._opened is not None:
            with suppress(OSError):
                socket.socket.shutdown(self._opened, socket.SHUT_RDWR)
