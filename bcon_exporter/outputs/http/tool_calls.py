"""Calls tools for requests: in a thread each, save that identical requests of one moment wait for one call."""

import asyncio
import json
from collections.abc import Callable

from bcon_exporter.model.inputs import Words
from bcon_exporter.outputs.http.threads import RequestThreads
from bcon_exporter.tools import Context, Envelope, call_tool, record_shared

Key = tuple[str, bool, str]


class ToolCalls:
    """Runs in the event loop. A thousand identical requests are one thread and one look at the engine, not a thousand.

    The tools share runs themselves, but only among callers that have a thread to wait in.
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
        return await asyncio.shield(task)  # a client that goes away takes nobody else's answer with it

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
        """Write the ledger after the answers are on their way."""
        recording = asyncio.create_task(self._threads.run(work))
        self._recording.add(recording)
        recording.add_done_callback(self._forget)

    def _forget(self, recording: asyncio.Task[None]) -> None:
        """A ledger that misses some calls because the exporter is too busy is no reason to complain."""
        self._recording.discard(recording)
        if not recording.cancelled():
            recording.exception()
