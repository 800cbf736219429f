"""The systemd unit is one that systemd takes, locks the exporter in, and names settings that exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bcon_exporter.settings import load_settings
from tests.programs import need

UNIT = Path(__file__).parents[2] / "deploy" / "bcon-exporter.service"
EXPOSURE_AT_MOST = 1.7
"""Of 10, by systemd's own weights: what the network, the group of the socket and other users' /proc leave open."""


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [need("systemd-analyze"), "--no-pager", *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.integration
def test_systemd_finds_no_fault(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/usr/local/bin/bcon-exporter", sys.executable))

    verified = analyze("verify", "--man=no", "--recursive-errors=no", str(unit))

    assert (verified.returncode, verified.stderr) == (0, "")


@pytest.mark.integration
def test_it_is_locked_in() -> None:
    judged = analyze("security", "--offline=yes", f"--threshold={EXPOSURE_AT_MOST * 10:.0f}", str(UNIT))

    assert judged.returncode == 0, judged.stdout
    assert re.search(r"Overall exposure level .*: \d\.\d OK", judged.stdout)


def test_its_environment_is_made_of_settings() -> None:
    lines = re.findall(r"^Environment=(.+)$", UNIT.read_text(), re.MULTILINE)
    environment = dict(pair.split("=", 1) for line in lines for pair in shlex.split(line))

    settings = load_settings(environ=environment)

    assert settings.state.path == Path("/var/lib/bcon-exporter/state.db")
