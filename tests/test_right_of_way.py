"""Who answers goes first, and who scans still gets through."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import TYPE_CHECKING

from bcon_exporter import right_of_way
from bcon_exporter.right_of_way import AnsweringSelector, RightOfWay
from tests.waiting import wait_until

if TYPE_CHECKING:
    import pytest

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

    thread = threading.Thread(target=_scan, args=(way,), daemon=True)
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


def test_a_scan_waits_for_a_request_that_nobody_has_taken_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(right_of_way, "LONGEST_WAIT_SECONDS", 60.0)
    monkeypatch.setattr(right_of_way, "_LOOK_SECONDS", 0.0)  # the second look comes at once
    way = RightOfWay()
    client, server = socket.socketpair()
    with client, server:
        way.watch(server.fileno())
        way.let_pass()  # nothing has come
        client.send(b"x")
        scan = threading.Thread(target=_scan, args=(way,), daemon=True)
        wait_until(lambda: way.is_called, "the request to come")
        scan.start()
        scan.join(0.2)
        assert scan.is_alive()
        server.recv(1)
        way.take()
        way.give_back()
        scan.join(10)
        assert not scan.is_alive()


def test_a_scan_waits_no_longer_where_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(right_of_way, "LONGEST_WAIT_SECONDS", 0.01)
    way = RightOfWay()
    client, server = socket.socketpair()
    with client, server:
        client.send(b"x")
        way.watch(server.fileno())
        _scan(way)
        assert way.is_called


def test_a_scan_rests_where_requests_may_come_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []
    monkeypatch.setattr("bcon_exporter.right_of_way.time.sleep", rests.append)
    monkeypatch.setattr(right_of_way, "WORK_SECONDS", 60.0)
    way = RightOfWay()
    client, server = socket.socketpair()
    with client, server:
        _scan(way)
        assert rests == []
        way.watch(server.fileno())
        _scan(way)
        assert rests == [right_of_way.REST_SECONDS]


def test_a_scan_that_takes_long_rests_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    rests: list[float] = []
    monkeypatch.setattr("bcon_exporter.right_of_way.time.sleep", rests.append)
    monkeypatch.setattr(right_of_way, "monotonic", lambda: clock[0])
    way = RightOfWay()
    client, server = socket.socketpair()
    with client, server:
        way.watch(server.fileno())
        for _ in range(300):
            way.let_pass()
            clock[0] += 0.01
        in_first_second = len(rests)
        assert 90 <= in_first_second <= 110
        clock[0] += 1
        way.let_pass()
        assert len(rests) == in_first_second + 1  # the next scan begins calmly again


def test_a_closed_loop_calls_nobody() -> None:
    way = RightOfWay()
    selector = AnsweringSelector(way)
    selector.close()

    assert not way.is_called
    way.let_pass()


def _scan(way: RightOfWay) -> None:
    for _ in range(CONTAINERS):
        way.let_pass()
