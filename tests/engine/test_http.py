"""Each request of a batch has exactly one outcome, in time, whatever the other side does."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bcon_exporter.clock import monotonic
from bcon_exporter.engine.address import Dialer
from bcon_exporter.engine.allowlist import RequestRefusedError
from bcon_exporter.engine.find_socket import Endpoint
from bcon_exporter.engine.http import Batch, Following, Outcome, fetch, follow
from bcon_exporter.engine.http_parser import Answer
from bcon_exporter.errors import BconError, DeadlineExceededError, DockerConnectionError
from tests.engine.fake_engine import Conversation, FakeEngine, answer, read_requests

TARGETS = [f"/containers/c{number}/json" for number in range(40)]


def fetch_all(url: str, targets: list[str], batch: Batch) -> list[Outcome]:
    """Run a batch; every target must have exactly one outcome."""
    outcomes: dict[int, Outcome] = {}
    for index, outcome, seconds in fetch(Dialer(Endpoint(url)), targets, batch):
        assert index not in outcomes
        assert seconds >= 0
        outcomes[index] = outcome
    assert len(outcomes) == len(targets)
    return [outcomes[index] for index in range(len(targets))]


def echo(connection: socket.socket, stuck: tuple[FakeEngine, str] | None = None) -> None:
    """Answer each request with its own target; none from the one on that the engine is stuck at."""
    while requests := read_requests(connection):
        for target in requests:
            if stuck is not None and target == stuck[1]:
                stuck[0].stopped.wait(10)
                return
            connection.sendall(answer(target.encode()))


@pytest.mark.parametrize(("connections", "depth"), [(1, 1), (1, 8), (4, 4), (64, 1)])
def test_each_answer_belongs_to_its_request(tmp_path: Path, connections: int, depth: int) -> None:
    with FakeEngine(tmp_path / "s", echo) as engine:
        outcomes = fetch_all(engine.url, TARGETS, Batch("testing", 10, 5, connections=connections, depth=depth))
        assert [outcome.body.decode() for outcome in outcomes if isinstance(outcome, Answer)] == TARGETS
        assert engine.connections <= connections


def test_what_is_done_soon_takes_one_connection(tmp_path: Path) -> None:
    with FakeEngine(tmp_path / "s", echo) as engine:
        outcomes = fetch_all(engine.url, TARGETS, Batch("testing", 20, 5, connections=4, patience_seconds=10, depth=4))
        assert [outcome.body.decode() for outcome in outcomes if isinstance(outcome, Answer)] == TARGETS
        assert engine.connections == 1


@pytest.mark.slow
def test_a_stuck_request_holds_up_others_only_until_patience_ends(tmp_path: Path) -> None:
    answered_after: dict[int, float] = {}
    with FakeEngine(tmp_path / "s", lambda connection: echo(connection, (engine, TARGETS[0]))) as engine:
        began = monotonic()
        batch = Batch("testing", 20, 5, connections=2, patience_seconds=0.1, depth=4)
        for index, _, _ in fetch(Dialer(Endpoint(engine.url)), TARGETS, batch):
            answered_after[index] = monotonic() - began
    in_time = [index for index, seconds in answered_after.items() if seconds < 4]
    assert in_time == list(range(batch.depth, len(TARGETS))), "those sent ahead behind the stuck one wait with it"


def test_an_engine_that_closes_after_each_answer_still_answers_all(tmp_path: Path) -> None:
    def once(connection: socket.socket) -> None:
        target = read_requests(connection)[0]
        connection.sendall(answer(target.encode(), extra="Connection: close\r\n"))

    with FakeEngine(tmp_path / "s", once) as engine:
        outcomes = fetch_all(engine.url, TARGETS, Batch("testing", 10, 5, connections=4, depth=8))
    assert [outcome.body.decode() for outcome in outcomes if isinstance(outcome, Answer)] == TARGETS


def test_an_engine_that_says_nothing_is_left_in_time(tmp_path: Path) -> None:
    def mute(connection: socket.socket) -> None:
        connection.recv(65536)
        engine.stopped.wait(10)

    with FakeEngine(tmp_path / "s", mute) as engine:
        started = monotonic()
        outcomes = fetch_all(engine.url, TARGETS, Batch("testing", 0.5, 5, connections=4, depth=2))
        assert monotonic() - started < 1.0
    assert all(isinstance(outcome, DeadlineExceededError) for outcome in outcomes)


def test_an_engine_that_trickles_a_byte_at_a_time_is_left_in_time(tmp_path: Path) -> None:
    def trickle(connection: socket.socket) -> None:
        connection.recv(65536)
        for byte in answer(b"x" * 10_000):
            connection.sendall(bytes([byte]))
            if engine.stopped.wait(0.02):
                return

    with FakeEngine(tmp_path / "s", trickle) as engine:
        started = monotonic()
        outcomes = fetch_all(engine.url, TARGETS[:2], Batch("testing", 5, 0.4, connections=2))
        assert monotonic() - started < 1.5
    assert all(isinstance(outcome, DeadlineExceededError) for outcome in outcomes)


def test_one_stuck_request_does_not_cost_the_others(tmp_path: Path) -> None:
    with FakeEngine(tmp_path / "s", lambda connection: echo(connection, (engine, TARGETS[7]))) as engine:
        began = monotonic()
        outcomes = fetch_all(engine.url, TARGETS, Batch("testing", 10, 0.5, connections=2, depth=4))
        assert monotonic() - began < 5, "one that is stuck is left after its own time, not after all of it"
    failed = [index for index, outcome in enumerate(outcomes) if isinstance(outcome, BconError)]
    assert failed == [7]


def test_a_connection_cut_within_an_answer_fails_that_request_alone(tmp_path: Path) -> None:
    def cut_at_three(connection: socket.socket) -> None:
        while requests := read_requests(connection):
            for target in requests:
                if target == TARGETS[3]:
                    connection.sendall(answer(b"x" * 100)[:-50])
                    return
                connection.sendall(answer(target.encode()))

    with FakeEngine(tmp_path / "s", cut_at_three) as engine:
        outcomes = fetch_all(engine.url, TARGETS, Batch("testing", 10, 5, connections=1, depth=4))
    assert [index for index, outcome in enumerate(outcomes) if isinstance(outcome, BconError)] == [3]


def test_an_engine_that_closes_without_answering_is_not_asked_for_ever(tmp_path: Path) -> None:
    with FakeEngine(tmp_path / "s", lambda connection: connection.close()) as engine:
        outcomes = fetch_all(engine.url, TARGETS[:5], Batch("testing", 10, 5))
        assert engine.connections < 50
    assert all(isinstance(outcome, DockerConnectionError) for outcome in outcomes)


@contextmanager
def full_queue(path: Path) -> Iterator[tuple[socket.socket, int]]:
    """Listen where nobody else can connect, until as many as are waiting have been accepted."""
    with socket.socket(socket.AF_UNIX) as listener, ExitStack() as stack:
        listener.bind(str(path))
        listener.listen(0)
        for waiting in range(10):
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.setblocking(False)
            try:
                client.connect(listener.getsockname())
            except BlockingIOError:
                yield listener, waiting
                return
        pytest.fail("the queue has no end")


def test_an_engine_whose_queue_of_connections_is_full_is_tried_again_until_it_is_not(tmp_path: Path) -> None:
    has_failed = threading.Event()

    def note_failure() -> bool:
        has_failed.set()
        return False

    with full_queue(tmp_path / "s") as (listener, waiting):

        def serve() -> None:
            has_failed.wait(10)
            for _ in range(waiting):
                listener.accept()[0].close()
            with listener.accept()[0] as connection:
                echo(connection)

        server = threading.Thread(target=serve)
        server.start()
        batch = Batch("testing", 10, 5, is_cancelled=note_failure)
        (outcome,) = fetch_all(f"unix://{tmp_path / 's'}", TARGETS[:1], batch)
        server.join(10)
    assert isinstance(outcome, Answer)


def test_an_engine_whose_queue_of_connections_stays_full_has_not_answered_in_time(tmp_path: Path) -> None:
    with full_queue(tmp_path / "s"):
        (outcome,) = fetch_all(f"unix://{tmp_path / 's'}", TARGETS[:1], Batch("testing", 0.3, 5))
    assert isinstance(outcome, DeadlineExceededError)


def test_an_answer_without_end_is_cut(tmp_path: Path) -> None:
    def endless(connection: socket.socket) -> None:
        read_requests(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")

    with FakeEngine(tmp_path / "s", endless) as engine:
        outcomes = fetch_all(engine.url, TARGETS[:3], Batch("testing", 10, 5, body_cap_bytes=100_000))
    for outcome in outcomes:
        assert isinstance(outcome, Answer)
        assert outcome.cut
        assert len(outcome.body) == 100_000


def test_a_cancelled_batch_ends_at_once(tmp_path: Path) -> None:
    def mute(_connection: socket.socket) -> None:
        engine.stopped.wait(10)

    with FakeEngine(tmp_path / "s", mute) as engine:
        started = monotonic()
        outcomes = fetch_all(engine.url, TARGETS, Batch("testing", 10, 10, is_cancelled=lambda: True))
        assert monotonic() - started < 0.5
    assert all(isinstance(outcome, BconError) for outcome in outcomes)


def test_nothing_is_sent_when_one_target_is_not_allowed(tmp_path: Path) -> None:
    with FakeEngine(tmp_path / "s", echo) as engine:
        with pytest.raises(RequestRefusedError):
            fetch_all(engine.url, [*TARGETS, "/containers/x/export"], Batch("testing", 5, 5))
        assert engine.connections == 0


def say(data: bytes) -> Conversation:
    def talk(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(data)

    return talk


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda tail: b"HTTP/1.1 200 OK\r\n" + tail))
def test_any_bytes_are_an_outcome(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "s"
    path.unlink(missing_ok=True)
    with FakeEngine(path, say(data)) as engine:
        for outcome in fetch_all(engine.url, TARGETS[:2], Batch("testing", 2, 1, depth=2)):
            assert isinstance(outcome, Answer | BconError)


def follow_all(url: str, *, answer_seconds: float = 5, quiet_seconds: float = 5, wake: socket.socket | None) -> bytes:
    """All that comes of an answer without end, until it ends."""
    how = Following("testing", 5, answer_seconds, quiet_seconds, wake)
    return b"".join(follow(Dialer(Endpoint(url)), "/events", how))


def stream(engine: FakeEngine, connection: socket.socket, *pieces: bytes) -> None:
    """Begin an answer without end, send its pieces, and keep it open."""
    read_requests(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for piece in pieces:
        connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
    engine.stopped.wait(10)


def test_an_answer_without_end_is_read_until_it_falls_silent(tmp_path: Path) -> None:
    with FakeEngine(tmp_path / "s", lambda connection: stream(engine, connection, b"one", b"two")) as engine:
        assert follow_all(engine.url, quiet_seconds=0.3, wake=None) == b"onetwo"


def test_it_ends_when_the_engine_ends_it(tmp_path: Path) -> None:
    with FakeEngine(tmp_path / "s", lambda connection: stream(engine, connection, b"one", b"")) as engine:
        assert follow_all(engine.url, wake=None) == b"one"


def test_it_ends_at_once_when_somebody_wants_that(tmp_path: Path) -> None:
    wake, waker = socket.socketpair()
    with wake, waker, FakeEngine(tmp_path / "s", lambda connection: stream(engine, connection)) as engine:
        waker.send(b"x")
        started = monotonic()
        assert follow_all(engine.url, wake=wake) == b""
        assert monotonic() - started < 2.0


def test_an_answer_without_end_that_does_not_begin_is_left_in_time(tmp_path: Path) -> None:
    def mute(_connection: socket.socket) -> None:
        engine.stopped.wait(10)

    with FakeEngine(tmp_path / "s", mute) as engine, pytest.raises(DeadlineExceededError):
        follow_all(engine.url, answer_seconds=0.2, wake=None)


@pytest.mark.parametrize("data", [answer(b"{}", "403 Forbidden"), b"SSH-2.0-OpenSSH_9.2\r\n"])
def test_what_refuses_to_be_followed_or_is_no_engine_is_an_error_of_ours(tmp_path: Path, data: bytes) -> None:
    with FakeEngine(tmp_path / "s", say(data)) as engine, pytest.raises(BconError):
        follow_all(engine.url, wake=None)


def test_nothing_is_followed_that_is_not_allowed(tmp_path: Path) -> None:
    with FakeEngine(tmp_path / "s", echo) as engine:
        with pytest.raises(RequestRefusedError):
            list(follow(Dialer(Endpoint(engine.url)), "/containers/x/attach", Following("testing", 5, 5, 5, None)))
        assert engine.connections == 0
