"""Breaks each guard of the table in a copy of the tree and runs the tests that must find it: `make mutants`.

    python -m tests.mutants              all guards
    python -m tests.mutants ListenerPolicy tail    those with one of these words in their name

Prints a line for each guard and ends with 1 when one was missed or is not there any more. The checkout never changes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Literal

from tests.mutants.breaking import NoSuchGuardError
from tests.mutants.guards import GUARDS, Guard, ShippedGuard
from tests.runs.marks import is_run_by_make_test

if TYPE_CHECKING:
    from collections.abc import Sequence

AnyGuard = Guard | ShippedGuard
ROOT = Path(__file__).parents[2]
AT_A_TIME = 2
HANGS_AFTER_SECONDS = 90
ALL_TESTS_HANG_AFTER_SECONDS = 1800
TESTS_FAILED = 1  # pytest's exit code for that and nothing else: an error of collection or no test at all has another

Result = Literal["found", "found: hangs", "MISSED", "NO SUCH GUARD", "TESTS DO NOT RUN"]
FOUND = ("found", "found: hangs")


@dataclass(frozen=True)
class Verdict:
    """What came of one guard."""

    guard: AnyGuard
    result: Result
    seconds: float
    said: str = ""


class Copy:
    """A copy of the tree, in which tests run as they do in the checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in _git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
        _git(folder, "init", "-q")  # tests ask git which files there are
        _git(folder, "add", "-A")

    def run(self, tests: Sequence[str], hangs_after_seconds: float = HANGS_AFTER_SECONDS) -> tuple[int | None, str]:
        """Run tests until the first failure; None for tests that hang."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=line", "-rN", *tests]
        environ = {**os.environ, "PYTHONPATH": str(self.folder), "TEST_ENGINE": "required"}
        environ |= {"PYTHONDONTWRITEBYTECODE": "1", "HYPOTHESIS_STORAGE_DIRECTORY": str(self.folder / ".hypothesis")}
        try:
            ended = subprocess.run(
                command,
                cwd=self.folder,
                env=environ,
                capture_output=True,
                text=True,
                timeout=hangs_after_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, ""
        return ended.returncode, ended.stdout + ended.stderr

    def judge(self, guard: AnyGuard) -> Verdict:
        """Break one guard, run its tests, mend it."""
        started = time.monotonic()
        try:
            path, text = guard.break_in(self.folder)
        except NoSuchGuardError as error:
            return Verdict(guard, "NO SUCH GUARD", 0.0, str(error))
        whole = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        try:
            code, said = self.run(guard.tests)
        finally:
            path.write_text(whole, encoding="utf-8")
        return Verdict(guard, _tell_result(code), time.monotonic() - started, said)


def main(words: Sequence[str]) -> int:
    """Break the guards whose name has one of these words in it; return the exit code."""
    guards = [each for each in GUARDS if not words or any(word in each.name for word in words)]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bcon-mutants-") as folder:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(AT_A_TIME):
            copies.put(Copy(Path(folder, str(number))))
        if not _tests_pass(copies, guards):
            return 1
        with ThreadPoolExecutor(AT_A_TIME) as threads:
            verdicts = list(threads.map(lambda guard: _judge(copies, guard), guards))
    bad = [each for each in verdicts if each.result not in FOUND]
    for verdict in bad:
        print(f"\n{verdict.result}: {verdict.guard.name}, {verdict.guard.how}\n{verdict.said[-2000:]}")
    print(
        f"{len(verdicts)} guards broken, {len(verdicts) - len(bad)} found, {len(bad)} not; "
        f"{sum(map(_finds_early, verdicts))} of them by `make test`, the others by `make test-all`; "
        f"{time.monotonic() - started:.0f} s"
    )
    return 1 if bad or not verdicts else 0


def _tests_pass(copies: SimpleQueue[Copy], guards: Sequence[AnyGuard]) -> bool:
    """Run the tests with every guard in place: a test that fails anyway finds nothing."""
    tests = sorted({test for guard in guards for test in guard.tests})
    copy = copies.get()
    code, said = copy.run(tests, ALL_TESTS_HANG_AFTER_SECONDS)
    copies.put(copy)
    if code != 0:
        print(f"with every guard in place the tests {'hang' if code is None else 'fail'} already:\n{said[-4000:]}")
    return code == 0


def _finds_early(verdict: Verdict) -> bool:
    return verdict.result in FOUND and any(map(is_run_by_make_test, verdict.guard.tests))


def _tell_result(code: int | None) -> Result:
    if code is None:
        return "found: hangs"
    return "MISSED" if code == 0 else "found" if code == TESTS_FAILED else "TESTS DO NOT RUN"


def _judge(copies: SimpleQueue[Copy], guard: AnyGuard) -> Verdict:
    copy = copies.get()
    try:
        verdict = copy.judge(guard)
    finally:
        copies.put(copy)
    print(f"{verdict.result:<14} {verdict.seconds:5.1f} s  {guard.name}: {guard.how}", flush=True)
    return verdict


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
