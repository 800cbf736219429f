"""Runs the tests of one lane, and what failed once more and alone; each second try is counted, so that none is hidden.

A busy machine may hold a test up for longer than it waits, so a test that passes the second time ends no run. It is a
fault all the same: it stands in the table that ends a run, beside how often it was tried again in the last runs.
"""

from __future__ import annotations

import json
import os
import shlex
import time
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / ".state" / "runs"
"""What the lanes of the newest run have left: their output, their cases, their results."""
HISTORY = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bcon-exporter" / "second-tries.jsonl"
"""Outlives the checkout, since CI makes a new one for each run."""
RUNS_KEPT = 20

TESTS_FAILED, NO_TESTS_SELECTED = 1, 5
"""Exit codes of pytest."""


@dataclass(frozen=True)
class Result:
    """How the tests of one lane went.

    Attributes:
        cases: How many ran, the skipped ones not counted.
        second_tries: Tests that failed at first and passed alone, by pytest's name.
    """

    lane: str
    passed: bool
    seconds: float
    cases: int = 0
    skipped: int = 0
    second_tries: tuple[str, ...] = ()


def run_tests(
    pytest_there: Callable[[list[str]], int],
    lane: str,
    selected: Sequence[str],
    side_by_side: Sequence[str] = (),
    folder: Path = RESULTS,
) -> Result:
    """Run the selected tests side by side, then what failed once more and alone; the result is also written down."""
    began = time.monotonic()
    name = lane.replace("/", "-").replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    cases = folder / f"{name}.xml"
    cases.unlink(missing_ok=True)
    remembered = f"cache_dir={folder / name}.cache"  # other lanes may run tests of this folder meanwhile
    given = shlex.split(os.environ.get("PYTEST_ARGS", ""))
    arguments = ["-q", "-o", remembered, *selected, *given]
    code = pytest_there([*arguments, f"--junitxml={cases}", "--cache-clear", *side_by_side])
    failed = _read_failed(folder / f"{name}.cache") if code == TESTS_FAILED else ()
    if failed:
        print("== What failed, once more and alone:", flush=True)
        named = [word for word in arguments if "::" not in word and not word.startswith("tests/")]
        code = pytest_there([*named, "--maxfail", "3", "-rfEp", *failed])
    ran, skipped = _count_cases(cases)
    passed = code == 0 or (code == NO_TESTS_SELECTED and bool(given))
    result = Result(lane, passed, time.monotonic() - began, ran, skipped, failed if passed else ())
    write_result(result, folder)
    return result


def write_result(result: Result, folder: Path = RESULTS) -> None:
    """Add a result to those of this run."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(result)) + "\n")


def read_results(folder: Path = RESULTS) -> tuple[Result, ...]:
    """Return what the lanes of this run have written down, in the order in which they ended."""
    file = folder / "results.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return tuple(Result(**{**raw, "second_tries": tuple(raw["second_tries"])}) for raw in map(json.loads, lines))


def remember_second_tries(results: Iterable[Result], commit: str, history: Path = HISTORY) -> None:
    """Add this run to the history of second tries, which keeps the newest runs."""
    tests = sorted(test for result in results for test in result.second_tries)
    lines = history.read_text(encoding="utf-8").splitlines() if history.exists() else []
    lines.append(json.dumps({"at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "commit": commit, "tests": tests}))
    history.parent.mkdir(parents=True, exist_ok=True)
    history.write_text("".join(f"{line}\n" for line in lines[-RUNS_KEPT:]), encoding="utf-8")


def tell_second_tries(history: Path = HISTORY) -> str:
    """Say which tests were tried again in the last runs, and how often."""
    runs = [json.loads(line) for line in history.read_text(encoding="utf-8").splitlines()] if history.exists() else []
    count = Counter(test for run in runs for test in run["tests"])
    if not count:
        return f"Second tries: none in the last {len(runs)} runs."
    rows = [f"  {times:3} of {len(runs)}  {test}" for test, times in count.most_common()]
    return "\n".join((f"Second tries in the last {len(runs)} runs ({history}):", *rows))


def _read_failed(cache: Path) -> tuple[str, ...]:
    """What pytest remembers of a run: the names by which it takes them again."""
    file = cache / "v" / "cache" / "lastfailed"
    return tuple(sorted(json.loads(file.read_text(encoding="utf-8")))) if file.exists() else ()


def _count_cases(cases: Path) -> tuple[int, int]:
    found = _read_cases(cases)
    skipped = sum(case.find("skipped") is not None for case in found)
    return len(found) - skipped, skipped


def _read_cases(cases: Path) -> list[ET.Element]:
    """Nothing where a run ended before it could write them."""
    if not cases.exists() or not cases.stat().st_size:
        return []
    return list(ET.parse(cases).getroot().iter("testcase"))
