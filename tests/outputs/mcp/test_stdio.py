"""`bcon-exporter mcp` as a process: only the protocol on standard output, and gone when its client is."""

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

import pytest

from bcon_exporter.tools.replay import write_snapshot
from tests.factories import container, exited, snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.integration

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


@pytest.fixture
def file(tmp_path: Path) -> str:
    write_snapshot(tmp_path / "host.json", snapshot(container(name="web"), exited(3, name="job")))
    return str(tmp_path / "host.json")


def test_every_line_is_a_message_and_the_end_of_input_is_the_end(file: str) -> None:
    with running("--from-snapshot", file) as process:
        say(process, HELLO)
        assert hear(process)["result"]["serverInfo"]["name"] == "bcon-exporter"
        say(process, READY, call(2, "diagnose_all"), {"jsonrpc": "2.0", "id": 3, "method": "no/such"})
        answers = {answer["id"]: answer for answer in (hear(process), hear(process))}
        assert json.loads(answers[2]["result"]["content"][0]["text"])["isError"] is False
        assert answers[3]["error"]["code"] == -32601
        out, complaints = process.communicate(timeout=30)

    assert (process.returncode, out, complaints) == (0, b"", b"")


@pytest.mark.parametrize("before", [b"", b"nonsense\n", b'{"jsonrpc":"2.0"}\n', b"\xff\xfe\n"])
def test_a_client_that_leaves_early_or_talks_nonsense_leaves_no_process(file: str, before: bytes) -> None:
    with running("--from-snapshot", file) as process:
        process.communicate(before, timeout=30)

    assert process.returncode == 0


@pytest.mark.slow
@pytest.mark.alone
def test_a_client_that_leaves_while_a_call_hangs_is_followed_within_two_seconds(tmp_path: Path) -> None:
    with hung_engine(tmp_path) as host, running("--daemon", "none", "--docker.host", host) as process:
        say(process, HELLO)
        hear(process)
        say(process, READY, call(2, "diagnose_all"))
        began = time.monotonic()
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(10) == 0
        seconds = time.monotonic() - began

    assert seconds <= 2


@pytest.mark.slow
@pytest.mark.alone
def test_an_engine_that_hangs_is_told_within_six_seconds_and_the_next_question_is_answered(tmp_path: Path) -> None:
    with hung_engine(tmp_path) as host, running("--daemon", "none", "--docker.host", host) as process:
        say(process, HELLO)
        hear(process)
        for number in (2, 3):
            began = time.monotonic()
            say(process, READY, call(number, "diagnose_all"))
            result = hear(process)["result"]
            assert time.monotonic() - began <= 6
            assert result["isError"] is True
            code = json.loads(result["content"][0]["text"])["error"]["code"]
            assert code in ("PROBE_TIMEOUT", "PROVIDER_NOT_FOUND")
        say(process, {"jsonrpc": "2.0", "id": 4, "method": "tools/list"})
        assert len(hear(process)["result"]["tools"]) == 12


def test_a_cancelled_call_is_let_go_at_once(tmp_path: Path) -> None:
    with hung_engine(tmp_path) as host, running("--daemon", "none", "--docker.host", host) as process:
        say(process, HELLO)
        hear(process)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
        say(process, READY, call(2, "diagnose_all"), cancel, {"jsonrpc": "2.0", "id": 3, "method": "ping"})
        assert hear(process)["id"] == 3
