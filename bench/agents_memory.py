"""What agents leave in the daemon's memory: they ask over MCP and HTTP without a pause, beside its scans.

    python -m bench.agents_memory [--seconds 300] [--host shop-crashing] [--environ NAME=VALUE ...]

The engine is a recorded one, so none is needed. Prints the daemon's memory at each tenth of the time, and after it has
been left alone; before that, agents warm it up.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from bcon_exporter.tools import TOOLS
from bench.soak import take_sample
from tests.docker.daemon import Daemon
from tests.golden.engine import RecordedEngine
from tests.golden.recording import list_hosts, read_host
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

AGENTS = 6
WARM_UP_CALLS = 300
REST_SECONDS = 20
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def make_calls(names: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tools with what agents give them, over and over, each time with something else."""
    there = {tool.name for tool in TOOLS}
    for number in itertools.count():
        name = names[number % len(names)]
        calls: tuple[tuple[str, dict[str, Any]], ...] = (
            ("list_containers", {"all": bool(number % 2)}),
            ("diagnose_all", {"include_healthy": bool(number % 2)}),
            ("diagnose_container", {"container_id": name, "log_tail": 50 + number % 100}),
            ("get_container_logs", {"container_id": name, "tail": 100 + number % 400}),
            ("get_container_stats", {"container_id": name}),
            ("get_container_info", {"container_id": name}),
            ("get_history", {"limit": 1 + number % 50}),
            ("list_incidents", {"limit": 1 + number % 50}),
            ("query_memory", {"query": f"connection refused {name} {number}"}),
            ("rag_search", {"query": f"why does {name} fail {number}"}),
            ("explain_error", {"container_id": name, "error_pattern": f"refused {number}"}),
            ("write_memory", {"text": f"note {number} about {name}", "about": name, "dry_run": True}),
            ("read_logs", {"unit": name, "lines": 1 + number % 200}),
            ("system_status", {}),
            ("get_untracked_containers", {"all": True}),
        )
        yield from (call for call in calls if call[0] in there)


async def ask(daemon: Daemon, names: list[str], until: float, most_calls: int) -> dict[str, int]:
    """Let agents ask until then; how often each kind of answer came."""
    calls, counts = make_calls(names), dict.fromkeys(("good", "refused"), 0)

    async def be_an_agent(number: int) -> None:
        transport = httpx.AsyncHTTPTransport(local_address=f"127.0.4.{number + 1}")
        url = f"http://127.0.0.1:{daemon.port}"
        async with httpx.AsyncClient(transport=transport, base_url=url, timeout=60) as client:
            while time.monotonic() < until and sum(counts.values()) < most_calls:
                tool, arguments = next(calls)
                if number % 2:
                    answer = await client.post(f"/api/v1/tools/{tool}?view=agent", json=arguments)
                else:
                    params = {"name": tool, "arguments": arguments, "_meta": META}
                    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                    headers = {"Accept": "application/json", "MCP-Protocol-Version": "2026-07-28"}
                    headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
                    answer = await client.post("/mcp", content=json.dumps(body), headers={
                        **headers, "Content-Type": "application/json"
                    })  # fmt: skip
                counts["good" if answer.status_code == httpx.codes.OK else "refused"] += 1

    await asyncio.gather(*map(be_an_agent, range(AGENTS)))
    return counts


def main(seconds: float, host_name: str, environ: dict[str, str]) -> None:
    """Print megabytes by tenths of the time."""
    host = read_host(host_name)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bcon-agents-")))
        engine = stack.enter_context(RecordedEngine(host, folder / "engine.sock"))
        engine.show(host.moments[-1])
        (folder / "bcon.yml").write_text("mcp: {enable: true, toolsets: [core, ops, agents]}\n")
        flags = ("--config.file", str(folder / "bcon.yml"), "--scan.diagnose-interval=2s", "--scan.drift-interval=5s")
        daemon = stack.enter_context(Daemon(folder, engine.host, *flags, environ=environ))
        wait_until(
            lambda: daemon.ask("/api/v1/diagnosis").status == httpx.codes.OK, "the first scan", timeout_seconds=60
        )
        listed = daemon.ask("/api/v1/tools/list_containers", "POST", {}).json()["result"]
        names = [container["name"] for container in listed["containers"]] if isinstance(listed, dict) else [
            container["name"] for container in listed
        ]  # fmt: skip
        pid = daemon.process.pid
        figures = [take_sample(pid).rss_bytes]
        asyncio.run(ask(daemon, names, time.monotonic() + 120, WARM_UP_CALLS))
        figures.append(take_sample(pid).rss_bytes)
        done = {"good": 0, "refused": 0}
        for _ in range(10):
            counts = asyncio.run(ask(daemon, names, time.monotonic() + seconds / 10, 1_000_000))
            done = {kind: done[kind] + count for kind, count in counts.items()}
            figures.append(take_sample(pid).rss_bytes)
        time.sleep(REST_SECONDS)
        figures.append(take_sample(pid).rss_bytes)
    first, warm, *tenths, rest = (f"{figure / 1e6:.0f}" for figure in figures)
    print(f"{done['good']} calls, {done['refused']} refused: MB at first {first}, warm {warm}, by tenths "
          f"{' '.join(tenths)}, left alone {rest}")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--host", choices=list_hosts(), default="shop-crashing")
    parser.add_argument("--environ", nargs="*", default=[])
    asked = parser.parse_args()
    main(asked.seconds, asked.host, dict(word.partition("=")[::2] for word in asked.environ))
