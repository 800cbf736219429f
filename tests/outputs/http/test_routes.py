"""The API is made once, for the first request to it, and beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from bcon_exporter.errors import RateLimitedError
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.outputs.http.routes import ApiOnDemand
from tests.outputs.scenes import make_context

if TYPE_CHECKING:
    from collections.abc import Callable


class CountingThreads(RequestThreads):
    """Counts the work and the threads that did it."""

    def __init__(self, limit: int = 128) -> None:
        super().__init__(limit)
        self.done_by: list[threading.Thread] = []

    async def run(self, work: Callable[[], Any]) -> Any:
        def counted() -> Any:
            self.done_by.append(threading.current_thread())
            return work()

        return await super().run(counted)


async def ask_tools(api: ApiOnDemand, times: int) -> list[int]:
    transport = httpx.ASGITransport(app=api)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        answers = await asyncio.gather(*(client.get("/api/v1/tools") for _ in range(times)))
    return [answer.status_code for answer in answers]


def test_first_requests_at_once_make_one_api_and_one_list_in_a_thread_each() -> None:
    threads = CountingThreads()
    api = ApiOnDemand(make_context, threads)

    assert asyncio.run(ask_tools(api, 5)) == [200] * 5
    made, rendered = threads.done_by
    assert threading.main_thread() not in (made, rendered)


def test_an_api_that_could_not_be_made_is_made_for_the_next_request() -> None:
    threads = CountingThreads(limit=0)
    api = ApiOnDemand(make_context, threads)

    with pytest.raises(RateLimitedError):
        asyncio.run(ask_tools(api, 1))
    threads._limit = 1
    assert asyncio.run(ask_tools(api, 1)) == [200]
