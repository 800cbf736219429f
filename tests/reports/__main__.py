"""Holds the product to a folder of reported failures: `python -m tests.reports FOLDER [KIND…] [--engine]`.

Prints a line a case (right, generic, wrong, false alarm, not run) and their sums. With `--engine` logs are printed by
containers as well, and cases with a script are staged on private engines; without, they are not run. The exit code
is 0 where all that was run is right, else 1.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.reports.cases import load_cases
from tests.reports.judge import Judgement, Verdict, judge
from tests.reports.staging import analyze, run_in_container, run_script_alone, start_engine

if TYPE_CHECKING:
    from tests.docker.engine import PrivateEngine
    from tests.reports.cases import Case

USAGE = 2
SHOWN_CHARS = 200


def main(arguments: list[str]) -> int:
    """Judge every case below the folder, or those of the kinds that begin as named."""
    with_engine = "--engine" in arguments
    names = [argument for argument in arguments if not argument.startswith("--")]
    if not names or not Path(names[0]).is_dir():
        sys.stderr.write(str(__doc__))
        return USAGE
    cases = [case for case in load_cases(Path(names[0])) if not names[1:] or case.id.startswith(tuple(names[1:]))]
    needs_engine = with_engine and not all(case.is_staged for case in cases)
    engine = start_engine() if needs_engine else None
    try:
        verdicts = Counter(verdict for case in cases for verdict in _judge_case(case, engine, staged=with_engine))
    finally:
        if engine is not None:
            engine.destroy()
    sums = ", ".join(f"{verdict} {verdicts[verdict]}" for verdict in Verdict if verdicts[verdict])
    sys.stdout.write(f"{len(cases)} cases: {sums}\n")
    return int(any(verdict not in (Verdict.RIGHT, Verdict.NOT_RUN) for verdict in verdicts))


def _judge_case(case: Case, engine: PrivateEngine | None, *, staged: bool) -> list[Verdict]:
    if case.is_staged:
        forms = {"": judge(case.expected, run_script_alone(case)) if staged else Judgement(Verdict.NOT_RUN)}
    else:
        forms = {" (log)": judge(case.expected, analyze(case))}
        if engine is not None:
            forms[" (container)"] = judge(case.expected, run_in_container(case, engine))
    for form, judgement in forms.items():
        sys.stdout.write(f"{judgement.verdict:12} {case.id}{form}  {judgement.why[:SHOWN_CHARS]}\n")
        sys.stdout.flush()
    return [judgement.verdict for judgement in forms.values()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
