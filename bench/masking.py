"""How fast masking is: MB/s of CPU time over logs of containers, and over real failing logs of the corpus.

Another checkout is measured on the same text when it stands first in PYTHONPATH: python -m bench.masking [MEGABYTES]
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from bcon_exporter.secrets.cleaning import strip_controls
from bcon_exporter.secrets.masking import mask_lines
from bench.logs import make_lines

ROUNDS = 3
LINES_AT_ONCE = 200
EXCERPTS = Path(__file__).parents[1] / "tests" / "corpus" / "excerpts"


def read_excerpts() -> list[str]:
    """Every line of the captured logs, most of which fail: ten times as many name a secret as ordinary logs do."""
    found: list[Any] = []
    for path in sorted(EXCERPTS.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            found += [text for value in json.loads(line).values() if isinstance(value, list) for text in value]
    return [strip_controls(text).replace("\n", " ") for text in found if isinstance(text, str)]


def measure(lines: list[str]) -> float:
    """MB per second of CPU time, in portions as a scan reads them: the best of some rounds."""
    size = sum(len(line) + 1 for line in lines)
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for start in range(0, len(lines), LINES_AT_ONCE):
            mask_lines(lines[start : start + LINES_AT_ONCE])
        best = min(best, time.process_time() - started)
    return size / 1_000_000 / best


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    for share in (0.0, 0.01, 0.15):
        speed = measure([line.text for line in make_lines(megabytes, share)])
        print(f"ordinary logs, {share:>4.0%} bad lines: {speed:6.1f} MB/s")
    print(f"captured failing logs:        {measure(read_excerpts() * 3):6.1f} MB/s")


if __name__ == "__main__":
    main()
