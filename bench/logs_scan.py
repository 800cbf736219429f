"""What log analysis costs a whole scan: containers with 200 new lines each, 1 % of them bad, judged with and without.

python -m bench.logs_scan [CONTAINERS [ROUNDS]]     # writes its table into docs/performance.md
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bcon_exporter import clock
from bcon_exporter.app import build_context
from bcon_exporter.diagnosis import Policy, diagnose_host
from bcon_exporter.engine import DockerHost, Wants, raise_open_files_limit
from bcon_exporter.schedule.diagnose_job import DiagnoseJob
from bcon_exporter.settings import load_settings
from bcon_exporter.tools import observe
from bench.document import write_section
from bench.fleet import Fleet
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from bcon_exporter.tools import Context

LINES = 200
BAD_LINES = 2
PERIOD_SECONDS = 20
WAYS = {
    "without": "without the logs: neither read nor analysed",
    "read": "logs read, not analysed",
    "whole": "logs read and analysed",
}
TALKER = f"""
trap 'exit 0' TERM
while :; do
  seq 1 {LINES - BAD_LINES} | sed 's#.*#level=info msg="request served" id=& path=/api/orders/& status=200 took=12ms#'
  seq 1 {BAD_LINES} | sed 's#.*#level=error msg="cannot reserve stock" order=& item=A-77&#'
  sleep {PERIOD_SECONDS} & wait $!
done"""


@dataclass(frozen=True)
class Cost:
    """One scan: wall time, our own CPU time, and how many lines came."""

    wall_seconds: float
    cpu_seconds: float
    lines: int


def measure(host: str, rounds: int) -> dict[str, list[Cost]]:
    """Scan once a period in each way, in turn, so that each finds the lines of one period."""
    raise_open_files_limit()
    with tempfile.TemporaryDirectory() as folder:
        given = {"docker": {"host": host}, "state": {"path": f"{folder}/state.db"}}
        context = build_context(load_settings(given, {}))
        if isinstance(context.host, DockerHost):
            context.host.start()
        try:
            return _measure(context, rounds)
        finally:
            context.host.close()
            context.memory.close()


def _measure(context: Context, rounds: int) -> dict[str, list[Cost]]:
    blind = replace(context, policy=Policy(use_logs=False))
    job, blind_job = DiagnoseJob(), DiagnoseJob()
    ways: dict[str, Callable[[], object]] = {
        "without": lambda: blind_job.run(blind),
        "read": lambda: _read_only(context),
        "whole": lambda: job.run(context),
    }
    costs: dict[str, list[Cost]] = {name: [] for name in ways}
    for number in range(-1, rounds):
        for name, scan in ways.items():
            began = clock.monotonic()
            cost = _time(context, scan)
            if number >= 0:
                costs[name].append(cost)
            if name != "without":
                time.sleep(max(0.0, PERIOD_SECONDS - (clock.monotonic() - began)))
    return costs


def _time(context: Context, scan: Callable[[], object]) -> Cost:
    wall, cpu = clock.monotonic(), time.process_time()
    scan()
    wall, cpu = clock.monotonic() - wall, time.process_time() - cpu
    last = context.scans.diagnosis
    lines = sum(len(each.logs.lines) for each in last.snapshot.containers if each.logs) if last else 0
    return Cost(wall, cpu, lines)


def _read_only(context: Context) -> None:
    """The whole scan, judged as if there were no logs."""
    snapshot = observe(context, Wants(log_window_seconds=context.thresholds.log_window_seconds))
    diagnose_host(snapshot, context.thresholds, context.catalogue, policy=Policy(use_logs=False))


def render(size: int, costs: dict[str, list[Cost]]) -> str:
    """The table and the ratios, as Markdown."""
    medians = {
        name: (statistics.median(c.wall_seconds for c in found), statistics.median(c.cpu_seconds for c in found))
        for name, found in costs.items()
    }
    whole, read, without = medians["whole"], medians["read"], medians["without"]
    lines = [
        f"`python -m bench.logs_scan {size}` on {os.cpu_count()} cores: {size} containers, {LINES} new lines each and "
        f"scan, {BAD_LINES} of them bad; median of {len(costs['whole'])} scans.",
        "",
        "| a scan of all | wall s | CPU s, ours |",
        "|---|--:|--:|",
        *(f"| {WAYS[name]} | {wall:.3f} | {cpu:.3f} |" for name, (wall, cpu) in medians.items()),
        "",
        f"Analysis makes a scan {whole[0] / read[0]:.1f} times as long as one that only reads the logs, and "
        f"{whole[0] / without[0]:.1f} times as long as one without logs.",
    ]
    return "\n".join(lines)


def main(size: int = 500, rounds: int = 5) -> None:
    """Measure on a fleet of its own."""
    fleet = Fleet(talker=TALKER).start()
    try:
        fleet.grow_to(size)
        wait_until(lambda: "level=error" in fleet.engine.docker("logs", "fleet-0"), "the first lines")
        costs = measure(fleet.engine.host, rounds)
    finally:
        fleet.stop()
    text = render(size, costs)
    print(text, flush=True)
    print({name: [(c.wall_seconds, c.cpu_seconds, c.lines) for c in found] for name, found in costs.items()})
    write_section("logs", text)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
