"""Whether `check` cries wolf: every project of the drift corpus comes up, so none may have a finding that fails.

    python -m tests.deployments.check_corpus [PROJECT ...]

Each project is checked on an engine without containers, with its images and with what its user makes first. A GPU is
not there: that one finding is right.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.docker.engine import PrivateEngine
from tests.drift_corpus.cases import read_cases
from tests.drift_corpus.images import build_images
from tests.drift_corpus.stacks import Stack

if TYPE_CHECKING:
    from tests.drift_corpus.cases import Case

FLAGS = ("--default-address-pool=base=10.180.0.0/14,size=24", "--add-runtime=corpus=runc")
RIGHT = {("gpu-inference", "runtime_missing")}


def find_fails(engine: PrivateEngine, case: Case, folder: Path) -> list[str]:
    """Return the codes that `check` says would make a project fail."""
    stack = Stack(case, engine, folder / case.name)
    stack.find_name()
    for command in case.before:
        stack.do(command)
    inside = ["nsenter", f"--target={engine.init_pid()}", "--net", "--"]
    program = [sys.executable, "-m", "bcon_exporter", "check", *case.flags, "--format=json", "--state.path=none"]
    environ = {**stack.environ(), "DOCKER_HOST": engine.host}
    done = subprocess.run(
        [*inside, *program], cwd=stack.folder, env=environ, capture_output=True, text=True, timeout=90, check=False
    )
    try:
        report = json.loads(done.stdout)["result"]
    except (ValueError, KeyError):
        return [f"exit {done.returncode}: {done.stderr[-300:]}"]
    found = [one for one in report["findings"] if one["severity"] == "fails"]
    return [*(f"{one['code']} ({one['service']}): {one['message']}" for one in found), *report["rule_errors"]]


def main(words: list[str]) -> int:
    """Check every project, and print what is said of it wrongly."""
    cases = [case for case in read_cases() if not words or case.name in words]
    engine = PrivateEngine().start(*FLAGS)
    wrong = 0
    try:
        build_images(engine.host)
        with tempfile.TemporaryDirectory(prefix="bcon-corpus-") as folder:
            for case in cases:
                fails = find_fails(engine, case, Path(folder))
                fails = [said for said in fails if (case.name, said.partition(" ")[0]) not in RIGHT]
                wrong += bool(fails)
                for said in fails:
                    sys.stdout.write(f"{case.name}: {said}\n")
                engine.docker("network", "prune", "-f")
    finally:
        engine.destroy()
    sys.stdout.write(f"{wrong} of {len(cases)} projects have a finding that fails\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
