"""A daemon that is only scraped does not load what it never uses: tables, the API's framework, pages, users, agents."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration

HEAVY = ("rich", "fastapi", "starlette", "jinja2", "bcrypt", "docker", "requests", "mcp", "mcp_types")
PROGRAM = """
import sys
import bcon_exporter.cli, bcon_exporter.cli.main, bcon_exporter.daemon
print(*sys.modules)
"""


def modules_of_daemon(before: str = "") -> set[str]:
    """The modules that a scraped daemon has loaded, after a program that comes before it."""
    done = subprocess.run([sys.executable, "-c", before + PROGRAM], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_scraped_daemon_loads_no_more_than_it_needs() -> None:
    loaded = modules_of_daemon()

    assert "bcon_exporter.daemon" in loaded
    assert loaded & set(HEAVY) == set()
