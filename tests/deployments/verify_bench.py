"""Plays deployments on real engines with the real Compose, and compares what `verify` says with what each case expects.

    python -m tests.deployments.verify_bench [--engines 3] [--together 8] [--baseline] [--in FOLDER] [CASE ...]

Cases are played side by side: those that need nothing of an engine but its images in rows, of which all projects
deploy at the same time on one engine, the others each on an engine of its own. The baseline is what
`docker compose up -d --wait` says.
"""

from __future__ import annotations

import argparse
import json
import queue
import re
import sys
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bcon_exporter.clock import monotonic
from tests.deployments.cases import Case, read_cases
from tests.deployments.stage import COMPOSE, Stage, StageError, clear, make_images, split_words
from tests.docker.conftest import TestEngine
from tests.docker.engines import flags_of_wanted_engine
from tests.docker.image import build_image

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.docker.engine import PrivateEngine

FOLDERS = ("verify_cases", "verify_cases_page")
WINDOW_SLACK_SECONDS = 2.0
_MORE_SECONDS = 60.0
_SET_UP_SECONDS = 120.0
_OF_ENGINE = re.compile(r"(?m)ports:|container_name|external|subnet|\bapp-|^name:")
"""What a case's files have where the case needs a port, a name or a network of the engine for itself."""
Verdict = tuple[str, str | None, str | None]
"""Verdict, code and root of a service."""


@dataclass
class Played:
    """One case with what `verify` said of it.

    Attributes:
        services: Of those that are not good.
        seconds: How long its watch took, by its own clock.
        exit_code: None where it was not played; `problem` says why.
        baseline: Whether `up --wait` succeeded; None where it was not asked.
    """

    case: Case
    verdict: str = ""
    services: Mapping[str, Verdict] = field(default_factory=dict)
    summary: str = ""
    seconds: float = 0.0
    exit_code: int | None = None
    problem: str = ""
    baseline: bool | None = None

    @property
    def expected(self) -> str:
        """The verdict that the case expects."""
        return str(self.case.expect["verdict"])

    @property
    def expected_services(self) -> dict[str, Verdict]:
        """The services that the case expects not to be good."""
        named = self.case.expect.get("services") or {}
        wanted = {name: (one["verdict"], one.get("code"), one.get("root")) for name, one in named.items()}
        return {name: one for name, one in wanted.items() if one[0] != "good"}

    @property
    def is_right(self) -> bool:
        """Whether the verdict is."""
        return self.verdict == self.expected

    @property
    def is_exact(self) -> bool:
        """Whether every service has the verdict, code and root that were expected."""
        return self.is_right and dict(self.services) == self.expected_services

    @property
    def is_late(self) -> bool:
        """Whether it went on after its window."""
        return self.seconds > window_of(self.case) + WINDOW_SLACK_SECONDS


def window_of(case: Case) -> float:
    """Return for how long a case is to be watched, in seconds."""
    return float(case.raw["verify"]["for_seconds"])


def play(engine: PrivateEngine, case: Case, parent: Path) -> Played:
    """Play a case: `up`, what happens after it, and `verify` beside or after it."""
    try:
        with Stage(engine, case, parent) as stage:
            return watch(stage, case)
    except (StageError, AssertionError, OSError, KeyError, TypeError) as error:
        return Played(case, problem=f"{type(error).__name__}: {error}"[:500])


def can_share(case: Case) -> bool:
    """Whether a case needs nothing of its engine for itself, and says nothing of its project's name."""
    texts = "\n".join((*case.files.values(), *(case.before_files or {}).values()))
    return not (case.host or case.processes or case.raw.get("after") or _OF_ENGINE.search(texts))


def play_row(engine: PrivateEngine, cases: Sequence[Case], parent: Path) -> list[Played]:
    """Play cases at the same time on one engine, each as a project of its own name."""
    named = [replace(case, id=f"{number}-{case.id}", project=f"row{number}") for number, case in enumerate(cases)]
    all_ready = threading.Barrier(len(named))

    def play_one(case: Case) -> Played:
        try:
            with Stage(engine, case, parent, shares_engine=True) as stage:
                all_ready.wait(timeout=_SET_UP_SECONDS)
                return watch(stage, case)
        except (StageError, AssertionError, OSError, KeyError, TypeError, threading.BrokenBarrierError) as error:
            all_ready.abort()
            return Played(case, problem=f"{type(error).__name__}: {error}"[:500])

    clear(engine)
    with ThreadPoolExecutor(len(named)) as pool:
        results = pool.map(play_one, named)
        return [replace(result, case=case) for case, result in zip(cases, results, strict=True)]


def watch(stage: Stage, case: Case) -> Played:
    plan = case.raw["verify"]
    timers = [
        threading.Timer(float(one["at_seconds"]), _run_line, (stage, str(one["run"])))
        for one in case.raw.get("after") or ()
    ]
    words = case.raw.get("up", [])
    for timer in timers:
        timer.start()
    up = None if words is None else threading.Thread(target=stage.up, args=(words,))
    try:
        if up is not None:
            up.start()
            if plan.get("start_after_up"):
                up.join()
        window = window_of(case)
        command = [sys.executable, "-m", "bcon_exporter", "verify", *map(str, plan.get("words") or ())]
        started = monotonic()
        done = stage.run([*command, "--for", f"{window:g}s", "--format", "json"], seconds=window + _MORE_SECONDS)
        return _read(case, done.code, done.out, done.errors, monotonic() - started)
    finally:
        for timer in timers:
            timer.cancel()
        for thread in (*timers, *((up,) if up is not None else ())):
            if thread.is_alive():
                thread.join()


def _run_line(stage: Stage, line: str) -> None:
    stage.run(["sh", "-c", line])


def _read(case: Case, code: int, out: str, errors: str, seconds: float) -> Played:
    try:
        result: Mapping[str, Any] = json.loads(out)["result"]
    except (ValueError, KeyError):
        return Played(case, exit_code=code, seconds=seconds, problem=f"status {code}: {(errors or out)[-400:]}")
    services = {one["service"]: (one["verdict"], one["code"], one["root"]) for one in result["services"]}
    return Played(
        case,
        verdict=result["verdict"],
        services={name: one for name, one in services.items() if one[0] != "good"},
        summary=" | ".join(f"{one['service']}: {one['message']}" for one in result["services"]),
        seconds=_watched_seconds(result),
        exit_code=code,
    )


def _watched_seconds(result: Mapping[str, Any]) -> float:
    from datetime import datetime

    began, ended = (datetime.fromisoformat(result[name]) for name in ("watched_from", "watched_until"))
    return (ended - began).total_seconds()


def ask_compose(engine: PrivateEngine, case: Case, parent: Path) -> bool | None:
    """Play a case's beginning once more; return whether `up -d --wait` says that it succeeded."""
    words = case.raw.get("up", [])
    if words is None:
        return None
    try:
        with Stage(engine, case, parent) as stage:
            before, behind = split_words(words)
            command = [str(COMPOSE), *before, "up", "-d", "--wait", *behind]
            return stage.run(command, seconds=window_of(case)).code == 0
    except (StageError, AssertionError, OSError):
        return None


def play_all(cases: Sequence[Case], engines: int, *, baseline: bool, together: int = 1) -> list[Played]:
    """Play cases side by side, the longest first; return them in their own order.

    Args:
        cases: What to play.
        engines: How many there are at most.
        baseline: Ask `up --wait` too.
        together: So many of those that can share an engine are played on it at the same time.
    """
    longest_first = sorted(cases, key=lambda one: -window_of(one))
    sharing = [case for case in longest_first if together > 1 and can_share(case)]
    rows = [sharing[start : start + together] for start in range(0, len(sharing), together)]
    waiting: queue.Queue[list[Case]] = queue.Queue()
    for row in (*rows, *([case] for case in longest_first if case not in sharing)):
        waiting.put(row)
    played: dict[str, Played] = {}

    def work() -> None:
        engine = TestEngine()
        engine.start(*flags_of_wanted_engine())
        try:
            build_image(engine.host)
            make_images(engine)
            with tempfile.TemporaryDirectory() as folder:
                while True:
                    row = waiting.get_nowait()
                    parent = Path(folder)
                    results = play_row(engine, row, parent) if len(row) > 1 else [play(engine, row[0], parent)]
                    for case, result in zip(row, results, strict=True):
                        if baseline:
                            result.baseline = ask_compose(engine, case, parent)
                        played[_key(case)] = result
                        sys.stderr.write(_line(result) + "\n")
        except queue.Empty:
            pass
        finally:
            engine.destroy()

    workers = [threading.Thread(target=work) for _ in range(min(engines, waiting.qsize()))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return [played.get(_key(case), Played(case, problem="not played: its engine failed")) for case in cases]


def _key(case: Case) -> str:
    return f"{case.id} {case.name}"


def _line(one: Played) -> str:
    mark = "exact" if one.is_exact else "right" if one.is_right else "WRONG"
    return f"{mark:6}{one.case.id}: {one.verdict or one.problem} ({one.seconds:.0f} s)"


def render_table(played: Sequence[Played]) -> Iterator[str]:
    """Yield the rates, and every miss."""
    good = [one for one in played if one.expected == "good"]
    rows = [
        ("verdict", sum(one.is_right for one in played), len(played)),
        ("every service's verdict, code and root", sum(one.is_exact for one in played), len(played)),
        ("good ones not called bad", sum(one.verdict != "bad" for one in good), len(good)),
        ("ended within 2 s after the window", sum(not one.is_late for one in played), len(played)),
    ]
    if asked := [one for one in played if one.baseline is not None]:
        right = sum(one.baseline == (one.expected == "good") for one in asked)
        rows.append(("docker compose up --wait: verdict", right, len(asked)))
    for name, count, total in rows:
        rate = f"{count / total:.1%}" if total else "-"
        yield f"{name:<42}{count:>4} of {total:<4}{rate:>8}"
    for one in played:
        if one.is_exact and not one.is_late:
            continue
        yield f"MISS {one.case.id}: {one.case.name}"
        yield f"     expected {one.expected} {one.expected_services}"
        yield f"     said     {one.verdict or '-'} {dict(one.services)} {one.problem or one.summary}"[:600]


def main(arguments: Sequence[str]) -> int:
    """Play what is asked for; 1 where a verdict is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.deployments.verify_bench")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="beginnings of names; all when left out")
    parser.add_argument("--in", dest="folders", action="append", choices=FOLDERS, help="one folder of cases only")
    parser.add_argument("--engines", type=int, default=3)
    parser.add_argument("--together", type=int, default=1, help="projects at a time on an engine, where they can")
    parser.add_argument("--baseline", action="store_true", help="ask `docker compose up --wait` too")
    given = parser.parse_args(arguments)
    cases = [
        case
        for case in read_cases(*(given.folders or FOLDERS))
        if not given.cases or any(case.id.startswith(beginning) for beginning in given.cases)
    ]
    played = play_all(cases, given.engines, baseline=given.baseline, together=given.together)
    sys.stdout.write("\n".join(render_table(played)) + "\n")
    return 0 if all(one.is_right for one in played) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
