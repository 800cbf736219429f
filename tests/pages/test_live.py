"""Streams: told of each scan, limited, ended when nobody may listen any more, and never in the way of others."""

from __future__ import annotations

import http.client
import json
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.errors import DockerConnectionError
from bcon_exporter.model.container_facts import HealthStatus
from bcon_exporter.outputs.http.rate_limits import STREAMS_PER_CLIENT
from tests.factories import ago, container, health, line
from tests.outputs.http.asking import users
from tests.pages.stage import Printing, publish, serve, stage_context, well
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.pages.stage import Served

WELL = well("shop", "web", "db")
HOSTILE = "<script>alert(1)</script> \u202e \u2028 ERROR"


@pytest.fixture
def served() -> Iterator[Served]:
    with serve(stage_context(WELL)) as site:
        yield site


class Client:
    """One client that asks for one thing, and may listen."""

    def __init__(self, served: Served, path: str = "/live", method: str = "GET") -> None:
        self.connection = http.client.HTTPConnection(served.url.removeprefix("http://"), timeout=10)
        self.connection.request(method, path)
        self.answer = self.connection.getresponse()

    def __enter__(self) -> Client:
        """Nothing to do."""
        return self

    def __exit__(self, *_: object) -> None:
        """Hang up."""
        self.answer.close()
        self.connection.close()

    def next_event(self, name: str = "scan") -> dict[str, Any]:
        """The next event."""
        lines: list[str] = []
        while len(lines) < 2:
            line = self.answer.readline().decode()
            assert line, "the stream has ended"
            lines += [line.rstrip()] if line.strip() and not line.startswith(":") else []
        assert lines[0] == f"event: {name}"
        found: dict[str, Any] = json.loads(lines[1].removeprefix("data: "))
        return found


def test_a_stream_tells_how_the_host_is_and_then_what_has_changed(served: Served) -> None:
    with Client(served) as client:
        first = client.next_event()
        sick = container(name="shop-web-1", compose=WELL[0].compose, health=health(HealthStatus.UNHEALTHY))
        publish(served.context, (WELL[1], sick, *well("blog", "ghost")))
        served.site.live.wake()
        second = client.next_event()

        assert client.answer.getheader("content-type") == "text/event-stream; charset=utf-8"
        assert client.answer.getheader("cache-control") == "no-store"
    assert (first["tone"], first["changed"]) == ("good", [])
    assert first["parts"][0].startswith("Both containers are well")
    assert (second["tone"], second["changed"]) == ("bad", ["blog-ghost-1", "shop-web-1"])
    assert second["state"] != first["state"]


def test_a_client_has_so_many_streams_and_requests_go_on(served: Served) -> None:
    with ExitStack() as stack:
        for _ in range(STREAMS_PER_CLIENT):
            assert stack.enter_context(Client(served)).next_event()["changed"] == []
        one_too_many = stack.enter_context(Client(served))
        page = stack.enter_context(Client(served, "/"))

        assert one_too_many.answer.status == 429
        assert page.answer.status == 200


def test_a_stream_that_its_client_has_left_gives_its_place_back(served: Served) -> None:
    def is_admitted() -> bool:
        with Client(served) as client:
            return client.answer.status == 200

    for _ in range(STREAMS_PER_CLIENT + 5):
        wait_until(is_admitted, "a place")


def test_a_stream_ends_when_the_users_are_reloaded(served: Served) -> None:
    with Client(served) as client:
        client.next_event()
        served.users[0] = users(me="right horse")
        served.site.live.wake()

        assert client.answer.read().strip() == b""
    with Client(served) as client:
        assert client.answer.status == 401


def test_a_stream_ends_when_the_daemon_stops(served: Served) -> None:
    with Client(served) as client:
        client.next_event()
        served.site.live.close()

        assert client.answer.read().strip() == b""


def test_a_question_for_the_headers_of_a_stream_is_answered_at_once(served: Served) -> None:
    with Client(served, method="HEAD") as client:
        assert (client.answer.status, client.answer.read()) == (200, b"")


def test_where_connections_run_out_a_stream_makes_room() -> None:
    with serve(stage_context(WELL), open_files=8) as served, ExitStack() as stack:
        streams = [stack.enter_context(Client(served)) for _ in range(2)]
        for stream in streams:
            stream.next_event()
        page = stack.enter_context(Client(served, "/"))

        assert page.answer.status == 200
        with pytest.raises(http.client.IncompleteRead):
            streams[0].answer.read()


@pytest.fixture
def printing() -> Iterator[tuple[Served, Printing]]:
    context = stage_context(WELL)
    host = Printing(context)
    with serve(replace(context, host=host)) as site:
        yield site, host


def test_a_tail_tells_the_newest_lines_and_then_each_new_one(printing: tuple[Served, Printing]) -> None:
    served, host = printing
    with Client(served, "/tail/shop-web-1") as client:
        first = client.next_event("lines")
        host.lines.append(line(HOSTILE, at=ago(1)))
        second = client.next_event("lines")

        assert client.answer.getheader("content-type") == "text/event-stream; charset=utf-8"
        assert client.answer.getheader("cache-control") == "no-store"
    assert first == {"lines": [["11:59:51", "info", "INFO: ready"]], "first": True, "gap": False}
    assert [words for _, _, words in second["lines"]] == [HOSTILE]
    assert not second["first"]


def test_a_tail_ends_with_the_reason_when_the_log_cannot_be_read_any_more(printing: tuple[Served, Printing]) -> None:
    served, host = printing
    with Client(served, "/tail/shop-web-1") as client:
        client.next_event("lines")
        host.error = DockerConnectionError("the engine does not answer", {})

        assert client.next_event("end") == {"message": "the engine does not answer"}
        assert client.answer.read().strip() == b""
    with Client(served, "/tail/shop-web-1") as client:
        assert client.answer.status == 503


@pytest.mark.parametrize("reason", ["users", "daemon"])
def test_a_tail_ends_with_its_user_and_with_the_daemon(printing: tuple[Served, Printing], reason: str) -> None:
    served, _ = printing
    with Client(served, "/tail/shop-web-1") as client:
        client.next_event("lines")
        if reason == "users":
            served.users[0] = users(me="right horse")
        else:
            served.site.live.close()

        assert client.answer.read().strip() == b""


def test_tails_count_among_the_streams_of_a_client(printing: tuple[Served, Printing]) -> None:
    served, _ = printing
    with ExitStack() as stack:
        for number in range(STREAMS_PER_CLIENT):
            path = "/tail/shop-web-1" if number % 2 else "/live"
            assert stack.enter_context(Client(served, path)).answer.status == 200
        assert stack.enter_context(Client(served, "/tail/shop-web-1")).answer.status == 429
        assert stack.enter_context(Client(served, "/c/shop-web-1")).answer.status == 200


def test_there_is_no_tail_of_what_is_not_there_and_none_is_posted(printing: tuple[Served, Printing]) -> None:
    served, _ = printing
    for path, method, status in (("/tail/nobody", "GET", 404), ("/tail/", "GET", 404), ("/tail/a/b", "GET", 400), ("/tail/shop-web-1", "POST", 405)):  # fmt: skip
        with Client(served, path, method) as client:
            assert client.answer.status == status, path
    with Client(served, "/tail/shop-web-1", "HEAD") as client:
        assert (client.answer.status, client.answer.read()) == (200, b"")
