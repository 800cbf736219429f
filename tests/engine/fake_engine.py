"""A listener that answers each connection as a test says: for what no real engine can be made to do."""

import socket
import threading
from collections.abc import Callable
from pathlib import Path

Conversation = Callable[[socket.socket], None]


class FakeEngine:
    """Listens on a unix socket; each connection is handled by `talk` in a thread of its own."""

    def __init__(self, path: Path, talk: Conversation) -> None:
        self.url = f"unix://{path}"
        self.connections = 0
        self.stopped = threading.Event()
        self._talk = talk
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(1024)
        self._threads = [threading.Thread(target=self._accept)]
        self._open: list[socket.socket] = []

    def __enter__(self) -> "FakeEngine":
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                self._talk(connection)
            except OSError:
                return


def read_requests(connection: socket.socket) -> list[str]:
    """Wait for requests and return the targets of those that came together; empty at the end."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        received = connection.recv(65536)
        if not received:
            return []
        data += received
    return [line.split(" ")[1] for line in data.decode().split("\r\n") if line.startswith("GET ")]


def answer(body: bytes, status: str = "200 OK", extra: str = "") -> bytes:
    """A whole answer."""
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{extra}\r\n".encode() + body
