"""An HTTP server that plays an Alertmanager as a test wants it, on loopback."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bcon_exporter.outputs.alertmanager.payload import Payload


class Receiver:
    """What came, request by request.

    Attributes:
        paths, batches, authorizations: Of every request.
        accepted: Names of the alerts in requests that were answered with 200.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.paths: list[str] = []
        self.batches: list[list[Payload]] = []
        self.authorizations: list[str | None] = []
        self.accepted: list[str] = []


@contextmanager
def receiving(
    status_of: Callable[[list[Payload]], int] = lambda _: 200,
    answer: Callable[[BaseHTTPRequestHandler, int], None] | None = None,
) -> Iterator[Receiver]:
    """Answer each request with the status that `status_of` gives for its alerts; `answer` replaces the whole answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            batch = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status = status_of(batch)
            receiver.paths.append(self.path)
            receiver.batches.append(batch)
            receiver.authorizations.append(self.headers["authorization"])
            if status == 200:
                receiver.accepted += [alert["labels"]["alertname"] for alert in batch]
            (answer or plain_answer)(self, status)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    receiver = Receiver(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


def plain_answer(handler: BaseHTTPRequestHandler, status: int) -> None:
    """A short body, and for a redirect where to."""
    handler.send_response(status)
    if status == 302:
        handler.send_header("Location", f"http://{handler.headers['host']}/elsewhere")
    handler.end_headers()
    handler.wfile.write(b"because\n")
