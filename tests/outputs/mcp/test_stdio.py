"""`bcon-exporter mcp` as a process: only the protocol on standard output, and gone when its client is."""

from __future__ import annotations

import json
import time
from io import BytesIO
from pathlib import Path

import pytest

from bcon_exporter.outputs.mcp.stdio import LINE_MAX_BYTES, BoundedLines
from bcon_exporter.tools.replay import write_snapshot
from tests.factories import container, exited, snapshot
from tests.outputs.mcp.pipes import HELLO, READY, ask_of_hung_engine, call, hear, hung_engine, running, say

pytestmark = pytest.mark.integration


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
    told = ask_of_hung_engine(tmp_path)

    assert {code for code, _ in told} <= {"PROBE_TIMEOUT", "PROVIDER_NOT_FOUND"}
    assert max(seconds for _, seconds in told) <= 6


def test_a_cancelled_call_is_let_go_at_once(tmp_path: Path) -> None:
    with hung_engine(tmp_path) as host, running("--daemon", "none", "--docker.host", host) as process:
        say(process, HELLO)
        hear(process)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
        say(process, READY, call(2, "diagnose_all"), cancel, {"jsonrpc": "2.0", "id": 3, "method": "ping"})
        assert hear(process)["id"] == 3


@pytest.mark.promise("F26")
def test_a_line_of_a_hundred_megabytes_is_refused_in_little_memory_and_the_next_one_is_answered(file: str) -> None:
    with running("--from-snapshot", file) as process:
        say(process, HELLO)
        hear(process)
        say(process, READY)
        before = peak_bytes(process.pid)
        assert process.stdin is not None
        for _ in range(100):
            process.stdin.write(b"x" * 1_000_000)
        process.stdin.write(b"\n")
        say(process, {"jsonrpc": "2.0", "id": 3, "method": "ping"})
        refused, answered = hear(process), hear(process)
        grown = peak_bytes(process.pid) - before

    assert refused["id"] is None
    assert refused["error"] == {
        "code": -32600,
        "message": "a message may have 8 MiB; this one was longer and was skipped",
    }
    assert answered["id"] == 3
    assert grown < 32 * 1024 * 1024


def peak_bytes(pid: int) -> int:
    """The most memory that a process has had."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


@pytest.mark.parametrize(("length", "skipped"), [(LINE_MAX_BYTES, 0), (LINE_MAX_BYTES + 1, 1), (3 * LINE_MAX_BYTES, 1)])
def test_a_line_has_eight_mebibytes_with_its_end(length: int, skipped: int) -> None:
    long = b"x" * (length - 1) + b"\n"
    lines = BoundedLines(BytesIO(long + b"short\n"))
    told: list[None] = []
    lines.on_too_long = lambda: told.append(None)
    read = [lines.readline(), lines.readline(), lines.readline()]
    assert read == ([long.decode()] if not skipped else []) + ["short\n", ""] + [""] * skipped
    assert len(told) == skipped


def test_a_line_that_the_stream_ends_within_is_skipped_too() -> None:
    lines = BoundedLines(BytesIO(b"x" * (LINE_MAX_BYTES + 1)))
    assert lines.readline() == ""
