"""Rate limits for requests and passwords: token buckets, and limits on how many run at once."""

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bcon_exporter import clock
from bcon_exporter.errors import RateLimitedError
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.outputs.http.users import Credentials, Users
from bcon_exporter.token_buckets import TokenBuckets

REQUESTS_AT_ONCE = 200
REQUESTS_PER_SECOND = 20.0
ALL_REQUESTS_AT_ONCE = 1000
ALL_REQUESTS_PER_SECOND = 200.0
"""A page with its parts takes about ten requests, a dashboard a few every few seconds."""
RUNNING_PER_CLIENT = 32
RUNNING_MAX = 64
"""Fewer than connections, so that a connection can always make room for a scrape."""
STREAMS_PER_CLIENT = 20
STREAMS_MAX = 60
"""Open pages that listen for news; their connections make room for others."""

WRONG_PASSWORDS_AT_ONCE = 10
WRONG_PASSWORDS_PER_SECOND = 0.2
_CHECKS_AT_ONCE = 2
_CHECKS_PER_CLIENT = 4
_CHECKS_MAX = 16


class TooManyRequestsError(RateLimitedError):
    """The client should try again later.

    Attributes:
        retry_after_seconds: After how long.
    """

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        self.retry_after_seconds = max(1, math.ceil(retry_after_seconds))
        super().__init__(message, {"retry_after_seconds": self.retry_after_seconds})


class Places:
    """So many at once of one client, and in all."""

    def __init__(self, per_client: int, in_all: int) -> None:
        self._per_client, self._in_all = per_client, in_all
        self._running: Counter[str] = Counter()

    @asynccontextmanager
    async def running(self, client: str) -> AsyncIterator[None]:
        """Hold a place.

        Raises:
            TooManyRequestsError: None is left.
        """
        if self._running[client] >= self._per_client or self._running.total() >= self._in_all:
            msg = "too many requests are being answered; try again in a few seconds"
            raise TooManyRequestsError(msg, 1)
        self._running[client] += 1
        try:
            yield
        finally:
            self._running[client] -= 1
            if not self._running[client]:
                del self._running[client]


class RequestLimits:
    """The limits of all requests but scrapes and probes, over all listeners."""

    def __init__(self, monotonic: Callable[[], float] = clock.monotonic) -> None:
        self._monotonic = monotonic
        self._clients = TokenBuckets(REQUESTS_AT_ONCE, REQUESTS_PER_SECOND)
        self._all = TokenBuckets(ALL_REQUESTS_AT_ONCE, ALL_REQUESTS_PER_SECOND)
        self._running = Places(RUNNING_PER_CLIENT, RUNNING_MAX)

    def count(self, client: str, *, is_user: bool) -> None:
        """Count a request. A user has tokens of their own, which no stranger can use up.

        Raises:
            TooManyRequestsError: It is one too many.
        """
        now = self._monotonic()
        wait = self._clients.take(client, now) or (0.0 if is_user else self._all.take("", now))
        if wait:
            msg = "too many requests; try again later"
            raise TooManyRequestsError(msg, wait)

    @asynccontextmanager
    async def running(self, client: str) -> AsyncIterator[None]:
        """Hold one of the places for requests that are being answered.

        Raises:
            TooManyRequestsError: None is left.
        """
        async with self._running.running(client):
            yield


class PasswordChecks:
    """Checks passwords, two at a time: each takes tens of milliseconds of CPU.

    An address with many wrong passwords has to wait, and only a few checks are queued. A pair that was good before
    needs no check, so attackers cannot lock out a user who is logged in.
    """

    def __init__(self, monotonic: Callable[[], float] = clock.monotonic) -> None:
        self._monotonic = monotonic
        self._threads = RequestThreads(limit=_CHECKS_MAX)
        self._turn = asyncio.Semaphore(_CHECKS_AT_ONCE)
        self._wrong = TokenBuckets(WRONG_PASSWORDS_AT_ONCE, WRONG_PASSWORDS_PER_SECOND)
        self._waiting: Counter[str] = Counter()

    async def check(self, users: Users, credentials: Credentials, client: str) -> bool:
        """Return whether the password is the user's.

        Raises:
            TooManyRequestsError: Too many were wrong, or too many checks are waiting.
        """
        if self._waiting[client] >= _CHECKS_PER_CLIENT or self._waiting.total() >= _CHECKS_MAX:
            msg = "too many passwords are being checked; try again in a few seconds"
            raise TooManyRequestsError(msg, 2)
        wait = self._wrong.take(client, self._monotonic())
        if wait:
            raise _too_many_wrong(wait)
        self._waiting[client] += 1
        try:
            async with self._turn:
                is_good = await self._threads.run(lambda: users.check(credentials))
        finally:
            self._waiting[client] -= 1
            if not self._waiting[client]:
                del self._waiting[client]
        if is_good:
            self._wrong.give_back(client, self._monotonic())
        return is_good

    def count_wrong(self, client: str) -> None:
        """Count a wrong token.

        Raises:
            TooManyRequestsError: It is one too many.
        """
        wait = self._wrong.take(client, self._monotonic())
        if wait:
            raise _too_many_wrong(wait)


def _too_many_wrong(wait: float) -> TooManyRequestsError:
    return TooManyRequestsError("too many wrong passwords or tokens; try again later", wait)


class RateLimits:
    """The limits that all listeners share."""

    def __init__(self) -> None:
        self.requests = RequestLimits()
        self.streams = Places(STREAMS_PER_CLIENT, STREAMS_MAX)
        self.passwords = PasswordChecks()
