"""Whatever a socket answers, a snapshot is partial or one of our errors, never another exception, and in time."""

import json
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bcon_exporter.clock import monotonic, utc_now
from bcon_exporter.engine import DockerHost, Endpoint, HostOptions, Wants
from bcon_exporter.errors import BconError, DeadlineExceededError, DockerConnectionError
from bcon_exporter.secrets.masking import Sealer
from tests.engine.fake_engine import Conversation, FakeEngine, answer, read_requests
from tests.table_rows import table

GOOD, BAD = "a" * 64, "b" * 64
VERSION = b'{"ApiVersion":"1.41","MinAPIVersion":"1.12","Version":"20.10"}'
STATS = b'{"read":"2026-01-31T12:00:00Z","cpu_stats":{"cpu_usage":{"total_usage":5}},"memory_stats":{"usage":7}}'
ALL = Wants(config=True)


def entry(container_id: str) -> dict[str, object]:
    return {"Id": container_id, "Names": ["/" + container_id[0] * 3], "Image": "x", "State": "running",
            "Status": "Up 2 hours", "Created": 1_700_000_000}  # fmt: skip


def inspected(container_id: str) -> bytes:
    state = {"Status": "running", "Running": True, "Pid": 0, "StartedAt": "2026-01-31T11:00:00Z"}
    return json.dumps({"Id": container_id, "Name": "/x", "State": state, "Config": {}, "HostConfig": {}}).encode()


def engine_with(rules: dict[str, bytes]) -> Conversation:
    """An engine with two good containers, but for the raw answers to targets that match a pattern."""
    usual = {
        "/version": VERSION,
        "/info": b'{"NCPU":2}',
        "/containers/json": json.dumps([entry(GOOD), entry(BAD)]).encode(),
        f"{GOOD}/json": inspected(GOOD),
        f"{BAD}/json": inspected(BAD),
        "/stats": STATS,
        "/logs": b"",
        "/networks": b"[]",
        "/volumes": b'{"Volumes":[]}',
    }

    def talk(connection: socket.socket) -> None:
        while requests := read_requests(connection):
            for target in requests:
                raw = next((data for pattern, data in rules.items() if re.search(pattern, target)), None)
                body = next((data for part, data in usual.items() if part in target), b"{}")
                connection.sendall(answer(body) if raw is None else raw)
                if raw is not None and not raw.startswith(b"HTTP/1.1 200"):
                    return

    return talk


def host_for(url: str) -> DockerHost:
    options = HostOptions(cgroup_root=Path("/nonexistent"), read_timeout_seconds=1.0)
    return DockerHost(Endpoint(url), options, Sealer(b"0123456789abcdef"))


NONSENSE = (
    b"", b"null", b"[]", b"7", b'"x"', b"{}", b"<html>", b"{", b"NaN", b'{"Id":"\\ud800"}', b"\xff\xfe", b"[" * 200_000
)  # fmt: skip


@pytest.mark.promise("F17")
@table("nonsense", NONSENSE)
@table("endpoint", ["json", "stats", "logs"])
def test_nonsense_about_one_container_costs_that_one_only(tmp_path: Path, endpoint: str, nonsense: bytes) -> None:
    with FakeEngine(tmp_path / "s", engine_with({f"{BAD}/{endpoint}": answer(nonsense)})) as engine:
        snapshot = host_for(engine.url).observe(utc_now(), 5.0, ALL).snapshot
    good = next(container for container in snapshot.containers if container.id == GOOD)
    assert None not in (good.usage, good.logs, good.config)
    assert not good.unread.keys() & {"inspect", "usage", "logs", "config"}
    assert set(snapshot.incomplete) <= {BAD}


@pytest.mark.slow
@pytest.mark.promise("F17")
@pytest.mark.parametrize("raw", [b"", b"garbage", b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", answer(b"x")[:-1]])
def test_a_broken_answer_about_one_container_costs_that_one_only(tmp_path: Path, raw: bytes) -> None:
    with FakeEngine(tmp_path / "s", engine_with({f"{BAD}/(json|stats|logs)": raw})) as engine:
        snapshot = host_for(engine.url).observe(utc_now(), 5.0, ALL).snapshot
    assert snapshot.incomplete == (BAD,)
    bad = next(container for container in snapshot.containers if container.id == BAD)
    assert {"inspect", "usage", "logs", "restart_count"} <= bad.unread.keys()
    assert bad.restart_count is None


@pytest.mark.promise("F17")
@table("nonsense", [b"", b"null", b"7", b"{}", b"<html>", b"[", b'[{"Id":1},', b"[" * 200_000])
def test_a_list_that_is_none_is_an_error_of_ours(tmp_path: Path, nonsense: bytes) -> None:
    with (
        FakeEngine(tmp_path / "s", engine_with({"containers/json": answer(nonsense)})) as engine,
        pytest.raises(DockerConnectionError),
    ):
        host_for(engine.url).observe(utc_now(), 5.0, Wants())


@pytest.mark.promise("F5")
@pytest.mark.parametrize("removed", [answer(b'{"message":"No such container"}', "404 Not Found"), answer(b"")])
def test_a_container_removed_before_its_inspect_is_left_out(tmp_path: Path, removed: bytes) -> None:
    with FakeEngine(tmp_path / "s", engine_with({f"{BAD}/json": removed})) as engine:
        snapshot = host_for(engine.url).observe(utc_now(), 5.0, Wants()).snapshot
    assert [container.id for container in snapshot.containers] == [GOOD]
    assert snapshot.incomplete == ()


@pytest.mark.promise("F5")
@pytest.mark.parametrize("endpoint", ["stats", "logs"])
def test_a_container_removed_later_is_left_out_too(tmp_path: Path, endpoint: str) -> None:
    removed = answer(b'{"message":"No such container"}', "404 Not Found")
    with FakeEngine(tmp_path / "s", engine_with({f"{BAD}/{endpoint}": removed})) as engine:
        snapshot = host_for(engine.url).observe(utc_now(), 5.0, Wants()).snapshot
    assert [container.id for container in snapshot.containers] == [GOOD]


@pytest.mark.promise("F17")
def test_a_trickling_engine_does_not_outlast_the_deadline(tmp_path: Path) -> None:
    def talk(connection: socket.socket) -> None:
        connection.recv(65536)
        for byte in answer(b" " * 10_000):
            connection.sendall(bytes([byte]))
            if engine.stopped.wait(0.05):
                return

    with FakeEngine(tmp_path / "s", talk) as engine:
        started = monotonic()
        with pytest.raises(BconError):
            host_for(engine.url).observe(utc_now(), 0.5, Wants())
        assert monotonic() - started < 1.5


def test_of_an_engine_elsewhere_this_machines_kernel_says_nothing() -> None:
    host = host_for("tcp://192.0.2.1:2375")
    assert host.read_kills() is None
    host.close()


SECRET = "Qx7" + "rT9vLm2p"
SAID = f"2026-01-31T11:29:59.000000000Z login with {SECRET}\n".encode()
LOG = b"\x02\0\0\0" + len(SAID).to_bytes(4, "big") + SAID


def test_a_log_that_somebody_asks_for_shows_no_secret_of_a_container_that_no_scan_has_seen(tmp_path: Path) -> None:
    told = {**json.loads(inspected(GOOD)), "Config": {"Env": [f"DB_PASSWORD={SECRET}"]}}
    rules = {f"{GOOD}/json": answer(json.dumps(told).encode()), f"{GOOD}/logs": answer(LOG)}
    with FakeEngine(tmp_path / "s", engine_with(rules)) as engine:
        host = host_for(engine.url)
        found = host.read_logs(GOOD, tail=10, since=None, until=None)
        host.close()
    assert [line.text for line in found.lines] == ["login with ***"]


def test_the_log_of_a_container_that_cannot_be_inspected_is_shown_to_nobody(tmp_path: Path) -> None:
    refused = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"
    rules = {f"{GOOD}/json": refused, f"{GOOD}/logs": answer(LOG)}
    with FakeEngine(tmp_path / "s", engine_with(rules)) as engine:
        host = host_for(engine.url)
        with pytest.raises(BconError, match="what its log must not show"):
            host.read_logs(GOOD, tail=10, since=None, until=None)
        snapshot = host.observe(utc_now(), 5.0, Wants()).snapshot
        host.close()
    [good, _] = snapshot.containers
    assert good.logs is None
    assert "nobody knows which secrets" in good.unread["logs"]


@pytest.mark.slow
def test_a_scan_that_waits_for_another_does_not_blame_the_engine(tmp_path: Path) -> None:
    asked = threading.Event()

    def talk(connection: socket.socket) -> None:
        while read_requests(connection):
            asked.set()

    with FakeEngine(tmp_path / "s", talk) as engine, ThreadPoolExecutor() as pool:
        host = host_for(engine.url)
        other = pool.submit(host.observe, utc_now(), 1.0, Wants())
        assert asked.wait(10)
        with pytest.raises(DeadlineExceededError) as error:
            host.observe(utc_now(), 0.0, Wants())
        assert isinstance(other.exception(10), DeadlineExceededError)
    assert error.value.details["hint"] == "busy"
    assert "another scan" in error.value.message
    assert "hangs" not in error.value.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["Id", "State", "Config", "HostConfig", "Names", "Status", "Labels", "Health", "Log", "read", "Image"]
    ), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.promise("F17")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    JSON, st.sampled_from(["/version", "/info", "containers/json", f"{BAD}/json", f"{BAD}/stats", "images", "networks"])
)
def test_any_json_anywhere_is_a_snapshot_or_an_error_of_ours(tmp_path: Path, content: object, where: str) -> None:
    path = tmp_path / "s"
    path.unlink(missing_ok=True)
    with FakeEngine(path, engine_with({where: answer(json.dumps(content).encode())})) as engine:
        try:
            host_for(engine.url).observe(utc_now(), 5.0, ALL).snapshot.model_dump_json()
        except BconError:
            return
