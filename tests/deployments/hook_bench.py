"""Projects with hooks (`pre_start`) on a real engine: what `check` says before, `verify` beside `up`, `drift` after.

python -m tests.deployments.hook_bench             # all cases of hook_cases, with the rates
python -m tests.deployments.hook_bench 02 07       # some, by the beginning of their names
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.deployments.cases import Case, read_cases
from tests.deployments.stage import Stage, StageError, make_images
from tests.deployments.verify_bench import Played, watch
from tests.docker.conftest import make_engine
from tests.docker.engine import PrivateEngine

FOLDER = "hook_cases"
_PROGRAM = (sys.executable, "-m", "bcon_exporter")


@dataclass(frozen=True)
class HookOutcome:
    """What was said of one case.

    Attributes:
        check: Verdict, and severity, code and service of each finding that counts.
        verify: As `verify_bench` tells it.
        drift: Service and type of each difference.
    """

    case: Case
    check: tuple[str, frozenset[str]]
    verify: Played
    drift: frozenset[str]

    @property
    def expected_check(self) -> tuple[str, frozenset[str]]:
        """What `check` is to say."""
        expected = self.case.expect["check"]
        said = (f"{severity} {one}" for severity in ("fails", "risk") for one in expected[severity])
        return expected["verdict"], frozenset(said)

    @property
    def false_drift(self) -> frozenset[str]:
        """Differences that are none."""
        return self.drift - frozenset(self.case.expect["drift"])

    @property
    def misses(self) -> tuple[str, ...]:
        """What was said wrongly."""
        found = [] if self.check == self.expected_check else [f"check says {self.check}"]
        if not self.verify.is_exact:
            verify = self.verify
            found.append(f"verify says {verify.verdict} {dict(verify.services)} {verify.problem or verify.summary}")
        if self.drift != frozenset(self.case.expect["drift"]):
            found.append(f"drift says {sorted(self.drift)}")
        return tuple(found)


def play(engine: PrivateEngine, case: Case, folder: Path) -> HookOutcome | str:
    """Play a case; return why where it cannot be played."""
    try:
        with Stage(engine, case, folder) as stage:
            return judge(stage)
    except (StageError, AssertionError, OSError, ValueError, KeyError) as error:
        return f"{type(error).__name__}: {error}"[:500]


def judge(stage: Stage) -> HookOutcome:
    """Ask `check`, bring it up with `verify` beside it, and ask `drift`."""
    checked = _ask(stage, "check", "--state.path=none")
    findings = frozenset(
        f"{one['severity']} {one['code']} {one['service']}"
        for one in checked["findings"]
        if one["severity"] != "advice"
    )
    played = watch(stage, stage.case)
    drift = _ask(stage, "drift", "compose.yaml")
    differences = frozenset(f"{one['service_name']} {one['drift_type']}" for one in drift["differences"])
    return HookOutcome(stage.case, (checked["verdict"], findings), played, differences)


def _ask(stage: Stage, *words: str) -> dict[str, Any]:
    done = stage.run([*_PROGRAM, *words, "--format", "json"])
    result: dict[str, Any] = json.loads(done.out)["result"]
    return result


def render_table(outcomes: Sequence[HookOutcome]) -> Iterator[str]:
    """Yield the rates, and every miss."""
    count = len(outcomes)
    yield f"{'check: verdict and findings':<42}{sum(one.check == one.expected_check for one in outcomes):>4} of {count}"
    yield f"{'verify: verdict, code and root':<42}{sum(one.verify.is_exact for one in outcomes):>4} of {count}"
    yield f"{'drift: false differences':<42}{sum(len(one.false_drift) for one in outcomes):>4}"
    for outcome in outcomes:
        for miss in outcome.misses:
            yield f"MISS {outcome.case.id}: {miss}"[:800]


def main(arguments: Sequence[str]) -> int:
    """Play what is asked for; 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.deployments.hook_bench")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="beginnings of names; all when left out")
    given = parser.parse_args(arguments)
    cases = [case for case in read_cases(FOLDER) if not given.cases or case.id.startswith(tuple(given.cases))]
    engine = make_engine()
    failed: list[str] = []
    outcomes: list[HookOutcome] = []
    try:
        make_images(engine)
        with tempfile.TemporaryDirectory() as folder:
            for case in cases:
                outcome = play(engine, case, Path(folder))
                if isinstance(outcome, str):
                    failed.append(f"NOT PLAYED {case.id}: {outcome}")
                else:
                    outcomes.append(outcome)
                    sys.stderr.write(f"{'WRONG' if outcome.misses else 'right'} {case.id}\n")
    finally:
        engine.destroy()
    sys.stdout.write("\n".join((*render_table(outcomes), *failed)) + "\n")
    return 1 if failed or any(one.misses for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
