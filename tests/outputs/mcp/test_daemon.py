"""The real daemon serves agents at /mcp and through `bcon-exporter mcp`, over reloads, for as many as come."""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import json
import re
import signal
from typing import TYPE_CHECKING, Literal

import pytest
from mcp_types import ElicitRequestParams, ElicitResult

from tests.docker.daemon import Daemon
from tests.outputs.mcp.served import (
    CLIENTS,
    HANGING_UP,
    ask_while_engine_hangs,
    client_of,
    findings_of,
    measure_what_clients_leave,
    serving_agents,
)
from tests.outputs.mcp.talking import Mode, over_stdio, talk, text_of
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.promises.plugin import Figure

pytestmark = pytest.mark.integration

TOKEN = "k" * 43
USERS = f"bearer_tokens: {{agent: 'sha256:{hashlib.sha256(TOKEN.encode()).hexdigest()}'}}\n"


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """A daemon over a host that broke, which has been scanned."""
    with serving_agents() as served:
        yield served


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


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("asks", ["daemon", "none"])
def test_a_person_at_a_pipe_decides_about_a_note_of_the_daemon(daemon: Daemon, mode: Mode, asks: str) -> None:
    said: list[Literal["accept", "decline"]] = ["decline", "accept"]

    async def say(context: object, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG001 -- named by the SDK
        assert "Keep this note?" in params.message
        return ElicitResult(action=said.pop(0))

    async def write_twice() -> list[str]:
        url = f"http://127.0.0.1:{daemon.port}"
        words = [f"--web.listen-address=127.0.0.1:{daemon.port}", "--mcp.toolsets=ops"]
        words += ["--daemon", url if asks == "daemon" else "none"]
        note = {"text": f"harmless, says {mode} of {asks}", "dry_run": False}
        async with over_stdio(mode, *words, on_question=say) as client:
            told = [json.loads(text_of(await client.call_tool("write_memory", note))) for _ in range(2)]
        return [one["report"]["status"] for one in told]

    assert talk(write_twice) == ["refused", "approved"]
    notes = daemon.ask("/api/v1/notes").json()["result"]["notes"]
    assert [one["status"] for one in notes if one["text"] == f"harmless, says {mode} of {asks}"] == ["approved"]


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


def test_a_daemon_answers_structured_where_it_is_told(tmp_path: Path) -> None:
    with Daemon(tmp_path, f"unix://{tmp_path}/absent.sock", "--mcp.enable", "--mcp.structured") as daemon:

        async def ask_both() -> bool:
            async with client_of(daemon) as client:
                tools = (await client.list_tools()).tools
                answer = await client.call_tool("health_check", {})
                return all(tool.output_schema for tool in tools) and bool(answer.structured_content)

        assert talk(ask_both)


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
    told = ask_while_engine_hangs(tmp_path)

    assert {code for code, _ in told} <= {"PROBE_TIMEOUT", "PROVIDER_NOT_FOUND"}
    assert max(seconds for _, seconds in told) <= 6


@pytest.mark.slow
def test_clients_that_have_gone_leave_nothing_behind(daemon: Daemon, figure: Figure) -> None:
    """As sessions of 41 kB each would do for half an hour."""
    left = measure_what_clients_leave(daemon)

    figure(f"{CLIENTS} clients, {HANGING_UP} of them hung up: RSS {left.rss_bytes / 1e6:+.2f} MB, threads and files +0")
    assert left.rss_bytes < 3e6
    assert left.threads <= 0
    assert left.files <= 0
