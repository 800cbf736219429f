"""How long an agent waits for diagnose_all over MCP and HTTP.

`python -m bench.agents` serves a recorded host of 30 containers, 5 of them ailing, from memory (no engine), and asks
200 times, one call after the other on one connection, each diagnosed anew. It prints median and 95th percentile in
milliseconds, as wall time of the caller and as CPU time of the whole process, which is server and caller both.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import statistics
import time

from bcon_exporter.outputs.http import Listener, bind, serve_all
from tests.agents.recorded import make_context, make_host
from tests.outputs.http.asking import LOOPBACK
from tests.outputs.mcp.talking import DIAGNOSE_ALL, site_for_agents

CONTAINERS, AILING = 30, 5
CALLS = 200
FIRST_CALLS = 3
"""Not counted: the first one imports the SDK."""
HEADERS = {
    "Accept": "application/json",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "diagnose_all",
}


async def measure() -> list[tuple[float, float]]:
    """Serve, and return the milliseconds of each call: wall, CPU."""
    app = site_for_agents(make_context(make_host(CONTAINERS, AILING))).behind(lambda: LOOPBACK, lambda: None)
    listener = Listener(bind("127.0.0.1", 0, "web.listen-address"), app)
    stop = asyncio.Event()
    serving = asyncio.create_task(serve_all([listener], stop))
    try:
        return await asyncio.to_thread(_call, int(listener.addresses[0].rpartition(":")[2]))
    finally:
        stop.set()
        await serving


def _call(port: int) -> list[tuple[float, float]]:
    connection, body, taken = http.client.HTTPConnection("127.0.0.1", port, timeout=30), json.dumps(DIAGNOSE_ALL), []
    for _ in range(FIRST_CALLS + CALLS):
        began, cpu = time.perf_counter(), time.process_time()
        connection.request("POST", "/mcp", body, HEADERS)
        answer = connection.getresponse()
        said = answer.read()
        taken.append((1000 * (time.perf_counter() - began), 1000 * (time.process_time() - cpu)))
        if answer.status != http.client.OK or json.loads(said)["result"]["isError"]:
            msg = f"diagnose_all failed: {answer.status} {said[:300]!r}"
            raise SystemExit(msg)
    connection.close()
    return taken[FIRST_CALLS:]


def main() -> None:
    """Print the figures."""
    taken = asyncio.run(measure())
    for name, numbers in (("wall", [wall for wall, _ in taken]), ("CPU", [cpu for _, cpu in taken])):
        p95 = statistics.quantiles(numbers, n=20)[-1]
        said = f"diagnose_all over MCP and HTTP, {CONTAINERS} containers, {len(numbers)} calls"
        print(f"{said}: {name} {statistics.median(numbers):.1f} ms, p95 {p95:.1f} ms")


if __name__ == "__main__":
    main()
