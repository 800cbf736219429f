"""A daemon that is only scraped does not load what it never uses: tables, the API's framework, pages, users."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration

HEAVY = ("rich", "fastapi", "starlette", "jinja2", "bcrypt", "docker", "requests")
PROGRAM = f"""
import sys
import bcon_exporter.cli, bcon_exporter.cli.main, bcon_exporter.daemon
print("loaded:", *sorted(set({HEAVY!r}) & sys.modules.keys()))
"""


def test_a_scraped_daemon_loads_no_more_than_it_needs() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["loaded:"]
