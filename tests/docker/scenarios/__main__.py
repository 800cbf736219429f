"""Judges every scenario on an engine of its own and prints the figures.

python -m tests.docker.scenarios [--json] [ID or group…]
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from tests.docker.conftest import make_engine
from tests.docker.daemon import Daemon
from tests.docker.scenarios.score import Verdict, judge, render, score
from tests.docker.scenarios.stage import INTERVAL, add_files_to_image, play
from tests.docker.scenarios.table import load_table


def judge_all(names: frozenset[str] = frozenset()) -> list[Verdict]:
    """Start an engine, a daemon and the scenarios (all, or these), and judge each."""
    scenarios = [each for each in load_table() if not names or each.id in names or each.group in names]
    engine = make_engine()
    try:
        add_files_to_image(engine)
        with (
            tempfile.TemporaryDirectory() as folder,
            Daemon(Path(folder), engine.host, "--scan.diagnose-interval", INTERVAL) as daemon,
        ):
            daemon.wait_until_ready()
            seen = play(daemon, engine, scenarios)
        return [judge(each, seen[each.id]) for each in scenarios]
    finally:
        engine.destroy()


def main(arguments: list[str]) -> int:
    """Print, and return 1 when a scenario is not right."""
    verdicts = judge_all(frozenset(name for name in arguments if not name.startswith("--")))
    found = score(verdicts)
    if "--json" in arguments:
        shown = json.dumps({"score": found.to_json(), "verdicts": [one.to_json() for one in verdicts]})
    else:
        shown = render(found, verdicts)
    sys.stdout.write(f"{shown}\n")
    return int(any(one.faults for one in verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
