"""`make audit` finds what a database knows, and never passes silence for health."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.architecture.sources import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration

LOCKS = ("requirements.lock", "requirements-build.lock")
FAULT = {"id": "PYSEC-2026-1", "aliases": ["CVE-2026-1"], "fix_versions": ["2.1"]}
KNOWN = [{"name": "jinja2", "version": "2.10", "vulns": [FAULT]}]
CLEAN = [{"name": "good", "version": "1.0", "vulns": []}]
FAULTY = [*CLEAN, {"name": "bad", "version": "2.0", "vulns": [FAULT]}]
LEFT_OUT = [*CLEAN, {"name": "jinja2", "skip_reason": "Dependency not found on PyPI"}]
PIP_AUDIT = """#!/bin/sh
case "$*" in *canary*) cat {folder}/canary.json ;; *) cat {folder}/locks.json ;; esac
"""


def audit(folder: Path, canary: object, locks: object) -> tuple[int, str]:
    """Run the script with a pip-audit that answers so; None: it answers nothing at all."""
    programs = folder / ".state" / "audit-venv" / "bin"
    for made in (programs, folder / ".ci", folder / "deploy"):
        made.mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "audit.sh", folder / ".ci")
    for name in LOCKS:
        (folder / "deploy" / name).write_text("good==1.0 \\\n    --hash=sha256:0\n")
    for name, packages in (("canary", canary), ("locks", locks)):
        answer = "" if packages is None else json.dumps({"dependencies": packages})
        (folder / f"{name}.json").write_text(answer)
    (programs / "pip-audit").write_text(PIP_AUDIT.format(folder=folder))
    (programs / "pip-audit").chmod(0o755)
    (programs / "python").symlink_to(sys.executable)
    ended = subprocess.run([folder / ".ci" / "audit.sh"], capture_output=True, text=True, timeout=60, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def test_nothing_known_is_exit_code_0(tmp_path: Path) -> None:
    code, said = audit(tmp_path, KNOWN, CLEAN)

    assert code == 0
    assert said.count("no known vulnerability in 1 packages") == len(LOCKS)


def test_what_is_known_is_named_with_what_mends_it(tmp_path: Path) -> None:
    code, said = audit(tmp_path, KNOWN, FAULTY)

    assert code == 1
    assert "bad 2.0 PYSEC-2026-1 CVE-2026-1 mended in 2.1" in said


@pytest.mark.parametrize(
    ("canary", "locks"),
    [(LEFT_OUT, CLEAN), (CLEAN, CLEAN), (None, CLEAN), (KNOWN, LEFT_OUT), (KNOWN, None), ([], CLEAN)],
)
def test_a_database_that_was_not_asked_is_told_and_exit_code_3(tmp_path: Path, canary: object, locks: object) -> None:
    code, said = audit(tmp_path, canary, locks)

    assert code == 3
    assert "NOT AUDITED" in said
