"""The real daemon serves agents at /mcp and through `bcon-exporter mcp`, over reloads, for as many as come."""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import json
import re
import signal
import threading
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.docker.daemon import Daemon
from tests.golden.engine import RecordedEngine
from tests.golden.recording import read_host
from tests.outputs.mcp.talking import Mode, over_stdio, talk, text_of
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.promises.plugin import Figure

pytestmark = pytest.mark.integration

TOKEN = "k" * 43
USERS = f"bearer_tokens: {{agent: 'sha256:{hashlib.sha256(TOKEN.encode()).hexdigest()}'}}\n"
CLIENTS, HANGING_UP = 500, 50
ADDRESSES = 200
"""From so many loopback addresses they come, since each may ask only so often."""


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
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


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_daemon_and_its_client_say_the_same_in_both_eras(daemon: Daemon, mode: Mode) -> None:
    async def ask_both() -> tuple[set[str], set[str], str, str]:
        async with client_of(daemon, mode) as served:
            direct = {one["resource"]["name"] for one in await findings_of(served)}
            name = json.loads(text_of(await served.call_tool("list_containers", {})))["metadata"]["clusterName"]
        async with over_stdio(mode, f"--web.listen-address=127.0.0.1:{daemon.port}") as client:
            relayed = {one["resource"]["name"] for one in await findings_of(client)}
            listed = json.loads(text_of(await client.call_tool("list_containers", {})))
            health = json.loads(text_of(await client.call_tool("health_check", {})))
            assert "last_diagnose_age_seconds" in health["report"]
        return direct, relayed, name, listed["metadata"]["clusterName"]

    direct, relayed, name, relayed_name = talk(ask_both)

    assert direct == relayed != set()
    assert name == relayed_name


def test_a_reload_disturbs_nobody_and_says_what_waits_for_a_restart(daemon: Daemon) -> None:
    before = daemon.log.count("settings reloaded")

    async def ask_across() -> None:
        async with client_of(daemon) as client:
            first = await findings_of(client)
            (daemon.folder / "bcon.yml").write_text("mcp: {enable: true, toolsets: [core, ops]}\n")
            daemon.process.send_signal(signal.SIGHUP)
            await asyncio.to_thread(wait_until, lambda: daemon.log.count("settings reloaded") > before, "the reload")
            assert [one["code"] for one in await findings_of(client)] == [one["code"] for one in first]
            assert len((await client.list_tools()).tools) == 12

    talk(ask_across)

    assert "the setting mcp differs from that at start" in daemon.log


def status_of(port: int, token: str | None) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    headers |= {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}), headers)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.promise("S1")
def test_users_that_a_reload_takes_away_take_the_agents_with_them(tmp_path: Path) -> None:
    users, settings = tmp_path / "web.yml", tmp_path / "bcon.yml"
    users.write_text(USERS)
    settings.write_text("mcp: {enable: true}\n")
    flags = ("--config.file", str(settings), "--web.config.file", str(users), "--web.listen-address=0.0.0.0:0")
    with Daemon(tmp_path, f"unix://{tmp_path}/absent.sock", *flags, "--api.listen-address=127.0.0.1:0") as daemon:
        assert status_of(daemon.port, TOKEN) == 200
        found = re.search(r"http://0\.0\.0\.0:(\d+)", daemon.log)
        assert found
        assert status_of(int(found[1]), TOKEN) == 404  # the API has a listener of its own
    with Daemon(tmp_path, f"unix://{tmp_path}/absent.sock", *flags, "--web.listen-address=127.0.0.1:0") as daemon:
        assert (status_of(daemon.port, TOKEN), status_of(daemon.port, "wrong"), status_of(daemon.port, None)) == (
            *(200, 401, 401),
        )


@pytest.mark.slow
@pytest.mark.alone
def test_an_engine_that_hangs_is_told_in_time_and_the_daemon_lives(tmp_path: Path) -> None:
    host, thawed = read_host("shop-crashing"), threading.Event()
    with RecordedEngine(host, tmp_path / "e.sock") as engine, Daemon(tmp_path, engine.host, "--mcp.enable") as daemon:
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
    assert {code for code, _ in told} <= {"PROBE_TIMEOUT", "PROVIDER_NOT_FOUND"}
    assert max(seconds for _, seconds in told) <= 6


@pytest.mark.slow
def test_clients_that_have_gone_leave_nothing_behind(daemon: Daemon, figure: Figure) -> None:
    """As sessions of 41 kB each would do for half an hour."""

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
        wait_until(lambda: threads_of(daemon) <= threads and files_of(daemon) <= files, "threads and files to go")

    asyncio.run(run(100))
    hang_up(daemon, 10)
    rest()
    before = rss_bytes(daemon)
    asyncio.run(run(CLIENTS))
    hang_up(daemon, HANGING_UP)
    rest()

    grown = rss_bytes(daemon) - before
    figure(f"{CLIENTS} clients, {HANGING_UP} of them hung up: RSS {grown / 1e6:+.2f} MB, threads and files +0")
    assert grown < 3e6


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
