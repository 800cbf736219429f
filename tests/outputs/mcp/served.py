"""A daemon that serves agents: over a recorded host, over an engine that hangs, and what many clients leave behind."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.docker.daemon import Daemon
from tests.golden.engine import RecordedEngine
from tests.golden.recording import read_host
from tests.long_forms import IS_NIGHTLY
from tests.outputs.mcp.talking import Mode, talk, text_of
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

CLIENTS, HANGING_UP = (500, 50) if IS_NIGHTLY else (150, 20)
ADDRESSES = 200
"""From so many loopback addresses they come, since each may ask only so often."""


@dataclass(frozen=True)
class LeftBehind:
    """What a daemon has more of than before."""

    rss_bytes: int
    threads: int
    files: int


@contextmanager
def serving_agents() -> Iterator[Daemon]:
    """A daemon over a host that broke, which has been scanned."""
    host = read_host("shop-crashing")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="bcon-mcp-")))
        engine = stack.enter_context(RecordedEngine(host, folder / "engine.sock"))
        engine.show(host.moments[-1])
        (folder / "bcon.yml").write_text("mcp: {enable: true}\n")
        flags = ("--config.file", str(folder / "bcon.yml"), "--scan.diagnose-interval=10m", "--scan.drift-interval=10m")
        served = stack.enter_context(Daemon(folder, engine.host, *flags))
        wait_until(lambda: served.ask("/api/v1/diagnosis").status == 200, "the first scan")
        yield served


def client_of(daemon: Daemon, mode: Mode = "auto") -> Client:
    return Client(f"http://127.0.0.1:{daemon.port}/mcp", mode=mode)


async def findings_of(client: Client) -> list[dict[str, Any]]:
    answer = await client.call_tool("diagnose_all", {})
    assert not answer.is_error, text_of(answer)
    found: list[dict[str, Any]] = json.loads(text_of(answer))["findings"]
    return found


def ask_while_engine_hangs(folder: Path) -> list[tuple[str, float]]:
    """Ask a daemon twice whose engine hangs, then what needs none; the code of each error, and the seconds until it."""
    host, thawed = read_host("shop-crashing"), threading.Event()
    with RecordedEngine(host, folder / "e.sock") as engine, Daemon(folder, engine.host, "--mcp.enable") as daemon:
        wait_until(lambda: daemon.ask("/api/v1/diagnosis").status == 200, "the first scan")

        async def ask_twice() -> list[tuple[str, float]]:
            loop, told = asyncio.get_running_loop(), []
            async with client_of(daemon) as client:
                await findings_of(client)
                engine._loop.call_soon_threadsafe(thawed.wait, 60)
                for _ in range(2):
                    began = loop.time()
                    answer = await client.call_tool("diagnose_all", {})
                    told.append((json.loads(text_of(answer))["error"]["code"], loop.time() - began))
                assert len((await client.list_tools()).tools) == 12
            return told

        try:
            told = talk(ask_twice)
            assert daemon.ask("/metrics").status == 200
        finally:
            thawed.set()
    return told


def measure_what_clients_leave(daemon: Daemon) -> LeftBehind:
    """Serve many clients one after the other, after some that warm it up; threads and files get half a minute to go."""

    async def be_served(count: int) -> None:
        for number in range(count):
            transport = httpx2.AsyncHTTPTransport(local_address=f"127.0.1.{1 + number % ADDRESSES}")
            async with httpx2.AsyncClient(transport=transport) as http:
                url = f"http://127.0.0.1:{daemon.port}/mcp"
                mode: Mode = "auto" if number % 2 else "legacy"
                async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                    assert not (await client.call_tool("list_containers", {})).is_error

    async def run(count: int) -> None:
        async with asyncio.timeout(240):
            await be_served(count)

    threads, files = threads_of(daemon), files_of(daemon)

    def rest() -> None:
        with suppress(AssertionError):
            wait_until(lambda: threads_of(daemon) <= threads and files_of(daemon) <= files, "threads and files to go")

    asyncio.run(run(100))
    hang_up(daemon, 10)
    rest()
    before = rss_bytes(daemon)
    asyncio.run(run(CLIENTS))
    hang_up(daemon, HANGING_UP)
    rest()
    return LeftBehind(rss_bytes(daemon) - before, threads_of(daemon) - threads, files_of(daemon) - files)


def hang_up(daemon: Daemon, count: int) -> None:
    """Ask and go away before there is an answer."""
    params = {
        "name": "diagnose_all",
        "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "diagnose_all",
    }
    for number in range(count):
        source = (f"127.0.2.{1 + number % ADDRESSES}", 0)
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=10, source_address=source)
        connection.request("POST", "/mcp", body, headers)
        connection.close()


def rss_bytes(daemon: Daemon) -> int:
    status = Path(f"/proc/{daemon.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def threads_of(daemon: Daemon) -> int:
    return len(list(Path(f"/proc/{daemon.process.pid}/task").iterdir()))


def files_of(daemon: Daemon) -> int:
    return len(list(Path(f"/proc/{daemon.process.pid}/fd").iterdir()))
