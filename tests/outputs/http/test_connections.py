"""Connections are bounded, in all and by address, and who only holds one makes room for who asks."""

from __future__ import annotations

import socket
from contextlib import ExitStack

import pytest

from bcon_exporter.outputs.http import Connections
from bcon_exporter.outputs.http.connections import CONNECTIONS_MAX, Place, client_of


class Links:
    """Pairs of connected sockets, the server's side given a place."""

    def __init__(self, connections: Connections, stack: ExitStack) -> None:
        self._connections = connections
        self._stack = stack

    def connect(self, address: str) -> tuple[socket.socket, Place | None]:
        """The client's side and the place."""
        ours, theirs = (self._stack.enter_context(one) for one in socket.socketpair())
        theirs.setblocking(False)
        return theirs, self._connections.admit(ours, address)


def is_ended(link: socket.socket) -> bool:
    """Whether the server has ended the connection."""
    try:
        return link.recv(1) == b""
    except BlockingIOError:
        return False


@pytest.mark.parametrize("files", [20, 10_000])
def test_there_are_half_as_many_as_descriptors_and_never_more_than_the_most(files: int) -> None:
    assert Connections(files).most == (10 if files == 20 else CONNECTIONS_MAX)


def test_one_address_has_half_of_the_places_and_makes_room_for_itself_only() -> None:
    connections = Connections(40)
    with ExitStack() as stack:
        links = Links(connections, stack)
        other, _ = links.connect("10.0.0.2")
        mine = [links.connect("10.0.0.1")[0] for _ in range(11)]

        assert len(connections) == 11
        assert [is_ended(link) for link in mine] == [True] + 10 * [False]
        assert not is_ended(other)


def test_who_has_waited_longest_makes_room_and_who_is_worked_for_stays() -> None:
    connections = Connections(8)
    with ExitStack() as stack:
        links = Links(connections, stack)
        held = [links.connect(f"10.0.0.{number}") for number in range(4)]
        first, second = held[0][1], held[1][1]
        assert first is not None
        assert second is not None
        first.work()
        second.work()
        second.wait()  # answered: it waits since now

        links.connect("10.0.1.1")
        assert [is_ended(link) for link, _ in held] == [False, False, True, False]


def test_where_everybody_is_worked_for_a_new_one_is_refused() -> None:
    connections = Connections(4)
    with ExitStack() as stack:
        links = Links(connections, stack)
        for number in range(2):
            place = links.connect(f"10.0.0.{number}")[1]
            assert place is not None
            place.work()

        assert links.connect("10.0.1.1")[1] is None
        assert len(connections) == 2


def test_a_place_is_given_free_once() -> None:
    connections = Connections(4)
    with ExitStack() as stack:
        links = Links(connections, stack)
        place = links.connect("10.0.0.1")[1]
        assert place is not None
        place.leave()
        place.leave()
        place.wait()
        place.hold(10)

        assert len(connections) == 0
        assert all(links.connect(f"10.0.0.{number}")[1] for number in range(2))


def test_unread_answers_hold_so_much_memory_in_all_and_the_slowest_reader_loses_its_own() -> None:
    connections = Connections()
    with ExitStack() as stack:
        links = Links(connections, stack)
        held = [links.connect("10.0.0.1") for _ in range(5)]
        for _, place in held:
            assert place is not None
            place.hold(10 * 1024 * 1024)

        assert [is_ended(link) for link, _ in held] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", ""),
    ],
)
def test_clients_are_counted_by_address_or_network(address: str, client: str) -> None:
    assert client_of(address) == client
