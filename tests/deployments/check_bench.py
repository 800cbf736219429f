"""How right `check` is: each case judged, asked of Compose's own means, and then really brought up.

    python -m tests.deployments.check_bench [FOLDER ...] [--only WORD]

prints a table of all cases, the rates and every miss. What `up` then does is the truth of the bench: a case whose
author foretold it wrongly is counted apart, as one that says nothing about `check`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from tests.deployments.cases import Case, read_cases
from tests.deployments.stage import Stage, StageError, make_images, split_words
from tests.docker.engine import PrivateEngine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


FOLDERS = ("check_cases", "check_cases_page")
ENGINES = 2
Said = tuple[str, str | None]
"""Code and service."""


@dataclass(frozen=True)
class Outcome:
    """What came of one case.

    Attributes:
        verdict, fails, risk: What `check` says; a verdict of "error" where it says nothing, with the reason.
        config, dry_run: Whether Compose's own means find nothing wrong.
        up: Whether it then comes up.
        seconds: Time that `check` took.
    """

    case: Case
    verdict: str = "error"
    fails: frozenset[Said] = frozenset()
    risk: frozenset[Said] = frozenset()
    config: bool | None = None
    dry_run: bool | None = None
    up: bool | None = None
    seconds: float = 0.0
    error: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def misses(self) -> tuple[str, ...]:
        """What is not as expected of `check`."""
        expected = self.case.expect
        found: list[str] = []
        if self.verdict != expected["verdict"]:
            found.append(f"verdict {self.verdict} instead of {expected['verdict']}")
        for severity, said in (("fails", self.fails), ("risk", self.risk)):
            wanted = said_of(expected.get(severity) or ())
            found += [f"{severity} lacks {show(one)}" for one in sorted(wanted - said, key=str)]
            found += [f"{severity} has {show(one)}" for one in sorted(said - wanted, key=str)]
        return (self.error, *found) if self.error else tuple(found)

    @property
    def has_right_codes(self) -> bool:
        """Whether the failing codes are exactly the expected ones, whichever services they name."""
        return {code for code, _ in self.fails} == {one["code"] for one in self.case.expect.get("fails") or ()}

    @property
    def is_right(self) -> bool:
        """Whether the verdict is the expected one."""
        return bool(self.verdict == self.case.expect["verdict"])


def said_of(findings: Iterable[dict[str, Any]]) -> frozenset[Said]:
    """Return findings as pairs."""
    return frozenset((one["code"], one.get("service")) for one in findings)


def show(said: Said) -> str:
    """Return "port_taken (web)"."""
    return f"{said[0]} ({said[1] or '-'})"


def play(engine: PrivateEngine, case: Case, folder: Path) -> Outcome:
    """Play one case: `check`, Compose's own means, and `up`."""
    try:
        with Stage(engine, case, folder) as stage:
            return judge(stage)
    except (StageError, AssertionError) as error:
        return Outcome(case, error=f"cannot be played: {error}")


def judge(stage: Stage) -> Outcome:
    """Ask `check`, then Compose, and then bring it up."""
    case = stage.case
    program = [sys.executable, "-m", "bcon_exporter", "check", *case.words, "--format", "json", "--state.path=none"]
    done = stage.run(program, seconds=60)
    before, behind = split_words(case.words)
    config = stage.compose(*before, "config", "-q").code == 0
    dry_run = stage.compose(*before, "--dry-run", "up", "-d", *behind).code == 0
    up = stage.up(case.words).code == 0
    truth = Outcome(case, config=config, dry_run=dry_run, up=up, seconds=done.seconds)
    try:
        report = json.loads(done.out)["result"]
    except (ValueError, KeyError):
        return Outcome(
            case, error=f"exit {done.code}: {(done.errors or done.out)[-300:].strip()}", config=config, up=up
        )
    by_severity = {
        severity: said_of(one for one in report["findings"] if one["severity"] == severity)
        for severity in ("fails", "risk")
    }
    return Outcome(
        case,
        verdict=report["verdict"],
        fails=by_severity["fails"],
        risk=by_severity["risk"],
        config=truth.config,
        dry_run=truth.dry_run,
        up=truth.up,
        seconds=truth.seconds,
        error=f"rules failed: {report['rule_errors']}" if report["rule_errors"] else "",
    )


def play_all(cases: Sequence[Case], engines: int = ENGINES) -> list[Outcome]:
    """Play cases on several engines side by side, each with the engine's ports, names and subnets to itself."""
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="bcon-check-") as folder:
        free: SimpleQueue[PrivateEngine] = SimpleQueue()
        for _ in range(min(engines, len(cases))):
            engine = PrivateEngine().start()
            stack.callback(engine.destroy)
            make_images(engine)
            free.put(engine)

        def work(case: Case) -> Outcome:
            engine = free.get()
            try:
                return play(engine, case, Path(folder))
            finally:
                free.put(engine)

        with ThreadPoolExecutor(engines) as pool:
            return list(pool.map(work, cases))


def render(outcomes: Sequence[Outcome]) -> str:
    """Return the table, the rates and the misses."""
    lines = [f"{'case':44} {'check':8} {'config -q':10} {'dry-run':8} {'up':6} {'s':>5}"]
    for one in outcomes:
        mark = "" if not one.misses else "  MISS"
        words = [{True: "passes", False: "refuses", None: "-"}[known] for known in (one.config, one.dry_run)]
        came_up = {True: "up", False: "failed", None: "-"}[one.up]
        lines.append(
            f"{one.case.id:44} {one.verdict:8} {words[0]:10} {words[1]:8} {came_up:6} {one.seconds:5.1f}{mark}"
        )
    total = len(outcomes)
    right, codes = sum(one.is_right for one in outcomes), sum(one.has_right_codes for one in outcomes)
    whole = sum(not one.misses for one in outcomes)
    false = sum(one.verdict == "fails" and one.case.expect["verdict"] != "fails" for one in outcomes)
    lines += [
        "",
        f"verdict right          {share(right, total)}",
        f"failing codes exact    {share(codes, total)}",
        f"findings exact         {share(whole, total)}  (codes and services, of fails and risk)",
        f"false fails            {false}",
        *baselines(outcomes),
        "",
    ]
    for one in outcomes:
        lines += [f"miss {one.case.id}: {'; '.join(one.misses)}"] if one.misses else []
        if one.up is not None and one.up != one.case.expect.get("up_succeeds"):
            lines.append(f"truth {one.case.id}: its author foretold up_succeeds {one.case.expect.get('up_succeeds')}")
    return "\n".join(lines)


def baselines(outcomes: Sequence[Outcome]) -> list[str]:
    """Return how often each way foretells whether `up` succeeds; "fails" of `check` says that it does not."""
    known = [one for one in outcomes if one.up is not None]
    ways = {
        "check": [(one.verdict != "fails") == one.up for one in known],
        "config -q": [one.config == one.up for one in known],
        "--dry-run up": [one.dry_run == one.up for one in known],
    }
    return [f"foretells up: {name:12} {share(sum(hits), len(known))}" for name, hits in ways.items()]


def share(count: int, total: int) -> str:
    """Return "59 of 60 (98.3 %)"."""
    return f"{count} of {total} ({100 * count / max(1, total):.1f} %)"


def main(words: list[str]) -> int:
    """Play the cases of some folders, and say how many are right."""
    only = words[words.index("--only") + 1 :] if "--only" in words else []
    folders = words[: words.index("--only")] if "--only" in words else words
    cases = [case for case in read_cases(*(folders or FOLDERS)) if not only or any(word in case.id for word in only)]
    outcomes = play_all(cases)
    sys.stdout.write(render(outcomes) + "\n")
    return 1 if any(one.misses for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
