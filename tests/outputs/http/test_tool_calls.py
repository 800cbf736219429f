"""Identical requests of one moment are one call in one thread; each stands in the ledger."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.errors import ErrorCode, RateLimitedError
from bcon_exporter.model.tool_inputs import Words
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.outputs.http.tool_calls import ToolCalls
from bcon_exporter.outputs.http.tool_routes import ToolCaller
from tests.factories import container, snapshot
from tests.tools.hosts import Ledger, ScriptedHost, context_of

if TYPE_CHECKING:
    from bcon_exporter.tools import Envelope


@pytest.mark.promise("S4")
def test_a_thousand_identical_requests_are_one_call_in_one_thread() -> None:
    host, ledger = ScriptedHost(snapshot(container())), Ledger()
    context = context_of(host=host, memory=ledger)

    async def storm() -> list[bytes]:
        calls = ToolCalls(lambda: context, RequestThreads(limit=1))
        envelopes = await asyncio.gather(*(calls.call("diagnose_all", {}) for _ in range(1000)))
        while len(ledger.entries) < 1000:
            await asyncio.sleep(0)
        return [envelope.body for envelope in envelopes]

    bodies = asyncio.run(asyncio.wait_for(storm(), 30))

    assert len(bodies) == 1000
    assert len(set(bodies)) == 1
    assert len(host.wants) == 1
    assert sum(entry.cached for entry in ledger.entries) == 999


def test_other_input_is_another_call() -> None:
    host = ScriptedHost(snapshot(container()))
    context = context_of(host=host)

    async def both() -> None:
        calls = ToolCalls(lambda: context, RequestThreads())
        await asyncio.gather(*(calls.call("diagnose_all", {"include_healthy": value}) for value in (True, False)))

    asyncio.run(both())

    assert len(host.wants) == 2


def test_a_query_and_a_body_of_the_same_text_are_two_calls() -> None:
    """Text is a number in a query, and a mistake in a body."""

    async def both() -> list[Envelope]:
        calls = ToolCalls(context_of, RequestThreads())
        payload = {"container_id": "api", "log_tail": "5"}
        return await asyncio.gather(*(calls.call("diagnose_container", each) for each in (payload, Words(payload))))

    body, query = asyncio.run(both())

    assert body.code is ErrorCode.INVALID_INPUT
    assert query.error is None


def wait_for(release: threading.Event) -> None:
    assert release.wait(10)


def test_a_client_that_goes_away_takes_nobody_elses_answer_with_it() -> None:
    release = threading.Event()
    context = context_of(host=ScriptedHost(snapshot(container()), lambda: wait_for(release)))

    async def leave() -> bool:
        calls = ToolCalls(lambda: context, RequestThreads())
        first, second = (asyncio.create_task(calls.call("diagnose_all", {})) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        release.set()
        return (await second).error is None

    assert asyncio.run(leave())


@pytest.mark.promise("S4")
def test_without_a_free_thread_it_is_refused() -> None:
    context = context_of()

    async def call() -> None:
        await ToolCalls(lambda: context, RequestThreads(limit=0)).call("diagnose_all", {})

    with pytest.raises(RateLimitedError):
        asyncio.run(call())


def test_a_call_that_takes_too_long_is_answered_in_time_with_an_error_that_says_so() -> None:
    release = threading.Event()
    context = context_of(host=ScriptedHost(snapshot(container()), lambda: wait_for(release)))
    caller = ToolCaller(lambda: context, RequestThreads(), lambda *_: 0.2)
    answers = [asyncio.run(caller.call("diagnose_all", {}, expression)) for expression in (None, "reports")]
    release.set()
    for answer in answers:
        error = json.loads(bytes(answer.body))["error"]
        assert (answer.status_code, error["code"]) == (504, "timeout")
        assert error["message"] == "diagnose_all takes longer than 0.2 s; ask for less, or try again in a minute"
