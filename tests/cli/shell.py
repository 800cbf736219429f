"""A shell in which somebody presses Tab."""

import os
import subprocess
import sys
from pathlib import Path

from tests.architecture.sources import ROOT

_PRESS_TAB = """
eval "$(bcon-exporter completion bash)"
COMP_TYPE=9 COMP_LINE="bcon-exporter $1" COMP_POINT=$((14 + ${#1}))
_python_argcomplete bcon-exporter
printf '%s\\n' "${COMPREPLY[@]}"
"""


def put_program_in_path(folder: Path) -> dict[str, str]:
    """Return an environment in which the program is found by its name."""
    script = folder / "bin/bcon-exporter"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\n# PYTHON_ARGCOMPLETE_OK\nexec {sys.executable} -m bcon_exporter "$@"\n')
    script.chmod(0o755)
    return {"PATH": f"{script.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "HOME": str(folder)}


def press_tab(typed: str, environ: dict[str, str]) -> set[str]:
    """Return the words that bash offers after `bcon-exporter` and what was typed.

    Raises:
        AssertionError: The shell complained.
    """
    done = subprocess.run(
        ["bash", "-c", _PRESS_TAB, "bash", typed], env=environ, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return {word.strip() for word in done.stdout.splitlines()} - {""}
