"""Which logs a scan asks for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bcon_exporter.clock import utc_now
from bcon_exporter.engine import Endpoint, HostOptions, Wants
from bcon_exporter.engine.containers import Inventory
from bcon_exporter.engine.failures import UnreadableLogError
from bcon_exporter.engine.http_parser import Answer
from bcon_exporter.engine.log_cursors import LogCursors
from bcon_exporter.engine.parse import decode_array
from bcon_exporter.engine.read_logs import read_logs_of_all
from bcon_exporter.engine.scan import Deadline, Scan
from bcon_exporter.engine.session import BulkRequest, EngineSession
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.readings import NOTHING_READ
from tests.engine.fake_engine import FakeEngine, answer, read_requests
from tests.engine.test_docker_host import BAD, GOOD, STATS, VERSION, entry, host_for, inspected

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.engine.http import Outcome
    from bcon_exporter.errors import BconError

ENDED = {"Status": "exited", "Running": False, "ExitCode": 1, "Pid": 0, "StartedAt": "2026-01-31T11:00:00Z",
         "FinishedAt": "2026-01-31T11:30:00Z"}  # fmt: skip
LAST_WORDS = b"\x02\0\0\0\0\0\0\x24" + b"2026-01-31T11:29:59.000000000Z gone\n"


class Log:
    """A log as an engine has it: no request is made where it need not be read."""

    def __init__(self) -> None:
        self.book = HostSecrets()
        self.book.learn_container(GOOD, None, frozenset())
        self.inventory = Inventory(HostOptions(), self.book)
        self.cursors = LogCursors()
        self.asked = 0
        self.unread: str | None = None

    def scan(self, answer: Answer | BconError, **listed: str) -> None:
        """A scan that sees the container as the list tells of it, or inspect (`State`)."""
        element = {**entry(GOOD), **listed}
        scan = Scan(utc_now(), Deadline.after(3), Wants())
        scan.ids = self.inventory.update(decode_array(json.dumps([element])))

        class Session(EngineSession):
            def query_containers(_, request: BulkRequest) -> Iterator[tuple[str, Outcome]]:  # noqa: N805
                self.asked += len(request.targets)
                yield from ((container_id, answer) for container_id in request.targets)

        session = Session(Endpoint("unix:///x"), HostOptions())
        read_logs_of_all(session, self.inventory, self.cursors, scan)
        self.unread = scan.unread.get(GOOD, {}).get("logs")


READ = Answer(200, LAST_WORDS)
REFUSED = UnreadableLogError("no such driver", {})
EXITED, EXITED_WELL, RUNS = (
    {"State": "exited", "Status": "Exited (1) 5 seconds ago"},
    {"State": "exited", "Status": "Exited (0) 5 seconds ago"},
    {"State": "running", "Status": "Up 2 seconds"},
)


def test_a_log_that_is_refused_is_asked_for_again_in_the_next_run_only() -> None:
    log = Log()
    for _ in range(3):
        log.scan(REFUSED, **RUNS)
        assert log.unread == "the log driver cannot be read back"
    assert log.asked == 1
    log.scan(READ, **EXITED)
    assert (log.asked, log.unread) == (2, None)


def test_while_nobody_knows_when_a_run_has_ended_its_last_lines_are_asked_for_again() -> None:
    log = Log()
    for status in (EXITED, EXITED, EXITED_WELL):
        log.scan(READ, **status)
    assert log.asked == 3


def test_a_container_of_which_nobody_knows_the_secrets_has_no_log_to_show() -> None:
    log = Log()
    log.book.retain(())
    log.scan(READ, **RUNS)
    assert (log.asked, log.unread) == (
        0,
        "it could not be inspected, so nobody knows which secrets its log must not show",
    )

    log.book.learn_container(GOOD, None, frozenset())
    log.scan(READ, **RUNS)
    assert (log.asked, log.unread) == (1, None)


def test_the_logs_of_an_ended_container_are_read_once(tmp_path: Path) -> None:
    asked: list[str] = []
    bodies = {
        "/version": VERSION,
        "/containers/json": json.dumps(
            [entry(GOOD), {**entry(BAD), "State": "exited", "Status": "Exited (1)"}]
        ).encode(),
        f"{GOOD}/json": inspected(GOOD),
        f"{BAD}/json": json.dumps({**json.loads(inspected(BAD)), "State": ENDED}).encode(),
        "/stats": STATS,
        f"{BAD}/logs": LAST_WORDS,
        "/logs": b"",
    }

    def talk(connection: socket.socket) -> None:
        while requests := read_requests(connection):
            for target in requests:
                asked.append(target)
                connection.sendall(answer(next((body for part, body in bodies.items() if part in target), b"{}")))

    with FakeEngine(tmp_path / "s", talk) as engine:
        host = host_for(engine.url)
        snapshots, readings = [], NOTHING_READ
        for _ in range(3):
            observation = host.observe(utc_now(), 5.0, Wants(), readings)
            snapshots.append(observation.snapshot)
            readings = observation.readings or NOTHING_READ
        host.close()

    logs = [container.logs for taken in snapshots for container in taken.containers if container.id == BAD]
    assert [[line.text for line in one.lines] for one in logs if one is not None] == [["gone"]] * 3
    assert sum(f"{BAD}/logs" in target for target in asked) == 1
    assert sum(f"{GOOD}/logs" in target for target in asked) == 3
