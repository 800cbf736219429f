"""An engine with the images of the cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.deployments.stage import make_images
from tests.docker.conftest import make_engine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.docker.conftest import TestEngine


@pytest.fixture(scope="module")
def bench_engine() -> Iterator[TestEngine]:
    """One engine for all cases of a module, whose last test must be marked `docker`; each stage empties it."""
    started = make_engine()
    try:
        make_images(started)
        yield started
    finally:
        started.destroy()
