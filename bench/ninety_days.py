"""What each endpoint and each tool answers over a state file of 90 days: bytes, milliseconds, and those of CPU.

    python -m bench.ninety_days [ROUNDS]

The rows are those of `bench.journal`, written by the daemon's own keeper; the 60 containers of them run. What takes a
number of rows is asked for the most that it gives.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from bcon_exporter.tools import TOOLS
from bench.journal import PROJECTS, SERVICES, Host, fill
from tests.factories import NOON, compose, container, snapshot
from tests.journal.keepers import open_keeper
from tests.outputs.http.asking import LOOPBACK, new_site
from tests.outputs.scenes import make_context, scan_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bcon_exporter.journal import MemoryKeeper
    from bcon_exporter.outputs.http import Site

LONG_AGO = (NOON - timedelta(days=90)).isoformat().replace("+00:00", "Z")
NAME = f"{PROJECTS[0]}-{SERVICES[0]}-1"
PATHS = (
    *("/", "/alerts", "/history", f"/c/{NAME}", f"/p/{PROJECTS[0]}", "/metrics"),
    *("/api/v1/alerts", "/api/v1/diagnosis", "/api/v1/drift", "/api/v1/memory", "/api/v1/tools", "/api/v1/notes"),
    *("/api/v1/health", "/api/v1/quiet", "/api/v1/containers", "/api/v1/cost?period=month", "/openapi.json"),
    f"/api/v1/history?since={LONG_AGO}&limit=1000",
    f"/api/v1/history?since={LONG_AGO}&limit=1000&name={NAME}",
    f"/api/v1/history?since={LONG_AGO}&limit=1000&changes=true",
    f"/api/v1/incidents?since={LONG_AGO}&limit=200",
    "/api/v1/deployments?limit=200",
    *(f"/api/v1/containers/{NAME}{what}" for what in ("", "/stats", "/logs", "/diagnosis")),
)
MOST: dict[str, dict[str, Any]] = {
    "get_history": {"since": LONG_AGO, "limit": 1000},
    "list_incidents": {"since": LONG_AGO, "limit": 200},
    "list_deployments": {"limit": 200},
    "query_memory": {"query": "connection refused postgres"},
    "get_digest": {"since": LONG_AGO},
}
"""What a tool is asked for; nothing, or the container alone, for the others."""


def fill_ninety_days(keeper: MemoryKeeper) -> int:
    """Write 90 days; the number of entries."""
    return fill(keeper, Host())


def make_site(keeper: MemoryKeeper) -> Site:
    """A daemon's faces over that past and the containers that run now."""
    host = snapshot(
        *(
            container(name=f"{project}-{service}-1", compose=compose(service, project=project))
            for project in PROJECTS
            for service in SERVICES
        )
    )
    context = make_context(host, memory=keeper, now=lambda: NOON)
    context.scans.publish_diagnosis(scan_of(host))
    return new_site(context)


def list_requests(incident_id: str) -> Iterator[tuple[str, str, dict[str, Any] | None]]:
    """Method, path and body of all that is asked."""
    yield from (("GET", path, None) for path in (*PATHS, f"/i/{incident_id}", f"/api/v1/incidents/{incident_id}"))
    for tool in TOOLS:
        fields = tool.input_schema().get("properties", {})
        named = {"container_id": NAME} if "container_id" in fields else {}
        for view in ("", "?view=agent"):
            yield "POST", f"/api/v1/tools/{tool.name}{view}", {**named, **MOST.get(tool.name, {})}


async def ask_all(site: Site, rounds: int) -> dict[str, tuple[int, int, list[tuple[float, float]]]]:
    """Status, bytes and milliseconds, also of CPU, of each question."""
    app = site.behind(lambda: LOOPBACK, lambda: None)
    answers: dict[str, tuple[int, int, list[tuple[float, float]]]] = {}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app), base_url="http://localhost:19877", timeout=120
    ) as client:
        listed = await client.get(f"/api/v1/incidents?since={LONG_AGO}&limit=1")
        for method, path, body in list_requests(listed.json()["result"]["incidents"][0]["id"]):
            taken, status, size = [], 0, 0
            for _ in range(rounds):
                began, cpu = time.perf_counter(), time.process_time()
                content = None if body is None else json.dumps(body)
                answer = await client.request(
                    method, path, content=content, headers={"content-type": "application/json"}
                )
                status, size = answer.status_code, len(answer.content)
                taken.append((1000 * (time.perf_counter() - began), 1000 * (time.process_time() - cpu)))
            answers[f"{method} {path.replace(LONG_AGO, '90d')}"] = (status, size, taken)
    return answers


def p95_of(taken: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(taken, n=20)[-1]


def main(rounds: int) -> None:
    """Print a line for each question; what the first asking loads is not counted."""
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd()) as folder,
        closing(open_keeper(Path(folder) / "state.db", now=NOON)) as keeper,
    ):
        began = time.monotonic()
        print(f"{fill_ninety_days(keeper):,} entries, written in {time.monotonic() - began:.0f} s")
        answers = asyncio.run(ask_all(make_site(keeper), rounds))
    print("status, bytes, ms at the median and 95th percentile, and of CPU")
    for question, (status, size, taken) in sorted(answers.items(), key=lambda item: -item[1][1]):
        wall, cpu = ([pair[place] for pair in taken[1:]] for place in (0, 1))
        figures = (statistics.median(wall), p95_of(wall), statistics.median(cpu), p95_of(cpu))
        print(f"{status} {size:10,} B {''.join(f'{figure:8.1f}' for figure in figures)}  {question}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 20)
