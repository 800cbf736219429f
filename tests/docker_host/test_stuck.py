"""Promise: one container that hangs slows one scan a minute at most, and hides nothing about the others."""

import json
import socket
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bcon_exporter.clock import monotonic, utc_now
from bcon_exporter.docker_host import DockerHost, Endpoint, HostOptions, Wants
from bcon_exporter.docker_host.stuck import StuckContainers
from bcon_exporter.errors import BconError
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.masking import Sealer
from tests.docker_host.fake_engine import FakeEngine, answer, read_requests
from tests.docker_host.test_host import BAD, GOOD, STATS, VERSION, entry, inspected

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
    snapshot = host.take_snapshot(utc_now(), 10.0, Wants())
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


@pytest.mark.parametrize(("times", "seconds"), [(1, 5.0), (2, 15.0), (3, 60.0), (9, 60.0)])
def test_who_was_stuck_is_asked_again_after_a_while_that_grows_to_a_minute(times: int, seconds: float) -> None:
    stuck = StuckContainers()
    for _ in range(times):
        stuck.note("logs", BAD, "hangs", 100.0)
    just_before = 100.0 + seconds - 0.001
    assert stuck.split("logs", [GOOD, BAD], just_before) == ([GOOD], {BAD: "hangs"})
    assert stuck.split("inspect", [GOOD, BAD], just_before) == ([GOOD, BAD], {})
    assert stuck.split("logs", [GOOD, BAD], 100.0 + seconds) == ([GOOD, BAD], {})


def test_an_answer_makes_the_next_wait_short_again() -> None:
    stuck = StuckContainers()
    for _ in range(3):
        stuck.note("logs", BAD, "hangs", 100.0)
    stuck.note_answer("logs", BAD)
    stuck.note("logs", BAD, "hangs", 200.0)
    assert stuck.split("logs", [BAD], 205.0) == ([BAD], {})


def test_who_is_still_stuck_then_says_nothing_about_the_endpoint() -> None:
    stuck = StuckContainers()
    assert not stuck.knows_all("logs", [BAD])
    stuck.note("logs", BAD, "hangs", 100.0)
    assert stuck.knows_all("logs", [BAD])
    assert not stuck.knows_all("logs", [BAD, GOOD])
    stuck.note_answer("logs", BAD)
    assert not stuck.knows_all("logs", [BAD])


def test_who_was_stuck_is_asked_at_once_when_the_engine_tells_of_it() -> None:
    stuck = StuckContainers()
    for _ in range(3):
        stuck.note("logs", BAD, "hangs", 100.0)
        stuck.note("logs", GOOD, "hangs", 100.0)
    stuck.ask_again({BAD})
    assert stuck.split("logs", [BAD, GOOD], 101.0) == ([BAD], {GOOD: "hangs"})
    assert stuck.knows_all("logs", [BAD]), "it may hang still"
    stuck.note("logs", BAD, "hangs", 102.0)
    assert stuck.split("logs", [BAD], 107.0) == ([BAD], {})


def test_all_are_asked_again_once_the_engine_is_back_and_the_removed_are_forgotten() -> None:
    stuck = StuckContainers()
    stuck.note("logs", BAD, "hangs", 100.0)
    stuck.retain([GOOD])
    assert stuck.split("logs", [BAD], 100.0) == ([BAD], {})
    stuck.note("logs", BAD, "hangs", 100.0)
    stuck.forget()
    assert stuck.split("logs", [BAD], 100.0) == ([BAD], {})
