"""Runs blocking work of requests in daemon threads, so that a call which hangs does not delay the exit."""

import asyncio
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from bcon_exporter.errors import RateLimitedError

T = TypeVar("T")


class RequestThreads:
    """At most `limit` threads; further requests are refused at once instead of queued."""

    def __init__(self, limit: int = 128) -> None:
        self._limit = limit
        self._running = 0

    async def run(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, or raise what it raises.

        Raises:
            RateLimitedError: All threads are taken, or the machine gives no more.
        """
        if self._running >= self._limit:
            msg = f"{self._limit} requests are being worked on; try again in a few seconds"
            raise RateLimitedError(msg, {"max_running": self._limit})
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._running += 1
        try:
            of_caller: Callable[[], T] = partial(copy_context().run, work)
            threading.Thread(target=self._work, args=(loop, future, of_caller), name="request", daemon=True).start()
        except RuntimeError as error:  # the process may start no more threads
            self._running -= 1
            msg = "no thread is left to work on the request; try again in a few seconds"
            raise RateLimitedError(msg, {"max_running": self._limit}) from error
        return await future

    def _work(self, loop: asyncio.AbstractEventLoop, future: "asyncio.Future[T]", work: Callable[[], T]) -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 -- handed on to the request, which is the boundary
            self._hand_over(loop, lambda error=error: self._fail(future, error))  # type: ignore[misc]  # a bound default
        else:
            self._hand_over(loop, lambda: self._succeed(future, result))

    def _hand_over(self, loop: asyncio.AbstractEventLoop, action: Callable[[], None]) -> None:
        try:
            loop.call_soon_threadsafe(action)
        except RuntimeError:  # the loop is closed: the process ends
            return

    def _succeed(self, future: "asyncio.Future[T]", result: T) -> None:
        self._running -= 1
        if not future.done():
            future.set_result(result)

    def _fail(self, future: "asyncio.Future[T]", error: BaseException) -> None:
        self._running -= 1
        if not future.done():
            future.set_exception(error)


class RenderedOnce:
    """A document that never changes, rendered in a thread at its first request."""

    def __init__(self, render: Callable[[], bytes], threads: RequestThreads) -> None:
        self._render = render
        self._threads = threads
        self._rendering = asyncio.Lock()
        self._document = b""

    async def read(self) -> bytes:
        """Return the document; requests that come while it is rendered wait."""
        async with self._rendering:
            self._document = self._document or await self._threads.run(self._render)
        return self._document
