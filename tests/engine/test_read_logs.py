"""Which logs a scan asks for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bcon_exporter.clock import utc_now
from bcon_exporter.engine import Wants
from bcon_exporter.readings import NOTHING_READ
from tests.engine.fake_engine import FakeEngine, answer, read_requests
from tests.engine.test_docker_host import BAD, GOOD, STATS, VERSION, entry, host_for, inspected

if TYPE_CHECKING:
    import socket
    from pathlib import Path

ENDED = {"Status": "exited", "Running": False, "ExitCode": 1, "Pid": 0, "StartedAt": "2026-01-31T11:00:00Z",
         "FinishedAt": "2026-01-31T11:30:00Z"}  # fmt: skip
LAST_WORDS = b"\x02\0\0\0\0\0\0\x24" + b"2026-01-31T11:29:59.000000000Z gone\n"


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
