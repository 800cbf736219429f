"""What agents leave in the daemon's memory: they ask over MCP and HTTP without a pause, beside its scans.

    python -m bench.agents_memory [--seconds 300] [--host shop-crashing] [--environ NAME=VALUE ...]

The engine is a recorded one, so none is needed. Prints the daemon's memory at each tenth of the time, and after it has
been left alone; before that, agents warm it up.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import httpx

from bench.agent_calls import as_request, make_calls
from bench.soak import take_sample
from tests.docker.daemon import Daemon
from tests.golden.engine import RecordedEngine
from tests.golden.recording import list_hosts, read_host
from tests.waiting import wait_until

AGENTS = 6
WARM_UP_CALLS = 300
REST_SECONDS = 20


async def ask(daemon: Daemon, names: list[str], until: float, most_calls: int) -> dict[str, int]:
    """Let agents ask until then; how often each kind of answer came."""
    calls, counts = make_calls(names), dict.fromkeys(("good", "refused"), 0)

    async def be_an_agent(number: int) -> None:
        transport = httpx.AsyncHTTPTransport(local_address=f"127.0.4.{number + 1}")
        url = f"http://127.0.0.1:{daemon.port}"
        async with httpx.AsyncClient(transport=transport, base_url=url, timeout=60) as client:
            while time.monotonic() < until and sum(counts.values()) < most_calls:
                tool, arguments = next(calls)
                path, body, headers = as_request(tool, arguments, over_mcp=number % 2 == 0)
                answer = await client.post(path, content=body, headers=headers)
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
