"""Promise: one container that hangs slows one scan a minute at most, and hides nothing about the others."""

import json
import socket
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bcon_exporter.clock import monotonic, utc_now
from bcon_exporter.engine import DockerHost, Endpoint, HostOptions, Wants
from bcon_exporter.engine.endpoint_health import AGAIN_AFTER_SECONDS
from bcon_exporter.engine.failures import OverdueError
from bcon_exporter.engine.http_parser import Answer
from bcon_exporter.engine.scan import Deadline
from bcon_exporter.engine.session import EngineSession
from bcon_exporter.errors import BconError
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.secrets.masking import Sealer
from tests.engine.fake_engine import FakeEngine, answer, read_requests
from tests.engine.test_docker_host import BAD, GOOD, STATS, VERSION, entry, inspected

TIMEOUT_SECONDS = 0.3


@dataclass
class Engine:
    """An engine that never answers what names a container that hangs, on that connection."""

    hangs_at: str
    listed: tuple[str, ...] = (BAD, GOOD)
    asked: list[str] = field(default_factory=list)

    def talk(self, connection: socket.socket) -> None:
        bodies = {
            "/version": VERSION,
            "/containers/json": json.dumps([entry(each) for each in self.listed]).encode(),
            f"{GOOD}/json": inspected(GOOD),
            f"{BAD}/json": inspected(BAD),
            "/stats": STATS,
            "/logs": b"",
        }
        while requests := read_requests(connection):
            for target in requests:
                self.asked.append(target)
                if self.hangs_at in target:
                    connection.recv(1)  # until it is given up
                    return
                connection.sendall(answer(next((data for part, data in bodies.items() if part in target), b"{}")))

    def asked_the_stuck(self) -> int:
        return sum(self.hangs_at in target for target in self.asked)


def open_host(url: str) -> DockerHost:
    options = HostOptions(cgroup_root=Path("/nonexistent"), read_timeout_seconds=TIMEOUT_SECONDS, parallel=1)
    return DockerHost(Endpoint(url), options, Sealer(b"0123456789abcdef"))


def scan(host: DockerHost) -> tuple[dict[str, ContainerFacts], float]:
    started = monotonic()
    snapshot = host.observe(utc_now(), 10.0, Wants()).snapshot
    return {container.id: container for container in snapshot.containers}, monotonic() - started


@pytest.mark.parametrize(("endpoint", "fact"), [("json", "inspect"), ("logs", "logs"), ("stats", "usage")])
def test_a_container_that_hangs_costs_its_time_once(tmp_path: Path, endpoint: str, fact: str) -> None:
    talker = Engine(f"{BAD}/{endpoint}")
    with FakeEngine(tmp_path / "s", talker.talk) as engine:
        host = open_host(engine.url)
        _, first = scan(host)
        assert first >= TIMEOUT_SECONDS
        tries = talker.asked_the_stuck()
        for _ in range(3):
            found, seconds = scan(host)
            assert seconds < TIMEOUT_SECONDS
            assert found[BAD].unread[fact]
            assert not found[GOOD].unread.keys() & {"inspect", "logs", "usage"}
            assert None not in (found[GOOD].logs, found[GOOD].usage)
        assert talker.asked_the_stuck() == tries
        assert all(host.endpoints_up().values())


def test_a_container_that_hangs_again_is_left_alone_for_longer(tmp_path: Path) -> None:
    talker = Engine(f"{BAD}/stats")
    with FakeEngine(tmp_path / "s", talker.talk) as engine:
        session = EngineSession(Endpoint(engine.url), HostOptions(read_timeout_seconds=TIMEOUT_SECONDS))
        session.health.note_silence("stats", BAD, "hangs", monotonic() - AGAIN_AFTER_SECONDS[0])
        outcomes = dict(session.query_stats([BAD, GOOD], "reading stats", Deadline.after(5)))
    assert isinstance(outcomes[GOOD], Answer)
    assert isinstance(outcomes[BAD], OverdueError)
    assert session.health.split("stats", [BAD], monotonic() + AGAIN_AFTER_SECONDS[0])[0] == []
    assert session.health.split("stats", [BAD], monotonic() + AGAIN_AFTER_SECONDS[1])[0] == [BAD]


def test_one_inspect_that_hangs_alone_does_not_count_as_the_endpoint_down(tmp_path: Path) -> None:
    talker = Engine(f"{BAD}/json", listed=(BAD,))
    with FakeEngine(tmp_path / "s", talker.talk) as engine:
        host = open_host(engine.url)
        for _ in range(2):
            found, _ = scan(host)
            assert found[BAD].unread["inspect"]
        assert talker.asked_the_stuck() == 1
        assert host.endpoints_up()["inspect"]


def test_no_endpoint_of_an_engine_out_of_reach_answers(tmp_path: Path) -> None:
    with FakeEngine(tmp_path / "s", Engine("/nothing").talk) as engine:
        host = open_host(engine.url)
        scan(host)
        assert all(host.endpoints_up().values())
    with pytest.raises(BconError):
        scan(host)
    assert not any(host.endpoints_up().values())
