"""Judges every scenario on an engine of its own and prints the figures.

python -m tests.docker.scenarios [--json] [--day-one] [ID, group or kind…]

--day-one: instead of our own table, the host that somebody wrote who had not seen the rules.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from tests.docker.conftest import make_engine
from tests.docker.daemon import Daemon
from tests.docker.scenarios.naive import judge_naively
from tests.docker.scenarios.score import Verdict, headline, judge, render, score
from tests.docker.scenarios.stage import INTERVAL, add_files_to_image, play
from tests.docker.scenarios.table import DAY_ONE, TABLE, load_table


def judge_all(names: frozenset[str] = frozenset(), table: Path = TABLE) -> tuple[list[Verdict], list[Verdict]]:
    """Start an engine, a daemon and the scenarios (all, or these); the daemon's verdicts, and a naive matcher's."""
    scenarios = [each for each in load_table(table) if not names or names & {each.id, each.group, each.kind}]
    engine = make_engine()
    try:
        add_files_to_image(engine)
        with (
            tempfile.TemporaryDirectory() as folder,
            Daemon(Path(folder), engine.host, "--scan.diagnose-interval", INTERVAL) as daemon,
        ):
            daemon.wait_until_ready()
            seen = play(daemon, engine, scenarios)
            naive = judge_naively(engine, scenarios)
        return [judge(each, seen[each.id]) for each in scenarios], [judge(each, naive[each.id]) for each in scenarios]
    finally:
        engine.destroy()


def main(arguments: list[str]) -> int:
    """Print, and return 1 when a scenario is not right."""
    names = frozenset(name for name in arguments if not name.startswith("--"))
    verdicts, naive = judge_all(names, DAY_ONE if "--day-one" in arguments else TABLE)
    found = score(verdicts)
    if "--json" in arguments:
        shown = json.dumps(
            {"score": found.to_json(), "naive": score(naive).to_json(), "verdicts": [one.to_json() for one in verdicts]}
        )
    else:
        shown = f"{render(found, verdicts)}\n\na naive matcher, same containers: {headline(score(naive), causes=False)}"
    sys.stdout.write(f"{shown}\n")
    return int(any(one.faults for one in verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
