"""Any bytes that an engine may answer, drawn by chance: a container that they are about lacks facts, the rest is read.

300 cases here, 10,000 in `make chaos`. What is drawn is mostly almost right: an answer of the real shape with one value
exchanged, a body cut off, a length that lies, a byte that is no text.
"""

from __future__ import annotations

import copy
import json
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bcon_exporter.clock import monotonic, utc_now
from bcon_exporter.errors import BconError
from tests.engine.fake_engine import FakeEngine, answer, read_requests
from tests.engine.test_docker_host import ALL, BAD, GOOD, STATS, VERSION, entry, host_for, inspected

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from pathlib import Path

    from bcon_exporter.engine import DockerHost
    from tests.promises.plugin import Figure

CASES = 10_000 if os.environ.get("TEST_SOAK") or os.environ.get("TEST_FUZZ") else 300
DEADLINE_SECONDS = 5.0
GRACE_SECONDS = 5.0  # a busy machine's
FULL = {
    "Id": BAD,
    "Name": "/bad",
    "Created": "2026-01-31T10:00:00.123456789Z",
    "RestartCount": 3,
    "Image": f"sha256:{BAD}",
    "LogPath": "/var/lib/docker/containers/x-json.log",
    "State": {
        "Status": "running", "Running": True, "Pid": 1, "ExitCode": 0, "OOMKilled": False, "Error": "",
        "StartedAt": "2026-01-31T11:00:00Z", "FinishedAt": "0001-01-01T00:00:00Z",
        "Health": {"Status": "unhealthy", "FailingStreak": 3, "Log": [
            {"Start": "2026-01-31T11:00:00Z", "End": "2026-01-31T11:00:01Z", "ExitCode": 1, "Output": "x"}]},
    },
    "Config": {
        "Env": ["A=b", "DB_PASSWORD=x"], "Labels": {"com.docker.compose.project": "p"}, "Cmd": ["sh"], "Tty": False,
        "Healthcheck": {"Test": ["CMD", "true"], "Interval": 1_000_000_000}, "Entrypoint": None, "Image": "x:1",
        "ExposedPorts": {"80/tcp": {}}, "Volumes": None, "StopSignal": "SIGTERM",
    },
    "HostConfig": {
        "RestartPolicy": {"Name": "always", "MaximumRetryCount": 0}, "Memory": 5, "NanoCpus": 5, "PidsLimit": None,
        "LogConfig": {"Type": "json-file", "Config": {}}, "NetworkMode": "default", "Ulimits": [{"Name": "nofile"}],
        "PortBindings": {"80/tcp": [{"HostIp": "", "HostPort": "80"}]}, "CgroupParent": "", "Binds": ["/a:/b"],
    },
    "Mounts": [{"Type": "bind", "Source": "/a", "Destination": "/b", "RW": True}],
    "NetworkSettings": {"Networks": {"bridge": {"IPAddress": "1.2.3.4", "NetworkID": "n"}}, "Ports": {}},
}  # fmt: skip
EVENT = {"Type": "container", "Action": "die", "time": 1_700_000_000, "timeNano": 1_700_000_000_000_000_000,
         "Actor": {"ID": BAD, "Attributes": {"name": "bad", "exitCode": "1"}}}  # fmt: skip
SHAPES: dict[str, Any] = {
    f"{BAD}/json": FULL,
    f"{BAD}/stats": json.loads(STATS),
    "/containers/json": [entry(GOOD), entry(BAD)],
    "/version": json.loads(VERSION),
    "/info": {"NCPU": 2, "MemTotal": 5, "Name": "h", "SecurityOptions": ["name=rootless"], "Driver": "overlay2"},
    "/networks": [{"Id": "n", "Name": "bridge", "Labels": None, "Driver": "bridge", "IPAM": {"Config": [{}]}}],
    "/volumes": {"Volumes": [{"Name": "v", "Labels": {}, "Options": None, "Mountpoint": "/v"}]},
    "/images/": {"Id": "sha256:x", "Config": {"Env": [], "Labels": None, "Volumes": {"/x": {}}}},
    "/events": EVENT,
}
ABOUT_ONE = (f"{BAD}/json", f"{BAD}/stats", f"{BAD}/logs")
ODD_TEXTS = (
    "\ud800",
    "\x00",
    "\x1b[2J",
    "9" * 400,
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "-1",
    "NaN",
    "../x",
)
NUMBERS = st.integers() | st.integers(min_value=10**30, max_value=10**40) | st.floats()
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=9) | st.sampled_from(ODD_TEXTS)
WRONG = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
OTHER_BODIES = (
    *(b"", b"null", b"{}", b"[]", b"7", b'"x"', b"NaN", b"<html><body>502</body></html>", b"\xff\xfe", b"{}{}"),
    *(b"[{},", b"[null]", b"[[]]", b"[" * 100_000, b'{"a":' * 50_000),
)
STATUSES = ("500 x", "404 x", "403 x", "301 x", "204 x", "299 x", "600 x", "101 x")
HEADERS = (
    *(b"Content-Length: -1", b"Content-Length: 9" + b"9" * 30, b"Content-Length: x", b"X", b"\xff: \xff"),
    *(b"Location: http://127.0.0.1:9/", b"Content-Encoding: gzip", b"X: " + b"x" * 70_000),
)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n%s\r\n0\r\n\r\n"
LOG = b"\x01\0\0\0\0\0\0\x222026-01-31T12:00:00.000000000Z hi\n"
ODD_LOGS = (LOG, LOG[:9], LOG * 50 + b"\x01\0\0\0\xff\xff\xff\xff")


def paths_in(value: Any, prefix: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value within a value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*prefix, key)
        yield from paths_in(inner, (*prefix, key))


@st.composite
def one_value_wrong(draw: st.DrawFn, target: str) -> bytes:
    """A body of the usual shape with one value exchanged or gone."""
    shape = copy.deepcopy(SHAPES[target])
    *way, last = draw(st.sampled_from(list(paths_in(shape))))
    holder = shape
    for key in way:
        holder = holder[key]
    if draw(st.booleans()):
        del holder[last]
    else:
        holder[last] = draw(WRONG)
    return json.dumps(shape).encode()


@st.composite
def bodies(draw: st.DrawFn, target: str) -> bytes:
    """A body: almost right, cut off, mangled, of another kind, or nested too deep."""
    if target not in SHAPES:
        return draw(st.binary(max_size=60) | st.sampled_from(ODD_LOGS))
    whole = bytearray(json.dumps(SHAPES[target]).encode())
    match draw(st.sampled_from(("value", "value", "value", "cut", "mangled", "other", "any"))):
        case "value":
            return draw(one_value_wrong(target))
        case "cut":
            return bytes(whole[: draw(st.integers(0, len(whole) - 1))])
        case "mangled":
            for _ in range(draw(st.integers(1, 4))):
                whole[draw(st.integers(0, len(whole) - 1))] = draw(st.integers(0, 255))
            return bytes(whole)
        case "other":
            return draw(st.sampled_from(OTHER_BODIES))
        case _:
            return json.dumps(draw(WRONG)).encode()


@st.composite
def answers(draw: st.DrawFn) -> tuple[str, bytes]:
    """A target and the raw answer to it."""
    target = draw(st.sampled_from((*SHAPES, f"{BAD}/logs")))
    body = draw(bodies(target))
    match draw(st.sampled_from(("whole", "whole", "whole", "status", "short", "long", "chunked", "headers", "raw"))):
        case "whole":
            return target, answer(body)
        case "status":
            return target, answer(body, draw(st.sampled_from(STATUSES)))
        case "short":
            return target, answer(body)[: -max(1, len(body) // 2)]
        case "long":
            return target, answer(body) + b"surplus"
        case "chunked":
            size = b"%x" % len(body)
            return target, CHUNKED % (
                draw(st.sampled_from((size, b"-1", b"ffffffff", b"zz", b"", size + b";x=y"))),
                body,
            )
        case "headers":
            return target, b"HTTP/1.1 200 OK\r\n" + draw(st.sampled_from(HEADERS)) + b"\r\n\r\n" + body
        case _:
            return target, draw(st.binary(max_size=200))


class ChangingEngine:
    """A fake engine that answers one target wrong, as it was told last."""

    def __init__(self, path: Path) -> None:
        self.target, self.raw = "", b""
        self.usual = {
            "/version": VERSION,
            "/info": b'{"NCPU":2}',
            "/containers/json": json.dumps([entry(GOOD), entry(BAD)]).encode(),
            f"{GOOD}/json": inspected(GOOD),
            f"{BAD}/json": inspected(BAD),
            "/stats": STATS,
            "/logs": LOG,
            "/networks": b"[]",
            "/volumes": b'{"Volumes":[]}',
        }
        self.engine = FakeEngine(path, self._talk)

    def _talk(self, connection: socket.socket) -> None:
        while targets := read_requests(connection):
            for target in targets:
                if self.target in target:
                    connection.sendall(self.raw)
                    return
                connection.sendall(answer(next((body for part, body in self.usual.items() if part in target), b"{}")))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChangingEngine]:
    changing = ChangingEngine(tmp_path_factory.mktemp("engine") / "s")
    with changing.engine:
        yield changing


@pytest.mark.promise("F17")
@pytest.mark.slow
def test_no_answer_costs_more_than_what_it_is_about(engine: ChangingEngine, figure: Figure) -> None:
    cases = 0
    threads = threading.active_count()

    @example((f"{BAD}/json", answer(b"[" * 100_000)))
    @example((f"{BAD}/json", answer(b'{"Id":"' + BAD.encode() + b'","Name":"\\ud800","State":[],"Config":7}')))
    @example((f"{BAD}/stats", answer(b'{"cpu_stats":{"cpu_usage":{"total_usage":NaN}},"read":"9999-12-31T23:59:59Z"}')))
    @example(
        (f"{BAD}/json", answer(b'{"Id":"' + BAD.encode() + b'","State":{"StartedAt":"soon","FinishedAt":"0000-00"}}'))
    )
    @example(("/containers/json", answer(b"[" * 100_000)))
    @example(("/version", answer(b"\xff" * 50)))
    @settings(max_examples=CASES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(answers())
    def check(drawn: tuple[str, bytes]) -> None:
        nonlocal cases
        cases += 1
        engine.target, engine.raw = drawn
        began = monotonic()
        host = host_for(engine.engine.url)
        try:
            read_everything(host, whole=engine.target in ABOUT_ONE)
        finally:
            host.close()
        assert monotonic() - began < DEADLINE_SECONDS + GRACE_SECONDS

    check()
    figure(f"{cases:,} cases, no exception of another kind")
    assert cases >= CASES
    assert threading.active_count() <= threads + 64, "threads of the fake engine, none of ours"


def read_everything(host: DockerHost, *, whole: bool) -> None:
    """Read all that a scan and a request read; errors of ours alone are let through, none where one container is meant.

    Args:
        whole: What is wrong is about one container: the other one is read whole.
    """
    try:
        snapshot = host.observe(utc_now(), DEADLINE_SECONDS, ALL).snapshot
    except BconError:
        assert not whole
        return
    assert snapshot.model_dump_json()
    if whole:
        (good,) = (container for container in snapshot.containers if container.id == GOOD)
        assert good.is_running
        assert good.logs is not None
    try:
        host.read_logs(BAD, tail=10, since=None, until=None)
        host.engine()
    except BconError:
        return
