"""Frees an agent that has waited too long for a tool. The call itself ends at the deadlines of what it asks."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from queue import Empty, SimpleQueue
from typing import Any

from bcon_exporter.errors import DeadlineExceededError
from bcon_exporter.tools import Envelope, Tool
from bcon_exporter.tools.envelope import failure


async def call_within(tool: Tool[Any], call: Awaitable[Envelope]) -> Envelope:
    """Return a call's answer, or `timeout` when the tool's time is over; the call is cancelled then."""
    limit = asyncio.timeout(tool.timeout_seconds)
    try:
        async with limit:
            return await call
    except TimeoutError:
        if not limit.expired():
            raise
        return took_too_long(tool)


def run_within(tool: Tool[Any], call: Callable[[], Envelope]) -> Envelope:
    """Return a call's answer, or `timeout` when the tool's time is over; the call goes on in its thread then.

    Args:
        tool: The tool that is called.
        call: Calls it; it does not raise, as `call_tool` does not.
    """
    answers: SimpleQueue[Envelope] = SimpleQueue()
    threading.Thread(target=lambda: answers.put(call()), name="tool call", daemon=True).start()
    try:
        return answers.get(timeout=tool.timeout_seconds)
    except Empty:
        return took_too_long(tool)


def took_too_long(tool: Tool[Any]) -> Envelope:
    """Return the answer to who has waited too long."""
    msg = f"{tool.name} takes longer than {tool.timeout_seconds:g} s; ask for less, or try again in a minute"
    return failure(DeadlineExceededError(msg, {"tool": tool.name, "timeout_seconds": tool.timeout_seconds}))
