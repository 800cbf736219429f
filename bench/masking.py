"""How fast masking is: MB/s of CPU time over logs of containers, over real failing logs, and with known secrets.

python -m bench.masking [MEGABYTES]                         this checkout
python -m bench.masking [MEGABYTES] --against CHECKOUT      and another one beside it, round by round
"""

import argparse
import base64
import json
import os
import random
import string
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bcon_exporter.secrets.cleaning import strip_controls
from bcon_exporter.secrets.known_secrets import KnownSecrets
from bcon_exporter.secrets.masking import mask_lines
from bench.logs import make_lines

ROUNDS = 3
LINES_AT_ONCE = 200
KNOWN = (4, 64, 1024)
EXCERPTS = Path(__file__).parents[1] / "tests" / "corpus" / "excerpts"
_ONE_ROUND = "--one-round"


def read_excerpts() -> list[str]:
    """Every line of the captured logs, most of which fail: ten times as many name a secret as ordinary logs do."""
    found: list[Any] = []
    for path in sorted(EXCERPTS.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            found += [text for value in json.loads(line).values() if isinstance(value, list) for text in value]
    return [strip_controls(text).replace("\n", " ") for text in found if isinstance(text, str)]


def escape_lines(lines: Sequence[str]) -> list[str]:
    """Lines as programs log what they got: percent-encoded, as JSON within JSON, with digests and base64."""
    made = []
    for number, line in enumerate(lines):
        digest = f"{number * 2654435761 % 2**256:064x}"
        encoded = base64.b64encode(line.encode()).decode()
        percent = line.replace(" ", "%20").replace('"', "%22").replace(":", "%3A")
        made.append(
            (f"GET /x?q={percent} 200", json.dumps({"body": json.dumps({"m": line})}), digest, encoded)[number % 4]
        )
    return made


def make_secrets(count: int) -> KnownSecrets:
    """Passwords as generators make them."""
    generator = random.Random(7)
    alphabet = string.ascii_letters + string.digits
    return KnownSecrets(frozenset("".join(generator.choices(alphabet, k=20)) for _ in range(count)))


def measure(lines: list[str], mask: Callable[[list[str]], object]) -> float:
    """MB per second of CPU time, in portions as a scan reads them."""
    size = sum(len(line) + 1 for line in lines)
    mask(lines[:LINES_AT_ONCE])
    started = time.process_time()
    for start in range(0, len(lines), LINES_AT_ONCE):
        mask(lines[start : start + LINES_AT_ONCE])
    return size / 1_000_000 / max(1e-9, time.process_time() - started)


def measure_round(megabytes: int) -> Iterator[tuple[str, float]]:
    """Measure all texts once."""
    for share in (0.0, 0.01, 0.15):
        lines = [line.text for line in make_lines(megabytes, share)]
        yield f"ordinary logs, {share:>4.0%} bad lines", measure(lines, mask_lines)
    yield "captured failing logs", measure(read_excerpts() * 3, mask_lines)
    lines = [line.text for line in make_lines(megabytes, 0.01)]
    escaped = escape_lines(lines)
    for count in KNOWN:
        secrets = make_secrets(count)
        yield f"{count:>4} known secrets, ordinary logs", measure(lines, secrets.hide_lines)
        yield f"{count:>4} known secrets, escaped text", measure(escaped, secrets.hide_lines)


def run_round(checkout: Path, megabytes: int) -> dict[str, float]:
    """Measure one round of a checkout's package, with this bench."""
    here = str(Path(__file__).parents[1])
    environ = {**os.environ, "PYTHONPATH": f"{checkout}{os.pathsep}{here}"}
    program = (
        "import sys, runpy; sys.path.insert(0, sys.argv[2]); import bcon_exporter; sys.path.insert(0, sys.argv[3]); "
        "sys.argv = ['masking', sys.argv[1], '--one-round']; runpy.run_module('bench.masking', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, str(megabytes), str(checkout), here],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    return {name: float(speed) for name, speed in json.loads(done.stdout).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("megabytes", nargs="?", type=int, default=3)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT")
    parser.add_argument(_ONE_ROUND, action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one_round:
        print(json.dumps(dict(measure_round(given.megabytes))))
        return
    checkouts = {"here": Path(__file__).parents[1]}
    if given.against is not None:
        checkouts = {"there": given.against.resolve(), **checkouts}
    best: dict[str, dict[str, float]] = {name: {} for name in checkouts}
    for _ in range(ROUNDS):
        for name, checkout in checkouts.items():
            for text, speed in run_round(checkout, given.megabytes).items():
                best[name][text] = max(speed, best[name].get(text, 0.0))
    print(
        f"{'MB/s of CPU time, the best of ' + str(ROUNDS) + ' rounds':<42}"
        + "".join(f"{name:>9}" for name in checkouts)
    )
    for text in best["here"]:
        print(f"{text:<42}" + "".join(f"{best[name][text]:9.1f}" for name in checkouts))


if __name__ == "__main__":
    main()
