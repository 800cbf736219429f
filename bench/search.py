"""How long a question takes among 5,000 incidents that are over.

`python -m bench.search` asks the labelled questions of tests/search and ten that fit every incident, and prints the
median and the 95th percentile in milliseconds, as wall time and as CPU time of the thread.
"""

from __future__ import annotations

import statistics
import time
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bcon_exporter.incidents import FoldedIncidents
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.search import QueryMemoryInput
from bcon_exporter.tools.search import query_memory
from tests.factories import NOON
from tests.incidents.test_quiet import incident
from tests.search.judging import FILES, load_queries, make_search_context

if TYPE_CHECKING:
    from bcon_exporter.model.incidents import Incident

INCIDENTS = 5000
EVIDENCE = tuple(f"connection refused by 10.0.0.{number} while connecting to postgres" for number in range(20))


def measure() -> tuple[list[float], list[float]]:
    """Ask all; return the milliseconds of each question, as wall time and as CPU time."""
    queries = [one["query"] for name in FILES for one in load_queries(name)] + ["zanzibar memory killed postgres"] * 10
    with closing(MemoryKeeper.open(None, retention_seconds=32 * 86400, now=NOON)) as memory:
        context = replace(make_search_context(), memory=memory, now=lambda: NOON)
        memory.fold_incidents(lambda state: FoldedIncidents(state, tuple(map(_over, range(INCIDENTS)))), NOON)
        wall, cpu = [], []
        for query in (queries[0], *queries):  # the first one makes the index
            began, thread = time.perf_counter(), time.thread_time()
            query_memory(context, QueryMemoryInput(query=query))
            wall.append(1000 * (time.perf_counter() - began))
            cpu.append(1000 * (time.thread_time() - thread))
    return wall[1:], cpu[1:]


def p95_of(taken: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(taken, n=20)[-1]


def main() -> None:
    """Print the figures."""
    for name, taken in zip(("wall", "CPU"), measure(), strict=True):
        said = f"{len(taken)} questions, {INCIDENTS:,} incidents"
        print(f"{said}: {name} {statistics.median(taken):.1f} ms, p95 {p95_of(taken):.1f} ms")


def _over(number: int) -> Incident:
    at = NOON - timedelta(hours=number)
    made = incident("zanzibar-1", id=f"{at:%Y-%m-%d}-zanzibar-1-oom_killed-{number:04}", started_at=at, ended_at=at)
    return made.model_copy(update={"title": "zanzibar-1 was killed for want of memory", "evidence": EVIDENCE})


if __name__ == "__main__":
    main()
