"""Four ways to read every container of a host once, each measured in a process of its own.

python -m bench.ways WAY HOST ENGINE_PID REPETITIONS     # prints one JSON list of measurements
"""

from __future__ import annotations

import json
import selectors
import socket
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
from bcon_exporter import clock
from bcon_exporter.engine import DockerHost, HostOptions, Wants, raise_open_files_limit
from bcon_exporter.engine.find_socket import Endpoint
from bcon_exporter.readings import NOTHING_READ
from bcon_exporter.secrets.masking import Sealer
from tests.docker.processes import read_process, read_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAIVE_THREADS = 32
LOG_SOCKETS = 4
PAUSE_SECONDS = 4.0
ENGINE_PROCESSES = ("dockerd", "containerd")  # and its shims, whose names begin so


@dataclass(frozen=True)
class Measurement:
    """One scan: wall time, our CPU time, the engine's (dockerd, containerd, shims), and what it saw."""

    wall_seconds: float
    exporter_cpu_seconds: float
    engine_cpu_seconds: float
    containers: int


def naive_threads(host: str) -> Iterator[Callable[[], int]]:
    """What a script does: list, then stats and the last 200 log lines of each, on 32 threads."""
    client = docker.DockerClient(base_url=host, version="auto", timeout=300, max_pool_size=NAIVE_THREADS)

    def read(container: Any) -> None:
        if container.status == "running":
            container.stats(stream=False)
        container.logs(tail=200, timestamps=True)

    def scan() -> int:
        containers = client.containers.list(all=True)
        with ThreadPoolExecutor(NAIVE_THREADS) as threads:
            list(threads.map(read, containers))
        return len(containers)

    yield scan
    client.close()


def ours(host: str, options: HostOptions) -> Iterator[Callable[[], int]]:
    """Our own snapshot, as the scheduler takes it: events, list, what changed, usage, logs."""
    raise_open_files_limit()
    docker_host = DockerHost(Endpoint(host), options, Sealer.random())
    docker_host.start()
    readings = NOTHING_READ

    def scan() -> int:
        nonlocal readings
        docker_host.drain_events()
        docker_host.read_kills()
        observation = docker_host.observe(clock.utc_now(), 60.0, Wants(), readings)
        snapshot, readings = observation.snapshot, observation.readings or NOTHING_READ
        unread = [container.name for container in snapshot.containers if container.is_running and not container.usage]
        if unread or snapshot.incomplete:
            message = (
                f"a scan that left {len(unread)} usages and {len(snapshot.incomplete)} containers unread is no scan"
            )
            raise AssertionError(message)
        return len(snapshot.containers)

    scan()
    yield scan
    docker_host.close()


def ours_by_cgroup(host: str) -> Iterator[Callable[[], int]]:
    """With readable cgroup files, and log files whose size can be seen: as root on the host."""
    yield from ours(host, HostOptions())


def ours_by_api(host: str) -> Iterator[Callable[[], int]]:
    """With the Engine API alone."""
    with tempfile.TemporaryDirectory() as empty:
        yield from ours(host, HostOptions(cgroup_root=Path(empty), log_files=False))


def raw_fan_out(host: str) -> Iterator[Callable[[], int]]:
    """The floor of the API: the same requests written to bare sockets at once, the answers thrown away."""
    path = host.removeprefix("unix://")

    def scan() -> int:
        listed = json.loads(_body(_exchange(path, [[_request("/v1.41/containers/json?all=1")]])[0]))
        running = [entry["Id"] for entry in listed if entry["State"] == "running"]
        since = int(time.time() - PAUSE_SECONDS)
        logs = [
            _request(f"/v1.41/containers/{entry['Id']}/logs?stdout=1&stderr=1&timestamps=1&tail=200&since={since}")
            for entry in listed
        ]
        stats = [[_request(f"/v1.41/containers/{each}/stats?stream=false&one-shot=true")] for each in running]
        _exchange(path, [*stats, *(logs[start::LOG_SOCKETS] for start in range(LOG_SOCKETS))])
        return len(listed)

    yield scan


def _request(target: str) -> bytes:
    return f"GET {target} HTTP/1.1\r\nHost: docker\r\n\r\n".encode()


def _exchange(path: str, batches: list[list[bytes]]) -> list[bytes]:
    """Send each batch on a socket of its own and read until the engine closes it."""
    answers: dict[int, bytearray] = {}
    with selectors.DefaultSelector() as selector:
        for number, batch in enumerate(batches):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            last = batch[-1].replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
            connection.sendall(b"".join([*batch[:-1], last]))
            selector.register(connection, selectors.EVENT_READ, number)
            answers[number] = bytearray()
        while selector.get_map():
            for key, _ in selector.select(60):
                assert isinstance(key.fileobj, socket.socket)
                received = key.fileobj.recv(1 << 18)
                answers[key.data] += received
                if not received:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
    return [bytes(answers[number]) for number in range(len(batches))]


def _body(answer: bytes) -> bytes:
    head, _, body = answer.partition(b"\r\n\r\n")
    if b"chunked" not in head.lower():
        return body
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size or b"0", 16)
        if length == 0:
            break
        whole, body = whole + body[:length], body[length + 2 :]
    return whole


WAYS: dict[str, Callable[[str], Iterator[Callable[[], int]]]] = {
    "naive": naive_threads,
    "raw": raw_fan_out,
    "api": ours_by_api,
    "cgroup": ours_by_cgroup,
}


def engine_cpu_seconds(pids: list[int]) -> float:
    """CPU time of the engine's own processes, without the containers'."""
    return sum(process.cpu_seconds for pid in pids if (process := read_process(pid)))


def measure(way: str, host: str, engine_pid: int, repetitions: int) -> list[Measurement]:
    """Scan so often, with a pause between, after one scan that does not count."""
    pids = [process.pid for process in read_tree(engine_pid) if process.name.startswith(ENGINE_PROCESSES)]
    generator = WAYS[way](host)
    scan = next(generator)
    if way != "naive":
        scan()
    measurements = []
    for _ in range(repetitions):
        time.sleep(PAUSE_SECONDS)
        engine, own, start = engine_cpu_seconds(pids), time.process_time(), time.perf_counter()
        containers = scan()
        wall, used = time.perf_counter() - start, time.process_time() - own
        measurements.append(Measurement(wall, used, engine_cpu_seconds(pids) - engine, containers))
    next(generator, None)
    return measurements


if __name__ == "__main__":
    WAY, HOST, PID, REPETITIONS = sys.argv[1:]
    print(json.dumps([asdict(each) for each in measure(WAY, HOST, int(PID), int(REPETITIONS))]))
