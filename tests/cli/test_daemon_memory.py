"""A command takes over what the daemon of its engine remembers, and says how far back it sees where none does."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pytest

from bcon_exporter.cli.daemon_client import ask_memory, recall
from bcon_exporter.model.container_facts import EngineFacts, HostSnapshot
from bcon_exporter.model.lifecycle import HostMemory
from bcon_exporter.settings import Settings, load_settings
from bcon_exporter.tools.replay import SnapshotMemory
from tests.factories import ago, ended, exited, lifecycle, snapshot
from tests.table_rows import table

ENGINE = EngineFacts(name="h", server_version="28", api_version="1.51", id="ABCD")
STOPPED = exited(143, name="web", lifecycle=lifecycle())
KNOWN = lifecycle(exits=(ended(143, requested=True, image="app:1"),), stop_requested=True)
MEMORY = HostMemory(engine_id="ABCD", pasts={STOPPED.id: KNOWN})


class File(SnapshotMemory):
    """A past that a state file told."""

    status = "file"


class Ring(SnapshotMemory):
    """A past that only the engine told."""

    def __init__(self, since: datetime | None = ago(minutes=57)) -> None:  # noqa: B008 - frozen
        self.observed_since = since


@contextmanager
def daemon(body: bytes, status: int = 200) -> Iterator[Settings]:
    """Something that answers every request in the same way; the settings name it."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield at(server.server_port)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def at(port: int) -> Settings:
    return load_settings({}, {"BCON_WEB__LISTEN_ADDRESS": f"127.0.0.1:{port}"})


def told(memory: HostMemory) -> bytes:
    return json.dumps({"result": json.loads(memory.model_dump_json())}).encode()


def host(engine: EngineFacts | None = ENGINE) -> HostSnapshot:
    return snapshot(STOPPED, engine=engine)


def test_the_daemons_memory_takes_the_place_of_the_commands_own() -> None:
    with daemon(told(MEMORY)) as settings:
        found = recall(host(), settings, Ring())

    assert found.containers[0].lifecycle == KNOWN
    assert found.unread == {}


@pytest.mark.parametrize(
    ("engine", "memory"),
    [
        (ENGINE, MEMORY.model_copy(update={"engine_id": "OTHER"})),
        (ENGINE, MEMORY.model_copy(update={"engine_id": None})),
        (ENGINE.model_copy(update={"id": None}), MEMORY.model_copy(update={"engine_id": None})),
        (None, MEMORY),
    ],
)
def test_the_memory_of_another_engine_is_not_taken(engine: EngineFacts | None, memory: HostMemory) -> None:
    with daemon(told(memory)) as settings:
        found = recall(host(engine), settings, Ring())

    assert found.containers[0].lifecycle == lifecycle()
    assert "watches another engine" in found.unread["memory"]
    assert found.unread["memory"].endswith("events reach back to 2026-01-01 11:03 UTC")


@table(
    ("body", "status"),
    [
        (b'{"error":{"code":"permission_denied"}}', 401),
        (b"<html>", 200),
        (b"[]", 200),
        (b'{"result":null}', 200),
        (b'{"result":{"engine_id":"ABCD","pasts":{"x":{"exits":5}}}}', 200),
        (b"[" * 100_000, 200),
        (b"\xff\xfe", 200),
        (b"", 500),
    ],
)
def test_whatever_answers_there_the_state_file_goes_on_to_count(body: bytes, status: int) -> None:
    with daemon(body, status) as settings:
        assert isinstance(ask_memory(settings), str)
        assert recall(host(), settings, File()) == host()
        assert "judged without a daemon's memory" in recall(host(), settings, Ring()).unread["memory"]


@pytest.mark.parametrize("past", [Ring(None), Ring()])
def test_without_either_the_snapshot_says_how_far_back_it_sees(past: Ring) -> None:
    remark = recall(host(), at(1), past).unread["memory"]

    assert "nothing listens there" in remark
    assert ("no events could be read" in remark) is (past.observed_since is None)


def test_text_in_the_memory_is_cleaned_and_log_lines_are_dropped() -> None:
    """Whoever listens there may be anybody."""
    hostile: dict[str, Any] = {"image": "app\x1b[31m:1", "last_lines": ("all is well\x1b[2J",)}
    past = lifecycle(exits=(ended(1, **hostile),), previous_image="old\u202e:1")
    with daemon(told(HostMemory(engine_id="ABCD", pasts={STOPPED.id: past}))) as settings:
        found = ask_memory(settings)

    assert isinstance(found, HostMemory)
    dumped = found.model_dump_json()
    assert "\\u001b" not in dumped
    assert "\u202e" not in dumped
    assert "all is well" not in dumped
