"""Talks to `bcon-exporter mcp` as a process, over an engine that hangs too."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
ENVIRON = {name: value for name, value in os.environ.items() if not name.startswith("BCON_")}


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """The process, with pipes; killed at the end if it still runs."""
    command = [sys.executable, "-m", "bcon_exporter", "mcp", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=ENVIRON) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def say(process: subprocess.Popen[bytes], *messages: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    process.stdin.flush()


def hear(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def call(number: int, tool: str, **arguments: object) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@contextmanager
def hung_engine(folder: Path) -> Iterator[str]:
    """A socket that takes connections and never says anything, as an engine that was stopped."""
    path = folder / "hung.sock"
    taken: list[socket.socket] = []
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))
        bound.listen(64)

        def take() -> None:
            try:
                while True:
                    taken.append(bound.accept()[0])
            except OSError:
                return

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        yield f"unix://{path}"
        bound.shutdown(socket.SHUT_RDWR)
        thread.join(10)
    for connection in taken:
        connection.close()


def ask_of_hung_engine(folder: Path) -> list[tuple[str, float]]:
    """Ask twice about an engine that hangs, then what needs none; the code of each error, and the seconds until it."""
    told = []
    with hung_engine(folder) as host, running("--daemon", "none", "--docker.host", host) as process:
        say(process, HELLO)
        hear(process)
        for number in (2, 3):
            began = time.monotonic()
            say(process, READY, call(number, "diagnose_all"))
            result = hear(process)["result"]
            seconds = time.monotonic() - began
            assert result["isError"] is True
            told.append((json.loads(result["content"][0]["text"])["error"]["code"], seconds))
        say(process, {"jsonrpc": "2.0", "id": 4, "method": "tools/list"})
        assert len(hear(process)["result"]["tools"]) == 12
    return told
