"""Who may hold a connection: so many in all and from one address, TLS handshakes included."""

import gc
import ipaddress
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

CONNECTIONS_MAX = 256
"""One costs up to 60 KiB while nothing is asked over TLS, and 200 while a body and an answer are under way."""
_HELD_BYTES_MAX = 32 * 1024 * 1024
_COLLECT_AFTER = 1000
_READ_BYTES = 16 * 1024


def client_of(address: str) -> str:
    """Return what limits count by: an IPv4 address, or the network of an IPv6 address that one customer has."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    return str(ip.ipv4_mapped or ipaddress.ip_network((ip, 64), strict=False))


class Place:
    """One accepted connection's place, until it is lost.

    It waits for its client (a handshake, a request, the reading of an answer) or is worked for.
    """

    def __init__(self, connections: "Connections", connection: socket.socket, client: str) -> None:
        self.client = client
        self.held_bytes = 0
        self._connections = connections
        self._socket = connection

    @property
    def read_buffer(self) -> memoryview:
        """What is received goes here first; shared, since each piece is copied before the next is read."""
        return self._connections.read_buffer

    def wait(self) -> None:
        """Wait for the client from now on: the place may be taken for another."""
        self._connections.note_waiting(self)

    def work(self) -> None:
        """Work for the client: the place stays."""
        self._connections.note_working(self)

    def hold(self, number: int) -> None:
        """Hold so many bytes of an answer until it is read; 0 when it is."""
        self._connections.note_held(self, number)

    def clean_up(self) -> None:
        """A request has been answered."""
        self._connections.collect_garbage()

    def leave(self) -> None:
        """The connection is over."""
        self._connections.remove(self)

    def disconnect(self) -> None:
        """End the connection in whatever state it is: asyncio sees that and closes it."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


class Connections:
    """The places of all listeners.

    Where none is left, the connection that has waited longest for its client makes room for the new one: one that
    begins to ask at once is hardly ever it, so that nobody who only holds connections can keep others out. Those of
    one address have half of all places, and make room for each other.

    Args:
        open_files_max: How many descriptors the process may have; connections take half of them.
    """

    def __init__(self, open_files_max: int = 2 * CONNECTIONS_MAX) -> None:
        self.most = max(2, min(CONNECTIONS_MAX, open_files_max // 2))
        self.most_per_client = self.most // 2
        self.read_buffer = memoryview(bytearray(_READ_BYTES))
        self._places: dict[Place, None] = {}
        self._waiting: dict[Place, None] = {}
        self._clients: Counter[str] = Counter()
        self._held_bytes = 0
        self._ended = 0

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._places)

    def admit(self, connection: socket.socket, address: str) -> Place | None:
        """Return a place for an accepted connection; None where everybody is being worked for."""
        client = client_of(address)
        if self._clients[client] >= self.most_per_client:
            has_room = self._give_way(lambda place: place.client == client)
        else:
            has_room = len(self._places) < self.most or self._give_way(lambda _: True)
        if not has_room:
            return None
        place = Place(self, connection, client)
        self._places[place] = self._waiting[place] = None
        self._clients[client] += 1
        return place

    def note_waiting(self, place: Place) -> None:
        """Have it wait from now on, unless it does already."""
        if place in self._places:
            self._waiting.setdefault(place)

    def note_working(self, place: Place) -> None:
        """Have it keep its place."""
        self._waiting.pop(place, None)

    def note_held(self, place: Place, number: int) -> None:
        """Count the bytes of answers; who has waited longest for a reader loses its answer when they are too many."""
        if place not in self._places:
            return
        self._held_bytes += number - place.held_bytes
        place.held_bytes = number
        while self._held_bytes > _HELD_BYTES_MAX:
            if not self._give_way(lambda other: other.held_bytes > 0 and other is not place):
                break

    def remove(self, place: Place) -> None:
        """Give the place free; nothing the second time."""
        if place not in self._places:
            return
        del self._places[place]
        self._waiting.pop(place, None)
        self._held_bytes -= place.held_bytes
        self.collect_garbage()
        self._clients[place.client] -= 1
        if not self._clients[place.client]:
            del self._clients[place.client]

    def collect_garbage(self) -> None:
        """Free what connections and requests left in circles, every so many: the daemon hardly collects otherwise.

        asyncio, h11 and FastAPI leave 7 to 60 objects a request. Left to the daemon's own collection, once an hour,
        22,000 requests took 42 MB; this takes 35 ms beside 500 containers.
        """
        self._ended += 1
        if self._ended >= _COLLECT_AFTER:
            self._ended = 0
            gc.collect()

    def _give_way(self, is_eligible: Callable[[Place], bool]) -> bool:
        """End the connection that has waited longest of those that may be ended; False if there is none."""
        oldest = next((place for place in self._waiting if is_eligible(place)), None)
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.disconnect()
        return True
