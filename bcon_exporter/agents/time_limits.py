"""Frees who has waited too long for a tool. The call itself ends at the deadlines of what it asks."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Any

from bcon_exporter.errors import DeadlineExceededError, InvalidInputError
from bcon_exporter.tools import Envelope, Tool
from bcon_exporter.tools.envelope import failure
from bcon_exporter.tools.registry import parse_input


async def call_within(tool: Tool[Any], call: Awaitable[Envelope], seconds: float | None = None) -> Envelope:
    """Return a call's answer, or `timeout` when the tool's time is over; the call is cancelled then.

    Args:
        tool: The tool that is called.
        call: Its call.
        seconds: Another time than the tool's own.
    """
    seconds = tool.timeout_seconds if seconds is None else seconds
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await call
    except TimeoutError:
        if not limit.expired():
            raise
        return took_too_long(tool, seconds)


def find_seconds(tool: Tool[Any], payload: object, now: datetime) -> float:
    """Return how long a call may take where nothing goes on after it: a watch is waited for until its end."""
    try:
        request = parse_input(tool, payload, now)
    except InvalidInputError:
        return tool.timeout_seconds
    return tool.timeout_seconds + tool.find_own_seconds(request)


def run_within(tool: Tool[Any], seconds: float, call: Callable[[], Envelope]) -> Envelope:
    """Return a call's answer, or `timeout` when its time is over; the call goes on in its thread then.

    Args:
        tool: The tool that is called.
        seconds: Its time.
        call: Calls it; it does not raise, as `call_tool` does not.
    """
    answers: SimpleQueue[Envelope] = SimpleQueue()
    threading.Thread(target=lambda: answers.put(call()), name="tool call", daemon=True).start()
    try:
        return answers.get(timeout=seconds)
    except Empty:
        return took_too_long(tool, seconds)


def took_too_long(tool: Tool[Any], seconds: float) -> Envelope:
    """Return the answer to who has waited too long."""
    msg = f"{tool.name} takes longer than {seconds:g} s; ask for less, or try again in a minute"
    return failure(DeadlineExceededError(msg, {"tool": tool.name, "timeout_seconds": seconds}))
