"""Limits connections, in all and of one address, TLS handshakes included."""

import ipaddress
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

CONNECTIONS_MAX = 256
"""A connection takes up to 60 KiB of memory while it idles over TLS, and 200 KiB during a request."""
_HELD_BYTES_MAX = 32 * 1024 * 1024
_READ_BYTES = 16 * 1024


def client_of(address: str) -> str:
    """Return the client that limits count: an IPv4 address, or the network of an IPv6 address that a customer gets."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    return str(ip.ipv4_mapped or ipaddress.ip_network((ip, 64), strict=False))


class Place:
    """The place of one accepted connection, until it is lost.

    A connection either waits for its client (for a handshake, a request, the reading of an answer), or is worked for.
    """

    def __init__(self, connections: "Connections", connection: socket.socket, client: str) -> None:
        self.client = client
        self.held_bytes = 0
        self._connections = connections
        self._socket = connection

    @property
    def read_buffer(self) -> memoryview:
        """The buffer for received bytes, which all connections share: each piece is copied before the next comes."""
        return self._connections.read_buffer

    def wait(self) -> None:
        """Note that it waits for its client: its place may be given to another."""
        self._connections.note_waiting(self)

    def work(self) -> None:
        """Note that it is worked for: it keeps its place."""
        self._connections.note_working(self)

    def hold(self, number: int) -> None:
        """Note the bytes of its answer that are not read yet."""
        self._connections.note_held(self, number)

    def leave(self) -> None:
        """Give up the place: the connection is lost."""
        self._connections.remove(self)

    def disconnect(self) -> None:
        """End the connection in any state; asyncio notices and closes it."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


class Connections:
    """The places of all listeners.

    Where none is left, the connection that has waited longest for its client is ended for a new one. A client that
    asks at once is hardly ever hit, so nobody keeps others out by merely holding connections. One address may have half
    of all places; its own connections make room for each other.

    Args:
        open_files_max: Descriptors that the process may have; connections take half of them.
    """

    def __init__(self, open_files_max: int = 2 * CONNECTIONS_MAX) -> None:
        self.most = max(2, min(CONNECTIONS_MAX, open_files_max // 2))
        self.most_per_client = self.most // 2
        self.read_buffer = memoryview(bytearray(_READ_BYTES))
        self._places: dict[Place, None] = {}
        self._waiting: dict[Place, None] = {}
        self._clients: Counter[str] = Counter()
        self._held_bytes = 0

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._places)

    def admit(self, connection: socket.socket, address: str) -> Place | None:
        """Return a place for an accepted connection; None where all connections are being worked for."""
        client = client_of(address)
        if self._clients[client] >= self.most_per_client:
            has_room = self._end_oldest(lambda place: place.client == client)
        else:
            has_room = len(self._places) < self.most or self._end_oldest(lambda _: True)
        if not has_room:
            return None
        place = Place(self, connection, client)
        self._places[place] = self._waiting[place] = None
        self._clients[client] += 1
        return place

    def note_waiting(self, place: Place) -> None:
        """See `Place.wait`; a place that waits already keeps its turn."""
        if place in self._places:
            self._waiting.setdefault(place)

    def note_working(self, place: Place) -> None:
        """See `Place.work`."""
        self._waiting.pop(place, None)

    def note_held(self, place: Place, number: int) -> None:
        """See `Place.hold`; above the limit the answer that has waited longest for its reader is dropped."""
        if place not in self._places:
            return
        self._held_bytes += number - place.held_bytes
        place.held_bytes = number
        while self._held_bytes > _HELD_BYTES_MAX:
            if not self._end_oldest(lambda other: other.held_bytes > 0 and other is not place):
                break

    def remove(self, place: Place) -> None:
        """Free the place; a second call does nothing."""
        if place not in self._places:
            return
        del self._places[place]
        self._waiting.pop(place, None)
        self._held_bytes -= place.held_bytes
        self._clients[place.client] -= 1
        if not self._clients[place.client]:
            del self._clients[place.client]

    def _end_oldest(self, is_eligible: Callable[[Place], bool]) -> bool:
        """End the eligible connection that has waited longest for its client; return False if there is none."""
        oldest = next((place for place in self._waiting if is_eligible(place)), None)
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.disconnect()
        return True
