"""Tells a dead man's switch that the scans go well; when this process dies or hangs, the pings stop.

The address is a secret: neither it nor its host stands in a log or an error.
"""

import http.client
import logging
import ssl
import threading
from collections.abc import Callable
from urllib.parse import urlsplit

from pydantic import SecretStr

from bcon_exporter.bounded_http import BoundedConnection
from bcon_exporter.tools import Context

_log = logging.getLogger(__name__)

LEAST_PAUSE_SECONDS = 60.0
RETRY_SECONDS = 10.0
REQUEST_SECONDS = 10.0
_OK = range(200, 300)


class Heartbeat:
    """Asks for the address after each good scan, and for the address with /fail after a bad one.

    Args:
        url: Of the switch; None for none.
        context: Returns the daemon's.
        find_hang: Returns which scan hangs; None when all is well.
        ask: Asks for an address; returns what is wrong, "" when it was taken.
    """

    def __init__(
        self,
        url: SecretStr | None,
        context: Callable[[], Context],
        find_hang: Callable[[], str | None],
        ask: Callable[[str], str] | None = None,
    ) -> None:
        self._url = url
        self._context = context
        self._find_hang = find_hang
        self._ask = ask or ask_switch
        self._news = threading.Event()
        self._stopped = False
        self._problem = ""
        self._tried_at = float("-inf")
        self._was_good = True

    def start(self) -> None:
        """Start the thread, where there is an address."""
        if self._url is not None:
            threading.Thread(target=self._run, name="heartbeat", daemon=True).start()

    def wake(self) -> None:
        """Tell that a diagnosis has ended."""
        self._news.set()

    def stop(self) -> None:
        """Ping no more."""
        self._stopped = True
        self._news.set()

    def _run(self) -> None:
        while True:
            self._news.wait()
            self._news.clear()
            if self._stopped:
                return
            with self._context().errors.contained("pinging the heartbeat's address"):
                self.beat()

    def beat(self) -> None:
        """Ping if it is time: at most once a minute, but at once when a scan is bad for the first time."""
        if self._url is None:
            return
        context = self._context()
        is_good = self._is_good(context)
        pause = RETRY_SECONDS if self._problem else LEAST_PAUSE_SECONDS
        is_news = self._was_good and not is_good
        if not is_news and context.monotonic() - self._tried_at < pause:
            return
        self._tried_at, self._was_good = context.monotonic(), is_good
        url = self._url.get_secret_value()
        self._note(self._ask(url if is_good else failing_address(url)))

    def _is_good(self, context: Context) -> bool:
        is_failed = any(status.success is False for status in context.scans.statuses.values())
        return not is_failed and self._find_hang() is None

    def _note(self, problem: str) -> None:
        """Say once that pings do not arrive, and that they do again."""
        if problem and problem != self._problem:
            _log.warning("the heartbeat does not arrive at its address: %s", problem)
        elif self._problem and not problem:
            _log.info("the heartbeat arrives again")
        self._problem = problem


def failing_address(url: str) -> str:
    """Return the address that tells of a failure: /fail behind the path, as healthchecks.io has it."""
    parts = urlsplit(url)
    return parts._replace(path=f"{parts.path.rstrip('/')}/fail").geturl()


def ask_switch(url: str) -> str:
    """Ask for an address, without proxies and redirects; return what is wrong, without its host or path."""
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        tls = ssl.create_default_context() if parts.scheme == "https" else None
        with BoundedConnection(parts.hostname or "", parts.port, REQUEST_SECONDS, tls) as connection:
            connection.request("GET", target, headers={"User-Agent": "bcon-exporter", "Connection": "close"})
            status = connection.getresponse().status
    except (OSError, http.client.HTTPException, ValueError) as error:
        return describe(error)
    return "" if status in _OK else f"HTTP status {status}"


def describe(error: Exception) -> str:
    """Return what went wrong in fixed words: texts of libraries quote hosts and addresses."""
    match error:
        case TimeoutError():
            return "no answer in time"
        case ssl.SSLCertVerificationError():
            return "its certificate cannot be trusted"
        case ssl.SSLError():
            return "TLS does not come about"
        case ConnectionRefusedError():
            return "the connection is refused"
        case _:
            return type(error).__name__
