"""A request that gets no thread is refused, and its place is free again."""

import asyncio
import threading

import pytest

from bcon_exporter.errors import RateLimitedError
from bcon_exporter.outputs.http.request_threads import RequestThreads


def test_a_machine_without_threads_refuses_and_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start
    refusals = iter(range(3))

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "request" and next(refusals, None) is not None:
            msg = "can't start new thread"
            raise RuntimeError(msg)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)

    async def ask() -> int:
        threads = RequestThreads(limit=1)
        for _ in range(3):
            with pytest.raises(RateLimitedError, match="no thread is left"):
                await threads.run(lambda: 1)
        return await threads.run(lambda: 2)

    assert asyncio.run(ask()) == 2
