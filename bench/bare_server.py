"""Answers every request with the same ready bytes and does nothing else: what a scrape takes on this machine at least.

python -m bench.bare_server PORT SIZE
"""

from __future__ import annotations

import socket
import sys


def main(port: int, size: int) -> None:
    """Serve one connection after the other, until killed."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size
    with socket.create_server(("127.0.0.1", port)) as listening:
        while True:
            connection, _ = listening.accept()
            with connection:
                while connection.recv(65536):
                    connection.sendall(answer)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
