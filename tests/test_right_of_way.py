"""Who answers goes first, and who scans still gets through."""

from __future__ import annotations

import asyncio
import socket
import threading

from bcon_exporter.right_of_way import AnsweringSelector, RightOfWay
from tests.waiting import wait_until

CONTAINERS = 50


def test_a_scan_does_not_wait_when_nothing_is_answered() -> None:
    way = RightOfWay()

    way.let_pass()

    assert not way.is_taken


def test_a_scan_goes_on_once_the_answer_is_given() -> None:
    way = RightOfWay()
    way.take()
    way.give_back()

    way.let_pass()

    assert not way.is_taken


def test_a_scan_gets_through_a_flood_of_requests() -> None:
    way = RightOfWay()
    way.take()

    def scan() -> None:
        for _ in range(CONTAINERS):
            way.let_pass()

    thread = threading.Thread(target=scan, daemon=True)
    thread.start()
    thread.join(10)

    assert not thread.is_alive()
    assert way.is_taken


def test_the_event_loop_has_the_right_of_way_while_it_answers_and_not_while_it_sleeps() -> None:
    way = RightOfWay()
    seen: list[bool] = []
    client, server = socket.socketpair()

    async def answer() -> None:
        loop = asyncio.get_running_loop()
        reader, writer = await asyncio.open_connection(sock=server)
        await reader.readexactly(1)
        seen.append(way.is_taken)
        await loop.run_in_executor(None, lambda: wait_until(lambda: not way.is_taken, "the loop to sleep"))
        seen.append(way.is_taken)
        writer.close()

    with client, asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(AnsweringSelector(way))) as runner:
        client.send(b"x")
        runner.run(answer())

    assert seen[0] is True
    assert len(seen) == 2
