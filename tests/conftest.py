"""What every test runs under: promises, an engine, and hypothesis without a deadline, which would measure others."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.docker.engines import use_wanted_engine
from tests.promises.plugin import figure, pytest_addoption, pytest_collection_modifyitems, pytest_configure

__all__ = ["figure", "pytest_addoption", "pytest_collection_modifyitems", "pytest_configure"]

PROFILE = "side-by-side"

settings.register_profile(
    PROFILE,
    settings.get_profile(settings.get_current_profile_name()),  # in CI that is hypothesis' own for CI
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(PROFILE)
use_wanted_engine()
