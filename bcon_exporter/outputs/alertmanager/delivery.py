"""Delivers one round of alerts to one Alertmanager: direct, without proxies and redirects, within a bounded time."""

import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from bcon_exporter.errors import SettingsError
from bcon_exporter.outputs.alertmanager.http_config import HttpAccess
from bcon_exporter.outputs.alertmanager.payload import Payload

BATCH_SIZE = 64
_PATH = "/api/v2/alerts"
_OK = range(200, 300)
_AT_FAULT = (400, 413, 422)
"""Statuses that blame the request: something in it is wrong, and the rest may be fine."""
_ANSWER_BYTES = 2048


class RefusedError(Exception):
    """The Alertmanager took offence at the alerts; the message says why, in its words."""


class UnreachableError(Exception):
    """The Alertmanager did not answer, or not as it should; the message says how."""


@dataclass(frozen=True, slots=True)
class PushDelivery:
    """How a round went.

    Attributes:
        accepted: Number of alerts taken.
        refused: Names of alerts that it would not take.
        error: Why the round was broken off, or why an alert was refused; None when all went well.
    """

    accepted: int = 0
    refused: tuple[str, ...] = ()
    error: str | None = None

    @property
    def failed(self) -> bool:
        """True when nothing arrived: the watchdog is in every round, so an Alertmanager that works takes some."""
        return self.accepted == 0


class Alertmanager:
    """One Alertmanager.

    Args:
        url: Its base address; what it serves lies under `/api/v2`.
        timeout_seconds: Longest time that one request may take in all.
        access: Returns what requests carry by the configuration in force.
    """

    def __init__(self, url: str, timeout_seconds: float = 10.0, access: Callable[[], HttpAccess] = HttpAccess) -> None:
        self.url = url
        self._parts = urlsplit(url)
        self._timeout_seconds = timeout_seconds
        self._access = access

    def post(self, alerts: Sequence[Payload]) -> None:
        """Send some alerts.

        Raises:
            RefusedError: It says that something is wrong with them.
            UnreachableError: Anything else but success.
        """
        access = self._access()
        connection = self._connection(access)
        guard = threading.Timer(self._timeout_seconds, _cut, (connection,))
        guard.daemon = True
        guard.start()
        try:
            status, text = self._ask(connection, access, json.dumps(alerts).encode())
        except SettingsError as error:
            raise UnreachableError(error.message) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UnreachableError(_describe(error)) from None
        finally:
            guard.cancel()
            connection.close()
        if status in _OK:
            return
        msg = f"HTTP status {status}{text}"
        raise RefusedError(msg) if status in _AT_FAULT else UnreachableError(msg)

    def _connection(self, access: HttpAccess) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            context = access.tls or ssl.create_default_context()
            return _TlsConnection(host, port, self._timeout_seconds, context, access.server_name or host)
        return http.client.HTTPConnection(host, port, timeout=self._timeout_seconds)

    def _ask(self, connection: http.client.HTTPConnection, access: HttpAccess, body: bytes) -> tuple[int, str]:
        headers = {"Content-Type": "application/json", "User-Agent": "bcon-exporter", "Connection": "close"}
        authorization = access.read_authorization()
        if authorization is not None:
            headers["Authorization"] = authorization
        connection.request("POST", self._parts.path.rstrip("/") + _PATH, body, headers)
        answer = connection.getresponse()
        said = " ".join(answer.read(_ANSWER_BYTES).decode(errors="replace").split())[:300]
        return answer.status, f": {said}" if said else ""


class _TlsConnection(http.client.HTTPConnection):
    """A connection to a server whose certificate may have another name than its address."""

    def __init__(self, host: str, port: int | None, seconds: float, context: ssl.SSLContext, server_name: str) -> None:
        super().__init__(host, port or http.client.HTTPS_PORT, timeout=seconds)
        self._context = context
        self._server_name = server_name

    def connect(self) -> None:
        """Connect and shake hands."""
        super().connect()
        self.sock = self._context.wrap_socket(self.sock, server_hostname=self._server_name)


def _cut(connection: http.client.HTTPConnection) -> None:
    """End a request that trickles: the time-out of a socket is for each read only."""
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)


def _describe(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(error) or type(error).__name__


Post = Callable[[Sequence[Payload]], None]


def deliver(post: Post, alerts: Sequence[Payload]) -> PushDelivery:
    """Send a round in batches; one bad alert is found by halving its batch and loses none of the others."""
    whole = PushDelivery()
    for start in range(0, len(alerts), BATCH_SIZE):
        try:
            part = _deliver_batch(post, alerts[start : start + BATCH_SIZE])
        except UnreachableError as problem:
            return replace(whole, error=str(problem))
        whole = _add(whole, part)
    return whole


def _deliver_batch(post: Post, batch: Sequence[Payload]) -> PushDelivery:
    try:
        post(batch)
    except RefusedError as problem:
        if len(batch) == 1:
            return PushDelivery(0, (batch[0]["labels"]["alertname"],), str(problem))
        middle = len(batch) // 2
        return _add(_deliver_batch(post, batch[:middle]), _deliver_batch(post, batch[middle:]))
    return PushDelivery(len(batch))


def _add(one: PushDelivery, other: PushDelivery) -> PushDelivery:
    return PushDelivery(one.accepted + other.accepted, one.refused + other.refused, other.error or one.error)
