"""One engine with all images of the deployment, built as its documents say, and a copy of what is shipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.docker.conftest import make_engine
from tests.docker.e2e.site import Site

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """An engine of its own, since building images takes longer than the tests of one."""
    engine = make_engine()
    try:
        site = Site(engine, tmp_path_factory.mktemp("site"))
        site.build_images()
        yield site
    finally:
        engine.destroy()
