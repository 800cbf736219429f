"""Opens connections to an engine: a unix socket, TCP, or TCP with TLS. Never through a proxy of the environment."""

import contextlib
import errno
import selectors
import socket
import ssl
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bcon_exporter.clock import monotonic
from bcon_exporter.engine.find_socket import Endpoint, TlsFiles
from bcon_exporter.regular_files import UnreadableFileError, check_regular_file

_KEEPALIVE = ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))


@dataclass
class Dialer:
    """Opens non-blocking connections to one engine.

    Attributes:
        host_header: What to send as `Host`.
    """

    endpoint: Endpoint
    _tls_context: ssl.SSLContext | None = field(default=None, init=False)

    @property
    def host_header(self) -> str:
        """Value of the Host header; the engine ignores it, proxies in between do not."""
        return "docker" if self.endpoint.is_local else urlsplit(self.endpoint.url).netloc

    def open(self, seconds: float) -> socket.socket:
        """Return a connected, non-blocking socket, its TLS handshake done.

        Args:
            seconds: Longest wall time for connecting and for the handshake, together.

        Raises:
            OSError: As the operating system or TLS says; TimeoutError after `seconds`.
        """
        deadline = monotonic() + max(seconds, 0.001)
        if self.endpoint.is_local:
            return self._open_unix(seconds)
        parts = urlsplit(self.endpoint.url)
        host, port = parts.hostname or "", parts.port or 0
        connection = socket.create_connection((host, port), timeout=max(seconds, 0.001))
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option, value in _KEEPALIVE:
                connection.setsockopt(socket.IPPROTO_TCP, option, value)
            connection.setblocking(False)  # noqa: FBT003 - the socket module's signature
            return self._secure(connection, host, deadline) if self.endpoint.tls else connection
        except BaseException:
            connection.close()
            raise

    def _open_unix(self, seconds: float) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(max(seconds, 0.001))
            connection.connect(self.endpoint.url.removeprefix("unix://"))
            connection.setblocking(False)  # noqa: FBT003 - as above
        except BaseException as error:
            connection.close()
            if isinstance(error, OSError) and str(error) == "AF_UNIX path too long":
                raise OSError(errno.ENAMETOOLONG, str(error)) from error
            raise
        return connection

    def _secure(self, connection: socket.socket, host: str, deadline: float) -> ssl.SSLSocket:
        if self._tls_context is None:
            self._tls_context = make_tls_context(self.endpoint.tls or TlsFiles())
        secured = self._tls_context.wrap_socket(connection, server_hostname=host, do_handshake_on_connect=False)
        with contextlib.closing(selectors.DefaultSelector()) as selector:
            selector.register(secured, selectors.EVENT_READ)
            while True:
                try:
                    secured.do_handshake()
                except ssl.SSLWantReadError:
                    selector.modify(secured, selectors.EVENT_READ)
                except ssl.SSLWantWriteError:
                    selector.modify(secured, selectors.EVENT_WRITE)
                except BaseException:
                    secured.close()
                    raise
                else:
                    return secured
                if not selector.select(max(deadline - monotonic(), 0)):
                    secured.close()
                    msg = "TLS handshake"
                    raise TimeoutError(msg)


def make_tls_context(files: TlsFiles) -> ssl.SSLContext:
    """Return a client context: TLS 1.2 or newer, the engine's certificate checked unless that was switched off.

    Raises:
        OSError: A file cannot be read or is no certificate or key.
    """
    for path in filter(None, (files.ca, files.cert, files.key)):
        try:
            check_regular_file(path)
        except UnreadableFileError as error:
            refusal = ssl.SSLError(errno.EINVAL, str(error))
            refusal.reason = f"{path} {error}"
            raise refusal from None
    context = ssl.create_default_context(cafile=str(files.ca) if files.ca else None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if not files.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if files.cert is not None:
        context.load_cert_chain(str(files.cert), str(files.key) if files.key else None)
    return context
