"""What every test runs under: promises, an engine, and hypothesis without a deadline, which would measure others."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.docker.engines import use_wanted_engine
from tests.left_open import close_all
from tests.processes import pytest_runtest_call, pytest_runtest_setup
from tests.promises.plugin import figure, pytest_addoption, pytest_configure
from tests.promises.plugin import pytest_collection_modifyitems as choose_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "figure",
    "pytest_addoption",
    "pytest_configure",
    "pytest_runtest_call",
    "pytest_runtest_setup",
]

for name in ("COLUMNS", "LINES"):  # readline, which pytest loads, has set them behind Python's back: for children too
    os.unsetenv(name)

PROFILE, UNIT_PROFILE = "side-by-side", "unit"
LONGEST = (
    "docker/test_security_canaries.py",
    "docker/test_diagnosis_scenarios.py",
    "incidents_bench/test_bench.py",
    "docker/test_read_only.py",
    "docker/test_faults_soak.py",
    "outputs/mcp/test_daemon.py",
    "docker/test_day_of_operations.py",
    "docker/test_deployments.py",
    "docker/test_daemon_serving.py",
    "alerting/test_rules.py",
)
"""Files of tests that take a minute and more, the longest first: the last to begin would keep the others waiting."""

settings.register_profile(
    PROFILE,
    settings.get_profile(settings.get_current_profile_name()),  # in CI that is hypothesis' own for CI
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(UNIT_PROFILE, settings.get_profile(PROFILE), max_examples=25)
"""A quarter of the usual examples, for `make unit`; `make nightly` takes them all."""
settings.load_profile(PROFILE)
use_wanted_engine()


@pytest.hookimpl(trylast=True)  # what is not to run has left by then
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    choose_rows(config, items)
    begin_with_longest(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def begin_with_longest(items: list[pytest.Item], workers: int) -> None:
    """Put the longest tests where workers begin: at first each is given its part of those that are left."""
    longest, others = {Path(__file__).parent / file: list[pytest.Item]() for file in LONGEST}, list[pytest.Item]()
    for item in items:
        longest.get(item.path, others).append(item)
    items.clear()
    left = len(others) + sum(map(len, longest.values()))
    for worker in range(workers):
        own = [item for path in [*longest][worker::workers] for item in longest[path]]
        length = max(len(own), left // (workers - worker))
        own += others[: length - len(own)]
        del others[: length - sum(item.path in longest for item in own)]
        items += own
        left -= len(own)
    items += others


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: the collector need not look through it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def histories_are_closed() -> Iterator[None]:
    """From Python 3.13 on a database that nobody has closed is a warning, which is an error here."""
    yield
    close_all()
