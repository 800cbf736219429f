"""What it costs to compare 50 Compose projects again when nothing, and when one file, has changed.

    python -m bench.drift [PROJECTS]     # on a private engine; writes its table into docs/performance.md

The same in two steps, of which the second is short: `grow FOLDER [PROJECTS]`, `measure FOLDER`.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bcon_exporter import clock
from bcon_exporter.app import build_context
from bcon_exporter.compose import ComposeReader, find_binary
from bcon_exporter.engine import DockerHost
from bcon_exporter.model.reports import DriftStatus
from bcon_exporter.schedule.drift_job import DriftJob
from bcon_exporter.settings import Settings
from bench.document import write_section
from tests.docker.engine import PrivateEngine
from tests.docker.image import IMAGE, build_image

if TYPE_CHECKING:
    from bcon_exporter.tools import Context

PROJECTS = 50
SERVICES = ("web", "api", "worker", "db", "cache", "cron")
STARTERS = 3
ROUNDS = 15
SETTLED_SECONDS = 3.0
SERVICE = """\
  {name}:
    image: {image}
    command: [sleep, '3600']
    init: true
    restart: unless-stopped
    env_file: app.env
    environment:
      TIER: ${{TIER}}
      NUMBER: '{number}'
    labels:
      team: shop
      traefik.http.routers.{name}.rule: Host(`{name}.example.com`)
    volumes:
      - data:/data
      - ./conf:/conf:ro
    mem_limit: 64m
    stop_grace_period: 1s
    logging:
      options: {{max-size: 10m}}
"""


@dataclass(frozen=True)
class DriftMeasurement:
    """Medians over the rounds; CPU is ours, runs of the Compose binary included."""

    projects: int
    containers: int
    unchanged_seconds: float
    unchanged_cpu_seconds: float
    unchanged_runs_of_compose: int
    one_file_seconds: float
    one_file_cpu_seconds: float
    one_file_runs_of_compose: int
    first_seconds: float
    first_cpu_seconds: float
    first_runs_of_compose: int


def compose_file(number: int) -> str:
    """Return a project as people write them: variables, an env file, volumes, limits.

    Without health checks: one that has not run yet is looked at in every scan.
    """
    services = "".join(SERVICE.format(name=name, image=IMAGE, number=number) for name in SERVICES)
    return f"services:\n{services}volumes:\n  data:\n"


def bring_up(folder: Path, number: int, host: str) -> Path:
    """Write one project and start it."""
    home = folder / f"stack{number:02}"
    (home / "conf").mkdir(parents=True)
    (home / "compose.yaml").write_text(compose_file(number))
    (home / "app.env").write_text("A=1\nB=2\nPASSWORD=x\n")
    (home / ".env").write_text("TIER=gold\n")
    binary = find_binary(os.environ["PATH"])
    assert binary is not None
    environ = {**os.environ, "DOCKER_HOST": host, "COMPOSE_PARALLEL_LIMIT": "3"}
    command = [*binary, "up", "-d", "--pull", "never"]
    subprocess.run(command, cwd=home, env=environ, check=True, capture_output=True, timeout=600)
    return home


def measure(context: Context, homes: list[Path]) -> DriftMeasurement:
    """Scan once, then again and again, then with one changed file."""
    job, compose = DriftJob(), context.compose
    assert isinstance(compose, ComposeReader)
    first = _timed(context, job)
    first_runs = compose.runs
    scan = context.scans.drift
    assert scan is not None
    wrong = [report.summary for report in scan.reports if report.status is not DriftStatus.SYNCED]
    assert (len(scan.reports), wrong) == (len(homes), [])
    time.sleep(SETTLED_SECONDS)
    _timed(context, job)
    before = compose.runs
    rounds = [_timed(context, job) for _ in range(ROUNDS)]
    idle_runs = compose.runs - before
    (homes[0] / "app.env").write_text("A=1\nB=3\nPASSWORD=x\n")
    before = compose.runs
    changed = _timed(context, job)
    return DriftMeasurement(
        projects=len(homes),
        containers=len(homes) * len(SERVICES),
        unchanged_seconds=round(statistics.median(wall for wall, _ in rounds), 4),
        unchanged_cpu_seconds=round(statistics.median(cpu for _, cpu in rounds), 4),
        unchanged_runs_of_compose=idle_runs,
        one_file_seconds=round(changed[0], 4),
        one_file_cpu_seconds=round(changed[1], 4),
        one_file_runs_of_compose=compose.runs - before,
        first_seconds=round(first[0], 2),
        first_cpu_seconds=round(first[1], 2),
        first_runs_of_compose=first_runs,
    )


def _timed(context: Context, job: DriftJob) -> tuple[float, float]:
    wall, cpu = clock.monotonic(), _cpu_seconds()
    job.run(context)
    return clock.monotonic() - wall, _cpu_seconds() - cpu


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock.process_cpu_seconds() + children.ru_utime + children.ru_stime


def render(found: DriftMeasurement) -> str:
    """Return the table for the document."""
    lines = [
        f"`python -m bench.drift {found.projects}` on {os.cpu_count()} cores: {found.projects} projects of "
        f"{len(SERVICES)} containers each; medians of {ROUNDS} rounds.",
        "",
        "| compared again | wall s | CPU s, ours | runs of Compose |",
        "|---|--:|--:|--:|",
        f"| nothing changed | {found.unchanged_seconds:.3f} | {found.unchanged_cpu_seconds:.3f} | "
        f"{found.unchanged_runs_of_compose} |",
        f"| an env file of one project changed | {found.one_file_seconds:.3f} | {found.one_file_cpu_seconds:.3f} | "
        f"{found.one_file_runs_of_compose} |",
        f"| never compared before | {found.first_seconds:.1f} | {found.first_cpu_seconds:.1f} | "
        f"{found.first_runs_of_compose} |",
    ]
    return "\n".join(lines)


def grow(folder: Path, projects: int, *, detached: bool) -> PrivateEngine:
    """Start an engine and the projects in a folder; detached, they outlive this process."""
    engine = PrivateEngine(folder / "engine")
    engine.start("--default-address-pool", "base=10.210.0.0/16,size=24", detached=detached)
    build_image(engine.host)
    with ThreadPoolExecutor(STARTERS) as starters:
        list(starters.map(lambda number: bring_up(folder / "projects", number, engine.host), range(projects)))
    return engine


def measure_grown(folder: Path) -> None:
    """Measure what `grow` left, write it down, and end all of it."""
    engine = PrivateEngine(folder / "engine")
    try:
        context = build_context(
            Settings.model_validate({"docker": {"host": engine.host}, "compose": {"roots": [str(folder)]}})
        )
        with closing(context.memory), closing(context.host) as host:
            assert isinstance(host, DockerHost)
            host.start()
            found = measure(context, sorted((folder / "projects").iterdir()))
        print(json.dumps(asdict(found)), flush=True)
        write_section("drift", render(found))
    finally:
        engine.destroy()


def main(arguments: list[str]) -> None:
    """Do one step, or all of them in a folder of their own."""
    match arguments:
        case ["grow", folder, *rest]:
            grow(Path(folder), int(rest[0]) if rest else PROJECTS, detached=True)
        case ["measure", folder]:
            measure_grown(Path(folder))
        case _:
            with tempfile.TemporaryDirectory() as folder:
                engine = grow(Path(folder), int(arguments[0]) if arguments else PROJECTS, detached=False)
                try:
                    measure_grown(Path(folder))
                finally:
                    engine.destroy()


if __name__ == "__main__":
    main(sys.argv[1:])
