"""Plays every case on a private engine and prints how right incidents and messages are: `make incidents`.

    python -m tests.incidents_bench [NAME…] [--together N] [--beside CHECKOUT] [--seen FILE]

NAME: a case, a half (cases, cases_page), a kind (cascade, pair, quiet) or a file. `--beside` lets another version of
the exporter watch the same engine with its own rules, and counts its messages. `--seen` keeps what was told, as JSON.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
from pathlib import Path

from tests.docker.conftest import make_engine
from tests.docker.engines import use_wanted_engine
from tests.incidents_bench.cases import read_cases
from tests.incidents_bench.hosts import HOSTS, play_host
from tests.incidents_bench.image import build_bench_image
from tests.incidents_bench.judge import is_good, judge, render
from tests.incidents_bench.monitoring import monitoring
from tests.incidents_bench.play import SIDE_BY_SIDE, Stage, check_steps


def main(words: list[str]) -> int:
    """Print, and return 1 when a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.incidents_bench")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--together", type=int, default=SIDE_BY_SIDE)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--seen", type=Path)
    given = parser.parse_args(words)
    cases = read_cases(*given.names)
    for case in cases:
        check_steps(case)
    hosts = [host for host in HOSTS if not given.names or {host.id, "quiet", "cases"} & set(given.names)]
    use_wanted_engine()
    engine = make_engine()
    verdicts, seen = [], {}
    try:
        build_bench_image(engine)
        with tempfile.TemporaryDirectory(prefix="bcon-incidents-") as folder:
            projects = Path(folder) / "projects"
            projects.mkdir()
            if cases:
                with monitoring(engine, Path(folder) / "watch", projects, beside=given.beside) as watching:
                    stage = Stage(engine, watching, projects)
                    seen = stage.play(cases, given.together)
                verdicts = [judge(case, seen[case.id]) for case in cases]
            for host in hosts:
                verdicts.append(play_host(host, engine, Path(folder) / host.id, given.beside))
    finally:
        engine.destroy()
    if given.seen is not None:
        told = {name: dataclasses.asdict(one) for name, one in seen.items()}
        given.seen.write_text(json.dumps(told, indent=1))
    sys.stdout.write(f"{render(verdicts)}\n")
    return int(not is_good(verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
