"""Shows every promise by its tests, prints the table and writes docs/reliability.md: `make chaos`.

    python -m tests.promises           all rows, in their long forms
    python -m tests.promises F1,S4     some rows; the document keeps what it says of the others
    TEST_SOAK= TEST_FUZZ= TEST_NIGHTLY= …            short forms, as in `make test`

Ends with 1 when a row was not shown.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.promises.document import read_measured, render_document, rows_of, tell_measured
from tests.promises.plugin import MARKER, Shown, read_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "reliability.md"
NONE_COLLECTED = 5


def main(rows: str, arguments: Sequence[str]) -> int:
    """Run the tests of these rows; return the exit code."""
    promises = rows_of(rows)
    shown, failed = run_tests([promise.id for promise in promises], arguments)
    measured = read_measured(DOCUMENT.read_text(encoding="utf-8")) if DOCUMENT.exists() else {}
    for promise in promises:
        measured[promise.id], is_shown = tell_measured(promise.id, shown)
        failed = failed or not is_shown
        print(f"{promise.id:<4} {promise.case}\n     promised: {promise.holds}\n     measured: {measured[promise.id]}")
        print(f"     command:  make chaos ROWS={promise.id}\n")
    DOCUMENT.write_text(render_document(measured), encoding="utf-8")
    return 1 if failed else 0


def run_tests(rows: Sequence[str], arguments: Sequence[str]) -> tuple[list[Shown], bool]:
    """Run the marked tests, first side by side, then those that must be alone; return what they showed."""
    shown: list[Shown] = []
    failed = False
    with tempfile.TemporaryDirectory(prefix="bcon-promises-") as folder:
        for alone, workers in (
            ("not alone", ["-n", str(min(os.cpu_count() or 1, 2)), "--dist", "worksteal"]),
            ("alone", []),
        ):
            target = Path(folder, f"{alone}.json")
            command = [
                *(
                    sys.executable,
                    "-m",
                    "pytest",
                    "-q",
                    "-p",
                    "no:cacheprovider",
                    *workers,
                    "-m",
                    f"{MARKER} and {alone}",
                ),
                *(f"--rows={','.join(rows)}", f"--promises-to={target}", *arguments),
            ]
            environ = {"TEST_SOAK": "1", "TEST_FUZZ": "1", "TEST_NIGHTLY": "1", **os.environ, "TEST_ENGINE": "required"}
            code = subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode
            failed = failed or code not in (0, NONE_COLLECTED)
            shown += read_shown(target)
    return shown, failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "", sys.argv[2:]))
