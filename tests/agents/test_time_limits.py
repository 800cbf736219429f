"""Promise: an agent waits for a tool as long as the tool says, and is told then; who asks next is served."""

import asyncio
import re
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bcon_exporter.agents.time_limits import call_within, find_seconds, run_within
from bcon_exporter.errors import ErrorCode
from bcon_exporter.tools import TOOLS, Envelope, Tool, call_tool, find_tool
from tests.factories import NOON, container, snapshot
from tests.tools.hosts import ScriptedHost, context_of


def limited(seconds: float) -> Tool[Any]:
    return replace(find_tool("diagnose_all"), timeout_seconds=seconds)


def test_a_call_in_the_event_loop_that_takes_too_long_is_cancelled_and_told() -> None:
    ends: list[str] = []

    async def hang() -> Envelope:
        try:
            await asyncio.Event().wait()
        finally:
            ends.append("cancelled")
        raise AssertionError

    envelope = asyncio.run(call_within(limited(0.01), hang()))
    assert envelope.code is ErrorCode.TIMEOUT
    assert envelope.data()["error"]["details"] == {"tool": "diagnose_all", "timeout_seconds": 0.01}
    assert ends == ["cancelled"]


def test_a_call_in_the_event_loop_that_ends_in_time_answers() -> None:
    context = context_of()

    async def call() -> Envelope:
        return call_tool(context, "diagnose_all", {})

    assert asyncio.run(call_within(limited(30), call())).error is None


def test_an_error_of_the_call_itself_is_not_taken_for_the_tools_time() -> None:
    async def fail() -> Envelope:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        asyncio.run(call_within(limited(30), fail()))


def test_a_call_in_a_thread_that_takes_too_long_frees_the_caller_and_goes_on() -> None:
    release, ended = threading.Event(), threading.Event()
    host = ScriptedHost(snapshot(container()), lambda: None if release.wait(30) else pytest.fail("never released"))
    context = context_of(host=host)

    def call() -> Envelope:
        try:
            return call_tool(context, "diagnose_all", {})
        finally:
            ended.set()

    envelope = run_within(limited(30), 0.01, call)
    assert envelope.code is ErrorCode.TIMEOUT
    assert envelope.data()["error"]["details"]["timeout_seconds"] == 0.01
    assert not ended.is_set()
    release.set()
    assert ended.wait(30)


def test_the_documentation_names_the_tools_that_take_longer() -> None:
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
    said = re.search(r"waits for a tool 30 seconds \(240 for (.*?), since", page)
    longer = {tool.name: tool.timeout_seconds for tool in TOOLS if tool.timeout_seconds != 30}
    assert said is not None
    assert dict.fromkeys(re.findall(r"`(\w+)`", said[1]), 240) == longer


def test_a_call_in_a_thread_that_ends_in_time_answers() -> None:
    context = context_of()
    assert run_within(limited(30), 30, lambda: call_tool(context, "diagnose_all", {})).error is None


@pytest.mark.parametrize(
    ("payload", "seconds"),
    [
        ({"task": "watch", "project": "shop", "for": "20m"}, 1230),
        ({"task": "watch", "project": "shop", "for": None}, 330),
        ({"task": "drift", "for": "20m"}, 30),
        ({"task": "watch", "for": "no time"}, 30),
    ],
)
def test_a_watch_that_goes_on_nowhere_is_waited_for_until_its_end(payload: dict[str, object], seconds: float) -> None:
    assert find_seconds(find_tool("schedule_task"), payload, NOON) == seconds
