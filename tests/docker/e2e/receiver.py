"""A webhook receiver for a container with Python alone: prints each request as a line of JSON."""

from __future__ import annotations

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TOKEN = Path("/run/secrets/receiver_token")


class Receiver(BaseHTTPRequestHandler):
    """Takes notifications whose token is right."""

    def do_POST(self) -> None:
        """Print the path and the alerts."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        known = self.headers["authorization"] == f"Bearer {TOKEN.read_text()}"
        if known:
            line = json.dumps({"at": time.time(), "path": self.path, "alerts": body["alerts"]})
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
        self.send_response(200 if known else 401)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing else."""


if __name__ == "__main__":
    ThreadingHTTPServer(("", 8000), Receiver).serve_forever()
