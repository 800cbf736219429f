"""Plays every cascade on an engine of its own and prints the figures.

python -m tests.docker.cascades [ID…]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.docker.cascades.play import judge, play, render
from tests.docker.cascades.table import load_cascades
from tests.docker.conftest import make_engine
from tests.docker.daemon import Daemon


def main(names: list[str]) -> int:
    """Print, and return 1 when a cascade is not right."""
    cascades = [each for each in load_cascades() if not names or each.id in names]
    engine = make_engine()
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            Daemon(Path(folder), engine.host, "--scan.diagnose-interval", "3s") as daemon,
        ):
            daemon.wait_until_ready()
            seen = play(daemon, engine, cascades, Path(folder))
    finally:
        engine.destroy()
    verdicts = [judge(each, seen[each.id]) for each in cascades]
    sys.stdout.write(f"{render(verdicts)}\n")
    return int(any(one.faults for one in verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
