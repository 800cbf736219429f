"""F16: a daemon that is watched for long, with churn, faults and scrapes, holds no more than it did.

A minute and a half here, two hours in `make soak`: only then does the memory's slope tell anything.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from bench.soak import DESCRIPTORS_AT_MOST, PERCENT_AN_HOUR_AT_MOST, soak

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.promise("F16")]

SECONDS = 7200.0 if os.environ.get("TEST_SOAK") else 90.0


def test_a_long_watch_holds_no_more_descriptors_threads_and_memory(
    engine: TestEngine, tmp_path: Path, figure: Figure
) -> None:
    growth = soak(engine, engine.image, tmp_path, SECONDS)
    figure(str(growth))

    assert growth.scans > SECONDS / 4
    assert growth.faults >= 1
    assert growth.descriptors <= DESCRIPTORS_AT_MOST
    assert growth.threads <= 0
    assert SECONDS < 3600 or growth.rss_percent_per_hour < PERCENT_AN_HOUR_AT_MOST
