"""Delivers one round of alerts to one Alertmanager: direct, without proxies and redirects, within a bounded time."""

import http.client
import json
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from bcon_exporter.bounded_http import BoundedConnection
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
        try:
            status, text = self._ask(json.dumps(alerts).encode())
        except SettingsError as error:
            raise UnreachableError(error.message) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UnreachableError(_describe(error)) from None
        if status in _OK:
            return
        msg = f"HTTP status {status}{text}"
        raise RefusedError(msg) if status in _AT_FAULT else UnreachableError(msg)

    def _connection(self, access: HttpAccess) -> BoundedConnection:
        is_encrypted = self._parts.scheme == "https"
        tls = (access.tls or ssl.create_default_context()) if is_encrypted else None
        return BoundedConnection(
            self._parts.hostname or "", self._parts.port, self._timeout_seconds, tls, access.server_name
        )

    def _ask(self, body: bytes) -> tuple[int, str]:
        """Return the status, and what is said of a refusal."""
        access = self._access()
        headers = {"Content-Type": "application/json", "User-Agent": "bcon-exporter", "Connection": "close"}
        authorization = access.read_authorization()
        if authorization is not None:
            headers["Authorization"] = authorization
        with self._connection(access) as connection:
            connection.request("POST", self._parts.path.rstrip("/") + _PATH, body, headers)
            answer = connection.getresponse()
            said = "" if answer.status in _OK else _read_words(answer)
        return answer.status, f": {said}" if said else ""


def _read_words(answer: http.client.HTTPResponse) -> str:
    """Return what is said of a refusal; nothing where that does not come in time: the status counts."""
    try:
        text = answer.read(_ANSWER_BYTES)
    except (OSError, http.client.HTTPException, ValueError):
        return ""
    return " ".join(text.decode(errors="replace").split())[:300]


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
