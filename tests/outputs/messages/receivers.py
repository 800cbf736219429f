"""Receivers of messages on this machine: HTTP (ntfy, Telegram, Slack, a webhook) and SMTP; each can fail or hang."""

from __future__ import annotations

import socketserver
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType


@dataclass(frozen=True)
class Got:
    """One request, or one mail with its headers in the text."""

    path: str
    headers: dict[str, str] = field(default_factory=dict)
    text: str = ""


class HttpReceiver:
    """Takes every POST; answers with a status, redirects, or not at all.

    With `endless` the answer is its beginning, then a piece over and over, with a pause before each, as long as it is
    read; `written` counts its bytes.
    """

    def __init__(
        self,
        status: int = 200,
        *,
        answer: bytes = b'{"ok": true}',
        to: str = "",
        port: int = 0,
        endless: tuple[bytes, float] | None = None,
    ) -> None:
        self.status, self.answer, self.to = status, answer, to
        self.written = 0
        self.got: list[Got] = []
        self.hangs = threading.Event()
        self.released = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", "0"))).decode()
                receiver.got.append(Got(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
                if receiver.hangs.is_set():
                    receiver.released.wait(60)
                    return
                if endless is not None:
                    self.close_connection = True
                    self._write_endlessly(*endless)
                    return
                self.send_response(receiver.status)
                if receiver.to:
                    self.send_header("Location", receiver.to)
                self.send_header("Content-Length", str(len(receiver.answer)))
                self.end_headers()
                self.wfile.write(receiver.answer)

            def _write_endlessly(self, piece: bytes, pause_seconds: float) -> None:
                with suppress(OSError):
                    self.wfile.write(receiver.answer)
                    while not receiver.released.wait(pause_seconds):
                        self.wfile.write(piece)
                        receiver.written += len(piece)

            def do_GET(self) -> None:
                self.do_POST()

            def log_message(self, *_words: Any) -> None:
                """Write nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    def __enter__(self) -> HttpReceiver:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _t: TracebackType | None
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()


class MailReceiver:
    """Takes every mail; before its greeting it may say one line over and over."""

    def __init__(self, *, flood: bytes = b"", flood_bytes: int = 0) -> None:
        self.got: list[Got] = []
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                with suppress(OSError):
                    for _ in range(flood_bytes // max(1, len(flood))):
                        self.wfile.write(flood)
                self._say("220 here")
                lines: list[str] | None = None
                for raw in self.rfile:
                    line = raw.decode().rstrip("\r\n")
                    if lines is not None:
                        if line == ".":
                            receiver.got.append(Got("mail", text="\n".join(lines)))
                            lines = None
                            self._say("250 taken")
                        else:
                            lines.append(line)
                    elif line.upper() == "DATA":
                        lines = []
                        self._say("354 go on")
                    else:
                        self._say("221 bye" if line.upper() == "QUIT" else "250 well")

            def _say(self, line: str) -> None:
                self.wfile.write(f"{line}\r\n".encode())

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    def __enter__(self) -> MailReceiver:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _t: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
