"""Calls tools for requests, each in a thread; identical requests at the same time share one call."""

import asyncio
import json
from collections.abc import Callable

from bcon_exporter.model.tool_inputs import Words
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.tools import Context, Envelope, call_tool, record_shared

Key = tuple[str, bool, str]


class ToolCalls:
    """Shares calls in the event loop: a thousand identical requests take one thread, and ask the engine once.

    `SingleFlight` shares calls too, but each caller waits in a thread of its own.
    """

    def __init__(self, context: Callable[[], Context], threads: RequestThreads) -> None:
        self._context = context
        self._threads = threads
        self._running: dict[Key, asyncio.Task[Envelope]] = {}
        self._waiting: dict[Key, int] = {}
        self._recording: set[asyncio.Task[None]] = set()

    async def call(self, name: str, payload: object) -> Envelope:
        """Return a tool's answer.

        Raises:
            RateLimitedError: All threads are taken.
        """
        key = (name, isinstance(payload, Words), json.dumps(payload, sort_keys=True, default=str))
        task = self._running.get(key)
        if task is None:
            task = asyncio.create_task(self._lead(key, name, payload))
            self._running[key] = task
        else:
            self._waiting[key] = self._waiting.get(key, 0) + 1
        return await asyncio.shield(task)  # a client that hangs up cancels only its own wait

    async def _lead(self, key: Key, name: str, payload: object) -> Envelope:
        context = self._context()
        started = context.monotonic()
        try:
            envelope = await self._threads.run(lambda: call_tool(context, name, payload))
        finally:
            del self._running[key]
            waited = self._waiting.pop(key, 0)
        if waited:
            seconds = context.monotonic() - started
            self._record(lambda: record_shared(context, name, payload, envelope, seconds, waited))
        return envelope

    def _record(self, work: Callable[[], None]) -> None:
        """Write the cost ledger after the answers were sent."""
        recording = asyncio.create_task(self._threads.run(work))
        self._recording.add(recording)
        recording.add_done_callback(self._forget)

    def _forget(self, recording: asyncio.Task[None]) -> None:
        """Ignore errors: a busy exporter may leave calls out of the ledger."""
        self._recording.discard(recording)
        if not recording.cancelled():
            recording.exception()
