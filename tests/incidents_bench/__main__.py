"""Plays every case on a private engine and prints how right incidents and messages are: `make incidents`.

    python -m tests.incidents_bench [NAME…] [--together N] [--beside CHECKOUT] [--seen FILE] [--delay [FAILURE…]]

NAME: a case, a part (cases, cases_page, cases_second_page), a kind (cascade, pair, quiet) or a file. `--beside` lets
another version of the exporter watch the same engine with its own rules, and counts its messages. `--seen` keeps what
was told, as JSON.
`--delay` measures `make notify-delay` meanwhile, on the same engine, with an exporter that judges its projects alone.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from tests.docker.conftest import make_engine
from tests.docker.engines import use_wanted_engine
from tests.incidents_bench.cases import read_cases
from tests.incidents_bench.delay import PROJECTS, measure
from tests.incidents_bench.hosts import HOSTS, play_host
from tests.incidents_bench.image import build_bench_image
from tests.incidents_bench.judge import Verdict, is_good, judge, render
from tests.incidents_bench.monitoring import monitoring
from tests.incidents_bench.play import SIDE_BY_SIDE, Stage, check_steps

if TYPE_CHECKING:
    from tests.docker.conftest import TestEngine
    from tests.incidents_bench.cases import Case
    from tests.incidents_bench.play import Seen


def main(words: list[str]) -> int:
    """Print, and return 1 when a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.incidents_bench")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--together", type=int, default=SIDE_BY_SIDE)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--seen", type=Path)
    parser.add_argument("--delay", nargs="*", metavar="FAILURE")
    given = parser.parse_args(words)
    cases = read_cases(*given.names)
    for case in cases:
        check_steps(case)
    hosts = [host for host in HOSTS if not given.names or {host.id, "quiet", "cases"} & set(given.names)]
    use_wanted_engine()
    engine = make_engine()
    verdicts: list[Verdict] = []
    try:
        build_bench_image(engine)
        with tempfile.TemporaryDirectory(prefix="bcon-incidents-") as folder, ThreadPoolExecutor(1) as beside:
            measured = beside.submit(measure, engine, given.delay) if given.delay is not None else None
            if cases:
                seen = _play(cases, engine, Path(folder), given)
                verdicts = [judge(case, seen[case.id]) for case in cases]
                _tell(verdicts)
            if measured is not None:
                measured.result()
            for host in hosts:
                verdicts.append(play_host(host, engine, Path(folder) / host.id, given.beside))
    finally:
        engine.destroy()
    _tell(verdicts)
    return int(not is_good(verdicts))


def _play(cases: list[Case], engine: TestEngine, folder: Path, given: argparse.Namespace) -> dict[str, Seen]:
    projects = folder / "projects"
    projects.mkdir()
    others = f"--filter.exclude-projects={','.join(PROJECTS)}"
    with monitoring(engine, folder / "watch", projects, others, beside=given.beside) as watching:
        seen = Stage(engine, watching, projects).play(cases, given.together)
    if given.seen is not None:
        given.seen.write_text(json.dumps({name: dataclasses.asdict(one) for name, one in seen.items()}, indent=1))
    return seen


def _tell(verdicts: list[Verdict]) -> None:
    sys.stdout.write(f"{render(verdicts)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
