"""Programs that tests start: skipped where one is not installed, but never where CI must have run them."""

import os
import shutil
from socket import socket

import pytest


def need(program: str) -> str:
    """Return the program's path; skips the test without it, and fails it where CI=true or TEST_ENGINE=required."""
    found = shutil.which(program)
    if found is not None:
        return found
    if os.environ.get("CI") == "true" or os.environ.get("TEST_ENGINE") == "required":
        pytest.fail(f"{program} is not installed; run make test, which installs it")
    pytest.skip(f"{program} is not installed")


def free_port() -> int:
    """Return a port of loopback that nobody uses now."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
