"""What every test runs under: promises, an engine, and hypothesis without a deadline, which would measure others."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

from tests.docker.engines import use_wanted_engine
from tests.promises.plugin import figure, pytest_addoption, pytest_collection_modifyitems, pytest_configure

__all__ = ["figure", "pytest_addoption", "pytest_collection_modifyitems", "pytest_configure"]

for name in ("COLUMNS", "LINES"):  # readline, which pytest loads, has set them behind Python's back: for children too
    os.unsetenv(name)

PROFILE = "side-by-side"

settings.register_profile(
    PROFILE,
    settings.get_profile(settings.get_current_profile_name()),  # in CI that is hypothesis' own for CI
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(PROFILE)
use_wanted_engine()
