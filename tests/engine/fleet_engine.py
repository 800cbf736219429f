"""An engine of thousands of containers that none of a test's machines could run, fast, and with faults on demand.

It answers what the exporter asks as an engine 20.10 does: one request at a time on each connection, in their order, so
that a container which hangs holds up those behind it. As a process of its own: python -m tests.engine.fleet_engine
SOCKET CONTAINERS [PADDING].
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import json
import re
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

STARTED = datetime(2026, 3, 1, 10, tzinfo=UTC)
LOG_EVERY_SECONDS = 10
_TARGET = re.compile(
    r"/v1\.[0-9]+/(?:(containers)/([0-9a-f]{64})/(json|stats|logs)|containers/(json)|(images)/.*|(\w+))"
)
_PING = {"Api-Version": "1.41"}


def id_of(number: int) -> str:
    """The id of a container."""
    return hashlib.sha256(f"fleet-{number}".encode()).hexdigest()


@functools.cache
def _labels(number: int) -> dict[str, str]:
    project = number // 25
    return {
        "com.docker.compose.project": f"fleet{project}",
        "com.docker.compose.service": f"s{number % 25}",
        "com.docker.compose.container-number": "1",
        "com.docker.compose.oneoff": "False",
        "com.docker.compose.config-hash": hashlib.sha256(str(number).encode()).hexdigest(),
        "com.docker.compose.project.working_dir": f"/srv/fleet{project}",
        "com.docker.compose.project.config_files": f"/srv/fleet{project}/compose.yaml",
        "org.opencontainers.image.source": "https://git.example/shop/app",
        "team": "shop",
    }


def _image(number: int) -> str:
    return f"registry.example/shop/app{number % 20}:1.{number % 7}"


def _mounts(number: int) -> list[dict[str, Any]]:
    return [
        {
            "Type": "volume", "Name": f"data-{number}", "Source": f"/var/lib/docker/volumes/data-{number}/_data",
            "Destination": "/data", "Driver": "local", "Mode": "z", "RW": True, "Propagation": "",
        }
    ]  # fmt: skip


def _networks(number: int) -> dict[str, Any]:
    address = f"10.{number // 65536 % 256}.{number // 256 % 256}.{number % 256}"
    return {
        f"fleet{number // 25}_default": {
            "IPAMConfig": None, "Links": None, "Aliases": [f"s{number % 25}"], "NetworkID": id_of(number // 25)[::-1],
            "EndpointID": id_of(number), "Gateway": "10.0.0.1", "IPAddress": address, "IPPrefixLen": 8,
            "IPv6Gateway": "", "GlobalIPv6Address": "", "GlobalIPv6PrefixLen": 0,
            "MacAddress": "02:42:0a:00:00:02", "DriverOpts": None,
        }
    }  # fmt: skip


@functools.cache
def list_entry(number: int) -> bytes:
    """A container's element of `/containers/json`."""
    return json.dumps(
        {
            "Id": id_of(number), "Names": [f"/fleet-{number}"], "Image": _image(number),
            "ImageID": f"sha256:{id_of(number % 20)}", "Command": "sh -c 'exec serve --port 8080'",
            "Created": int(STARTED.timestamp()), "Ports": [{"PrivatePort": 8080, "Type": "tcp"}],
            "Labels": _labels(number), "State": "running", "Status": "Up 3 hours",
            "HostConfig": {"NetworkMode": f"fleet{number // 25}_default"},
            "NetworkSettings": {"Networks": _networks(number)}, "Mounts": _mounts(number),
        },
        separators=(",", ":"),
    ).encode()  # fmt: skip


@functools.cache
def inspect_answer(number: int) -> bytes:
    """A container's `/containers/ID/json`."""
    at = STARTED.strftime("%Y-%m-%dT%H:%M:%S.123456789Z")
    return json.dumps(
        {
            "Id": id_of(number), "Created": at, "Path": "sh", "Args": ["-c", "exec serve --port 8080"],
            "State": {
                "Status": "running", "Running": True, "Paused": False, "Restarting": False, "OOMKilled": False,
                "Dead": False, "Pid": 0, "ExitCode": 0, "Error": "", "StartedAt": at,
                "FinishedAt": "0001-01-01T00:00:00Z",
            },
            "Image": f"sha256:{id_of(number % 20)}", "LogPath": "", "Name": f"/fleet-{number}", "RestartCount": 0,
            "Driver": "overlay2", "Platform": "linux", "MountLabel": "", "ProcessLabel": "", "AppArmorProfile": "",
            "HostConfig": {
                "Binds": [f"data-{number}:/data:z"], "LogConfig": {"Type": "json-file", "Config": {"max-size": "10m"}},
                "NetworkMode": f"fleet{number // 25}_default", "PortBindings": {},
                "RestartPolicy": {"Name": "unless-stopped", "MaximumRetryCount": 0}, "Memory": 67108864,
                "CpuPeriod": 0, "CpuQuota": 0, "NanoCpus": 0, "PidsLimit": None, "CapAdd": None, "CapDrop": None,
                "Dns": [], "ExtraHosts": None, "GroupAdd": None, "IpcMode": "private", "Privileged": False,
                "ReadonlyRootfs": False, "SecurityOpt": None, "ShmSize": 67108864, "Runtime": "runc",
                "MaskedPaths": ["/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/timer_list"],
            },
            "GraphDriver": {"Data": {"MergedDir": f"/var/lib/docker/overlay2/{id_of(number)}/merged"}, "Name": "o"},
            "Mounts": _mounts(number),
            "Config": {
                "Hostname": id_of(number)[:12], "User": "", "Tty": False, "OpenStdin": False,
                "ExposedPorts": {"8080/tcp": {}}, "Image": _image(number), "Labels": _labels(number),
                "Env": [
                    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", f"NUMBER={number}", "TIER=gold",
                    f"DB_PASSWORD=kW7-{id_of(number)[:20]}", f"DATABASE_URL=postgres://shop@db{number % 9}/shop",
                ],
                "Cmd": ["sh", "-c", "exec serve --port 8080"], "Entrypoint": None, "Volumes": None,
            },
            "NetworkSettings": {"Ports": {"8080/tcp": None}, "Networks": _networks(number)},
        },
        separators=(",", ":"),
    ).encode()  # fmt: skip


def image_answer(path: str) -> bytes:
    """Inspect of an image, asked for by id or by name."""
    number = re.search(r"/app([0-9]+):", path)
    image_id = f"sha256:{id_of(int(number[1]))}" if number else path.split("/")[3]
    return json.dumps({"Id": image_id, "Config": {"Env": ["PATH=/usr/bin"]}}).encode()


def stats_answer(number: int) -> bytes:
    """A container's one-shot `/containers/ID/stats`."""
    now = datetime.now(UTC)
    used = int((now - STARTED).total_seconds() * 1e7)
    return json.dumps(
        {
            "read": now.strftime("%Y-%m-%dT%H:%M:%S.%f000Z"), "preread": "0001-01-01T00:00:00Z",
            "pids_stats": {"current": 3},
            "blkio_stats": {"io_service_bytes_recursive": [{"major": 8, "minor": 0, "op": "Read", "value": number}]},
            "num_procs": 0, "storage_stats": {},
            "cpu_stats": {
                "cpu_usage": {"total_usage": used, "usage_in_kernelmode": 0, "usage_in_usermode": used},
                "system_cpu_usage": used * 40, "online_cpus": 2,
                "throttling_data": {"periods": 0, "throttled_periods": 0, "throttled_time": 0},
            },
            "precpu_stats": {"cpu_usage": {"total_usage": 0}},
            "memory_stats": {
                "usage": 9000000 + number, "max_usage": 12000000, "limit": 67108864,
                "stats": {"active_file": 40960, "inactive_file": 81920, "total_inactive_file": 81920, "rss": 8000000},
            },
            "name": f"/fleet-{number}", "id": id_of(number),
            "networks": {"eth0": {"rx_bytes": 1000 + number, "rx_packets": 9, "tx_bytes": 500, "tx_packets": 5}},
        },
        separators=(",", ":"),
    ).encode()  # fmt: skip


def log_answer(number: int, query: dict[str, list[str]]) -> bytes:
    """What a container has written since the time asked for: a line every ten seconds, at most `tail` of them."""
    now = time.time()
    since = max(float(query.get("since", ["0"])[0] or 0), STARTED.timestamp())
    tail = int(query.get("tail", ["200"])[0])
    newest = int(now // LOG_EVERY_SECONDS)
    oldest = max(int(since // LOG_EVERY_SECONDS) + 1, newest - tail + 1)
    frames = []
    for turn in range(oldest, newest + 1):
        at = datetime.fromtimestamp(turn * LOG_EVERY_SECONDS, UTC).strftime("%Y-%m-%dT%H:%M:%S.000000000Z")
        line = f'{at} level=info msg="request served" id={turn + number} path=/api/orders status=200 took=12ms\n'
        frames.append(b"\x01\0\0\0" + len(line).to_bytes(4, "big") + line.encode())
    return b"".join(frames)


_INFO = {
    "ID": "FLEET", "Name": "fleet", "Driver": "overlay2", "CgroupDriver": "cgroupfs", "CgroupVersion": "1", "NCPU": 64,
    "MemTotal": 1 << 38, "DockerRootDir": "/var/lib/docker", "ServerVersion": "20.10.24", "OSType": "linux",
    "Architecture": "x86_64", "KernelVersion": "6.1.0", "OperatingSystem": "Debian GNU/Linux 12 (bookworm)",
}  # fmt: skip
_VERSION = {
    "Version": "20.10.24", "ApiVersion": "1.41", "MinAPIVersion": "1.12", "Os": "linux", "Arch": "amd64",
    "Components": [{"Name": "Engine", "Version": "20.10.24"}],
}  # fmt: skip


@dataclass
class FleetEngine:
    """Serves on a unix socket, in a thread of its own between `with`.

    Attributes:
        containers: How many there are.
        removed: Numbers of those that are gone; may be changed at any time, as all that follows.
        hanging: Endpoint (inspect, stats, logs) and number of what never answers; None for all of the endpoint.
        refused: Endpoint → HTTP status with which a proxy would answer it.
        slow_stats: Answer stats as the engine does, at the next whole second.
        requests: Endpoint → how often it was asked.
        padding: Bytes added to each element of the list, as big labels would.
    """

    path: Path
    containers: int
    removed: set[int] = field(default_factory=set)
    hanging: set[tuple[str, int | None]] = field(default_factory=set)
    refused: dict[str, int] = field(default_factory=dict)
    slow_stats: bool = False
    padding: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _thread: threading.Thread | None = None

    def __post_init__(self) -> None:
        self._open: set[asyncio.Transport] = set()
        self._by_id = {id_of(number): number for number in range(self.containers)}

    @property
    def url(self) -> str:
        """Its address, as --docker.host takes it."""
        return f"unix://{self.path}"

    def __enter__(self) -> FleetEngine:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="fleet-engine")
        self._thread.start()
        assert ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        assert self._thread is not None
        self._thread.join(10)

    def _run(self, ready: threading.Event) -> None:
        server = self._loop.run_until_complete(
            self._loop.create_unix_server(lambda: _Connection(self), str(self.path), backlog=2048)
        )
        ready.set()
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(self._close_all(server))
            self._loop.close()

    async def _close_all(self, server: asyncio.Server) -> None:
        """Close all connections, also those that were accepted a moment ago: a closed server would not make them."""
        for listening in server.sockets:
            self._loop.remove_reader(listening.fileno())
        turns_without = 0
        while turns_without < 10:
            turns_without = 0 if self._open else turns_without + 1
            for transport in tuple(self._open):
                transport.abort()
            await asyncio.sleep(0)
        server.close()

    def note_connection(self, transport: asyncio.Transport, *, is_open: bool) -> None:
        """Remember which connections are open, to close them at the end."""
        (self._open.add if is_open else self._open.discard)(transport)

    def answer(self, target: str) -> tuple[float, bytes] | None:
        """Seconds to wait and the whole answer; None where none ever comes."""
        parts = urlsplit(target)
        if parts.path.endswith("/_ping"):
            self.requests["ping"] += 1
            return 0.0, _whole(b"OK", extra=_PING)
        found = _TARGET.fullmatch(parts.path)
        if found is None:
            return 0.0, _whole(b'{"message":"page not found"}', 404)
        endpoint, number = self._endpoint(found)
        self.requests[endpoint] += 1
        if {(endpoint, number), (endpoint, None)} & self.hanging:
            return None
        if endpoint in self.refused:
            return 0.0, _whole(b"<html><body><h1>Forbidden</h1></body></html>", self.refused[endpoint])
        if found[1] and (number is None or number in self.removed):
            return 0.0, _whole(b'{"message":"No such container: %s"}' % found[2].encode(), 404)
        if endpoint == "images":
            return 0.0, _whole(image_answer(unquote(parts.path)))
        return self._say(endpoint, number or 0, parse_qs(parts.query))

    def _endpoint(self, found: re.Match[str]) -> tuple[str, int | None]:
        if found[1]:
            return ("inspect" if found[3] == "json" else found[3]), self._by_id.get(found[2])
        return ("list" if found[4] else found[5] or found[6]), None

    def _say(self, endpoint: str, number: int, query: dict[str, list[str]]) -> tuple[float, bytes]:
        delay = 0.0
        match endpoint:
            case "list":
                return delay, _chunked(self._list(query))
            case "events" if "until" not in query:
                return delay, _STREAM
            case "stats":
                delay, body = (1.0 - time.time() % 1.0 if self.slow_stats else 0.0), stats_answer(number)
            case "inspect":
                body = inspect_answer(number)
            case "logs":
                body = log_answer(number, query)
            case "info":
                body = json.dumps(_INFO | {"Containers": self.containers}).encode()
            case "version":
                body = json.dumps(_VERSION).encode()
            case _:
                body = {"volumes": b'{"Volumes":[],"Warnings":null}', "events": b""}.get(endpoint, b"[]")
        return delay, _whole(body)

    def _list(self, query: dict[str, list[str]]) -> bytes:
        wanted = json.loads(query["filters"][0])["id"] if "filters" in query else None
        present = (number for number in range(self.containers) if number not in self.removed)
        entries = [list_entry(number) for number in present if wanted is None or id_of(number) in wanted]
        if self.padding:
            pad = b',"Padding":"' + b"x" * self.padding + b'"}'
            entries = [entry[:-1] + pad for entry in entries]
        return b"[" + b",".join(entries) + b"]"


_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


def _whole(body: bytes, status: int = 200, extra: dict[str, str] | None = None) -> bytes:
    headers = "".join(f"{name}: {value}\r\n" for name, value in (extra or {}).items())
    return f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body


def _chunked(body: bytes, size: int = 32768) -> bytes:
    parts = [b"%x\r\n%s\r\n" % (len(part), part) for at in range(0, len(body), size) if (part := body[at : at + size])]
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"".join(parts) + b"0\r\n\r\n"


class _Connection(asyncio.Protocol):
    """One request after the other."""

    def __init__(self, engine: FleetEngine) -> None:
        self._engine = engine
        self._data = b""
        self._waiting: deque[str] = deque()
        self._busy = False
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._engine.note_connection(transport, is_open=True)

    def eof_received(self) -> bool:
        self._transport.abort()  # asyncio's own close would wait for ever to write what nobody reads
        return True

    def connection_lost(self, _error: Exception | None) -> None:
        self._engine.note_connection(self._transport, is_open=False)

    def data_received(self, data: bytes) -> None:
        *requests, self._data = (self._data + data).split(b"\r\n\r\n")
        self._waiting.extend(request.split(b" ", 2)[1].decode() for request in requests)
        self._go_on()

    def _go_on(self) -> None:
        while self._waiting and not self._busy and not self._transport.is_closing():
            said = self._engine.answer(self._waiting.popleft())
            if said is None:
                self._busy = True
            elif said[0] > 0:
                self._busy = True
                asyncio.get_running_loop().call_later(said[0], self._write, said[1])
            else:
                self._transport.write(said[1])

    def _write(self, answer: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(answer)
        self._busy = False
        self._go_on()


class FleetEngineProcess:
    """The same as a process of its own, between `with`: it takes no time of the interpreter of who measures."""

    def __init__(self, path: Path, containers: int, padding: int = 0) -> None:
        self.url = f"unix://{path}"
        self._command = [
            sys.executable,
            "-m",
            "tests.engine.fleet_engine",
            str(path),
            str(containers),
            str(padding),
        ]

    def __enter__(self) -> FleetEngineProcess:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def main(path: Path, containers: int, padding: int = 0) -> None:
    """Serve until killed."""
    for number in range(containers):
        list_entry(number)
        inspect_answer(number)
    with FleetEngine(path, containers, slow_stats=True, padding=padding), contextlib.suppress(KeyboardInterrupt):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
