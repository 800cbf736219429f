"""Runs the lanes of a plan, and ends with what was proven, where, and in how many seconds.

    python -m tests.runs test [LANE…]       what a newcomer runs: `make test`
    python -m tests.runs all [LANE…]        everything: `make test-all`
    python -m tests.runs rest [LANE…]       everything but what `make test` has just run
    python -m tests.runs nightly [LANE…]    the long forms: `make nightly`
    python -m tests.runs lane LANE          one of them, in this process; others start it

Lanes that run side by side write to .state/runs/LANE.log; one that fails is printed whole. TEST_DOCKER names the engine
that is tested, as `.ci/engines.sh choose` does. Ends with 1 when something failed, in CI also when no engine can run.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from tests.docker.engine import find_obstacle
from tests.docker.engines import OWN, here, run_on, versions_of
from tests.runs.lanes import NIGHTLY, REST, TEST, Lane
from tests.runs.tries import (
    RESULTS,
    ROOT,
    Result,
    read_results,
    remember_second_tries,
    run_tests,
    tell_second_tries,
    write_result,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.runs.lanes import Stage

PLANS = {"test": TEST, "all": (*TEST, *REST), "rest": REST, "nightly": NIGHTLY}
IN_CI = os.environ.get("CI") == "true"


def main(words: Sequence[str]) -> int:
    """Run a plan, or those of its lanes that are named; return the exit code."""
    match words:
        case ["lane", name]:
            return 0 if run_lane(_find_lane(name)) else 1
        case [plan, *names] if plan in PLANS:
            stages = _stages_of(PLANS[plan], names)
            return run_plan(plan, stages)
        case _:
            sys.stderr.write(str(__doc__))
            return 2


def run_plan(plan: str, stages: Sequence[Stage]) -> int:
    """Run the stages one after the other, those after a failure too; say what was proven."""
    shutil.rmtree(RESULTS, ignore_errors=True)
    began = time.monotonic()
    passed = [run_stage(stage) for stage in stages]
    results = read_results()
    if plan != "nightly":
        remember_second_tries(results, _commit())
    print(_tell(plan, stages, results, time.monotonic() - began))
    return 0 if all(passed) else 1


def run_stage(stage: Stage) -> bool:
    """Run the tracks of a stage side by side; True when all lanes have passed."""
    if len(stage) == 1:
        passed = [_run_apart(lane, None) for lane in stage[0]]
        return all(passed)
    with ThreadPoolExecutor(len(stage)) as threads:
        return all(list(threads.map(_run_track, stage)))


def _run_track(track: tuple[Lane, ...]) -> bool:
    passed = True
    for lane in track:
        RESULTS.mkdir(parents=True, exist_ok=True)
        log = RESULTS / f"{lane.name}.log"
        began = time.monotonic()
        ok = _run_apart(lane, log)
        said = log.read_text(encoding="utf-8", errors="replace")
        passed = passed and ok
        shown = said if not ok or "once more" in said else "".join(said.splitlines(keepends=True)[-1:])
        print(f"== {lane.name}: {'passed' if ok else 'FAILED'}, {time.monotonic() - began:.0f} s\n{shown}", flush=True)
    return passed


def _run_apart(lane: Lane, log: Path | None) -> bool:
    """Run a lane in a process of its own, whose environment names its engine before anything is imported."""
    environ = {**os.environ, **lane.environ, "PYTHONDONTWRITEBYTECODE": ""}
    environ["PYTHONPYCACHEPREFIX"] = str(ROOT / ".state" / "bytecode")  # kept for all lanes, beside the sources
    if lane.engine is not None:
        environ["TEST_DOCKER"] = os.environ.get("TEST_DOCKER") or OWN if lane.engine == "chosen" else lane.engine
    if lane.engine is not None and _obstacle() is None:
        environ["TEST_ENGINE"] = "required"
    command = [sys.executable, "-m", "tests.runs", "lane", lane.name]
    if log is None:
        print(f"== {lane.name}: {lane.proves}", flush=True)
        return subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode == 0
    print(f"== {lane.name}: {lane.proves} (.state/runs/{log.name})", flush=True)
    with log.open("w", encoding="utf-8") as said:
        ended = subprocess.run(command, cwd=ROOT, env=environ, stdout=said, stderr=said, check=False)
    return ended.returncode == 0


def run_lane(lane: Lane) -> bool:
    """Run one lane here and write its result down."""
    if lane.on:
        rows = list(run_on(*lane.on))
        print("".join(f"{row}\n" for row in rows))
        return all(row.passed for row in rows)
    if lane.make:
        began = time.monotonic()
        ok = subprocess.run(["make", "--no-print-directory", *lane.make], cwd=ROOT, check=False).returncode == 0
        write_result(Result(lane.name, ok, time.monotonic() - began))
        return ok
    return run_tests(here({}), lane.name, lane.tests, lane.side_by_side).passed


def _obstacle() -> str | None:
    """Why no engine can run here; in CI that is for the tests to say, which then fail."""
    return None if IN_CI else find_obstacle()


def _find_lane(name: str) -> Lane:
    lanes = {lane.name: lane for lane in _lanes_of((*PLANS["all"], *NIGHTLY))}
    if name not in lanes:
        message = f"no lane is called {name}; there are {', '.join(lanes)}"
        raise SystemExit(message)
    return lanes[name]


def _stages_of(plan: Sequence[Stage], names: Sequence[str]) -> list[Stage]:
    """All stages of a plan, or what the named lanes leave of them."""
    chosen = {_find_lane(name).name for name in names}
    if not chosen:
        return list(plan)
    tracks = [[tuple(lane for lane in track if lane.name in chosen) for track in stage] for stage in plan]
    return [kept for stage in tracks if (kept := tuple(track for track in stage if track))]


def _lanes_of(stages: Sequence[Stage]) -> list[Lane]:
    return [lane for stage in stages for track in stage for lane in track]


def _commit() -> str:
    asked = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "unknown"


def _tell(plan: str, stages: Sequence[Stage], results: Sequence[Result], seconds: float) -> str:
    """The lines that end a run: what was proven, on which engine, and what was not run here."""
    lines = ["", f"Python {platform.python_version()}; {seconds / 60:.1f} minutes"]
    if (obstacle := find_obstacle()) is not None:
        lines.append(f"No Docker Engine can run here ({obstacle}): what needs one was left out.")
    else:
        lines.append(f"This machine's own engine, in private namespaces: {versions_of(OWN)}")
    for lane in _lanes_of(stages):
        own = [result for result in results if _is_of(result, lane)]
        lines += [_row(lane, result) for result in own] or [f"  {lane.name:9} not run"]
    if plan == "test":
        besides = ", ".join(lane.name for lane in _lanes_of(REST))
        lines.append(f"Not run here, but by `make test-all`: {besides} (docs/development/runs.md).")
    else:
        lines.append(tell_second_tries())
    return "\n".join(lines)


def _is_of(result: Result, lane: Lane) -> bool:
    """A lane on another engine writes a result for each part: `guest: contract, inside`."""
    return result.lane == lane.name or result.lane.startswith(tuple(f"{name}:" for name in lane.on))


def _row(lane: Lane, result: Result) -> str:
    verdict = "passed" if result.passed else "FAILED"
    cases = f"{result.cases:,} tests" if result.cases else ""
    skipped = f", {result.skipped} skipped" if result.skipped else ""
    again = f", {len(result.second_tries)} at the second try" if result.second_tries else ""
    return f"  {result.lane:9} {verdict:7} {result.seconds:5.0f} s  {cases}{skipped}{again}  {lane.proves}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
