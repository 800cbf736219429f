"""How fast logs are read: MB/s of CPU time of the whole pipeline, at some shares of bad lines, and on hostile lines.

CPU time, so that a busy machine does not change the figures: python -m bench.logs [MEGABYTES] [--against CHECKOUT]

The varied failures are lines of as many different programs as the catalogue has examples, as on a host where much fails
at once. `--against` measures these with the code of another checkout too, in the same run.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.catalogue.pattern_tests import HOSTILE_BYTES, hostile_lines
from bcon_exporter.diagnosis.log_events import read_events
from bcon_exporter.model.container_facts import LogLine

ROUNDS = 3
VARIED_LINES, VARIED_LOGS = 40, 50
GOOD = (
    "2026-03-01T10:00:00.{n:03d}Z  INFO 1 --- [nio-{k}] c.e.shop.Orders : order {n} of customer {k} stored in {k} ms",
    '10.0.0.{k} - - [01/Mar/2026:10:00:00 +0000] "GET /api/orders/{n} HTTP/1.1" 200 {n} "-" "Mozilla/5.0 (X11)"',
    'level=info ts=2026-03-01T10:00:00.{n:03d}Z caller=main.go:{k} msg="batch sent" size={n} took={k}ms',
    '{{"level":"info","time":"2026-03-01T10:00:00Z","msg":"request completed","req":{{"id":{n},"url":"/a/{k}"}}}}',
    "2026-03-01 10:00:00.{n:03d} UTC [{k}] LOG:  checkpoint complete: wrote {n} buffers (0.4%); write={k}.2 s",
)
BAD = (
    "2026-03-01T10:00:00.{n:03d}Z ERROR 1 --- [main] c.e.shop.Db : dial tcp db:5432: connect: connection refused",
    'level=error ts=2026-03-01T10:00:00.{n:03d}Z msg="write failed" err="write /data/{k}: no space left on device"',
    '2026-03-01 10:00:00.{n:03d} UTC [{k}] FATAL:  password authentication failed for user "shop"',
    "[Nest] 1  - 03/01/2026, 10:00:00 AM   ERROR [Orders] order {n} could not be stored",
    "Error: Cannot find module '/srv/app/{k}.js'",
)


def make_lines(megabytes: int, bad_share: float) -> list[LogLine]:
    """Lines of a fixed random choice."""
    chance = random.Random(7)
    lines, size = [], 0
    while size < megabytes * 1_000_000:
        text = chance.choice(BAD if chance.random() < bad_share else GOOD)
        text = text.format(n=chance.randrange(1000), k=chance.randrange(100))
        lines.append(LogLine(at=None, stream="stdout", text=text))
        size += len(text) + 1
    return lines


def best_seconds(work: Callable[[], object]) -> float:
    """The shortest CPU time of some rounds."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def measure_speed(megabytes: int, bad_share: float) -> float:
    """MB per second of CPU time, with every bad line looked at."""
    lines, catalogue = make_lines(megabytes, bad_share), load_catalogue()
    size = sum(len(line.text) + 1 for line in lines)
    return size / 1_000_000 / best_seconds(lambda: read_events(lines, catalogue, len(lines)))


def measure_hostile() -> float:
    """Milliseconds of the slowest of all near-match lines of 64 KiB, through the whole pipeline."""
    catalogue = load_catalogue()
    texts = {text for one in catalogue.signatures for pattern in one.patterns for text in hostile_lines(pattern)}
    lines = [LogLine(at=None, stream="stdout", text=text.decode("utf-8", "replace")) for text in texts]
    read_events(lines[:1], catalogue)
    return max(best_seconds(lambda one=line: read_events([one], catalogue)) for line in lines) * 1000  # type: ignore[misc]


def measure_varied() -> float:
    """Microseconds a line where each of 40 lines a log tells of another failure."""
    catalogue, chance = load_catalogue(), random.Random(7)
    examples = [text for one in catalogue.signatures for pattern in one.patterns for text in pattern.matches]
    logs = [
        [LogLine(at=None, stream="stdout", text=chance.choice(examples)) for _ in range(VARIED_LINES)]
        for _ in range(VARIED_LOGS)
    ]
    seconds = best_seconds(lambda: [read_events(lines, catalogue) for lines in logs])
    return seconds / (VARIED_LINES * VARIED_LOGS) * 1_000_000


def measure_varied_of(checkout: str) -> float:
    """The same with the code of another checkout."""
    command = [sys.executable, str(Path(__file__).resolve()), "--varied-only"]
    environ = {**os.environ, "PYTHONPATH": checkout}
    done = subprocess.run(command, cwd=checkout, env=environ, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("megabytes", nargs="?", type=int, default=10)
    parser.add_argument("--against", metavar="CHECKOUT")
    parser.add_argument("--varied-only", action="store_true")
    given = parser.parse_args()
    if given.varied_only:
        print(measure_varied())
        return
    for share in (0.0, 0.01, 0.15):
        print(f"{share:>5.0%} bad lines: {measure_speed(given.megabytes, share):6.0f} MB/s per core")
    varied = measure_varied()
    print(f"varied failures: {varied:.0f} us a line")
    if given.against:
        before = measure_varied_of(given.against)
        print(f"varied failures, {given.against}: {before:.0f} us a line, {before / varied:.1f} times as much")
    print(f"slowest {HOSTILE_BYTES // 1024} KiB line of near-matches: {measure_hostile():.2f} ms")


if __name__ == "__main__":
    main()
