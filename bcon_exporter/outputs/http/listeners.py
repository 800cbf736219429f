"""Binds addresses and serves them with uvicorn, all in one event loop."""

import asyncio
import contextlib
import logging
import socket
import ssl
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import uvicorn

from bcon_exporter.errors import SettingsError
from bcon_exporter.outputs.http.access_control import HEADERS_MAX_BYTES, App
from bcon_exporter.outputs.http.connections import Connections, Place
from bcon_exporter.outputs.http.protocol import KEEP_ALIVE_SECONDS, BoundedProtocol

_log = logging.getLogger(__name__)
HANDSHAKE_SECONDS = 5.0
_ACCEPT_RETRY_SECONDS = 0.2
_GRACE_SECONDS = 2
_BACKLOG = 1024


@dataclass(frozen=True, slots=True)
class Listener:
    """Bound sockets, the application that answers on them, and TLS where configured."""

    sockets: tuple[socket.socket, ...]
    app: App
    tls: ssl.SSLContext | None = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """The bound addresses as host:port."""
        return tuple(_shown(bound.getsockname()) for bound in self.sockets)


def _shown(name: tuple[str, int]) -> str:
    host, port = name[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def bind(host: str, port: int, setting: str) -> tuple[socket.socket, ...]:
    """Return listening sockets for an address; every address of the machine for host "".

    Raises:
        SettingsError: The port is in use or not allowed, or the address is not this machine's; names the setting.
    """
    sockets: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in _resolve(host, port):
            bound = socket.socket(family, kind, protocol)
            sockets.append(bound)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(host != ""))
            bound.bind(address)
            bound.listen(_BACKLOG)
            bound.setblocking(False)  # noqa: FBT003 -- the socket API has no keyword
            if host == "" and family == socket.AF_INET6:
                break  # takes IPv4 too
    except OSError as error:
        close_all(sockets)
        shown = _shown((host, port)) if host else f":{port}"
        msg = f"{setting} {shown}: {_reason(error)}; give another address with --{setting}"
        raise SettingsError(msg, {"setting": setting, "address": shown}) from None
    return tuple(sockets)


def _resolve(host: str, port: int) -> Sequence[tuple[int, int, int, str, tuple[str, int]]]:
    addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    ipv6_first = sorted(addresses, key=lambda address: address[0] != socket.AF_INET6)
    usable = ipv6_first if host or _has_inet6() else [address for address in addresses if address[0] == socket.AF_INET]
    if port == 0:
        usable = usable[:1]  # a free port is free for one address only
    return usable  # type: ignore[return-value]  # typeshed has the address of every family


def _has_inet6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::", 0))
    except OSError:
        return False
    return True


def _reason(error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return "the host name is not known"
    return (error.strerror or "cannot be bound").lower()


def close_all(sockets: Sequence[socket.socket]) -> None:
    """Close sockets that are not served."""
    for bound in sockets:
        bound.close()


class _Server(uvicorn.Server):
    """A server that leaves signals to the daemon, and accepts connections itself.

    The loop's `create_server` reports a TLS connection only after its handshake, so handshakes that never end could not
    be counted. Where descriptors run out it logs a thousand times a second.
    """

    def __init__(self, listener: Listener, connections: Connections) -> None:
        super().__init__(_configure(listener))
        self._connections = connections
        self._accepting: list[asyncio.Task[None]] = []
        self._connecting: set[asyncio.Task[None]] = set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture nothing."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        await self.lifespan.startup()
        self.servers = []
        self._accepting = [asyncio.create_task(self._accept_all(bound)) for bound in sockets or ()]
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more, and let running requests end."""
        for task in (*self._accepting, *self._connecting):
            task.cancel()
        await asyncio.gather(*self._accepting, *self._connecting, return_exceptions=True)
        await super().shutdown(sockets)

    async def _accept_all(self, bound: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, address = await loop.sock_accept(bound)
            except OSError as error:
                _log.warning("a connection could not be accepted: %s", error.strerror)
                await asyncio.sleep(_ACCEPT_RETRY_SECONDS)
                continue
            place = self._connections.admit(connection, address[0])
            if place is None:
                connection.close()
            else:
                task = asyncio.create_task(self._connect(connection, place))
                self._connecting.add(task)
                task.add_done_callback(self._connecting.discard)
            await asyncio.sleep(0)  # lets open connections run in between

    async def _connect(self, connection: socket.socket, place: Place) -> None:
        """Make the connection's protocol, behind its TLS handshake if there is one."""
        tls = self.config.ssl
        seconds = HANDSHAKE_SECONDS if tls else None
        make = partial(
            BoundedProtocol, config=self.config, server_state=self.server_state, app_state={"place": place}, place=place
        )
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                make, connection, ssl=tls, ssl_handshake_timeout=seconds, ssl_shutdown_timeout=seconds
            )
        except OSError as error:  # TLS errors and time-outs are some
            place.leave()
            traceback.clear_frames(
                error.__traceback__
            )  # frames and error refer to each other and hold the memory of TLS
        except BaseException:
            place.leave()
            raise


async def serve_all(listeners: Sequence[Listener], stop: asyncio.Event, connections: Connections | None = None) -> None:
    """Serve until `stop` is set, then let running requests end within two seconds."""
    places = Connections() if connections is None else connections  # an empty one is false
    servers = [_Server(listener, places) for listener in listeners]
    serving = [
        asyncio.create_task(server.serve(sockets=list(listener.sockets)))
        for server, listener in zip(servers, listeners, strict=True)
    ]
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait([stopping, *serving], return_when=asyncio.FIRST_COMPLETED)
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*serving)
    stopping.cancel()


def _configure(listener: Listener) -> uvicorn.Config:
    config = uvicorn.Config(
        listener.app,
        http=BoundedProtocol,
        ws="none",
        loop="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        h11_max_incomplete_event_size=HEADERS_MAX_BYTES,
        backlog=_BACKLOG,
    )
    config.load()
    config.ssl = listener.tls
    return config
