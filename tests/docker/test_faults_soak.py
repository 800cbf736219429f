"""F16: a daemon that is watched for long, with churn, faults and scrapes, holds no more than it did.

A minute and a half here, two hours in `make soak`: only then does the memory's slope tell anything.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from bench.soak import DESCRIPTORS_AT_MOST, PERCENT_AN_HOUR_AT_MOST, Sample, judge_growth, soak

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = [pytest.mark.promise("F16")]

SECONDS = 7200.0 if os.environ.get("TEST_SOAK") else 90.0
MEBIBYTE = 1 << 20


@pytest.mark.docker
@pytest.mark.slow
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


def test_what_is_under_way_is_no_growth_and_what_stays_is() -> None:
    def course(leak: int, percent_per_hour: float) -> list[Sample]:
        """Four hours, a sample a minute: every third one with a connection and a thread that are under way."""
        return [
            Sample(
                at=60.0 * number,
                rss_bytes=round(100 * MEBIBYTE * (1 + percent_per_hour / 100 * number / 60)),
                descriptors=10 + leak * number // 240 + 7 * (number % 3 == 0),
                threads=8 + (number % 3 == 0),
            )
            for number in range(240)
        ]

    steady, leaking = judge_growth(course(0, 0.0)), judge_growth(course(24, 3.0))

    assert steady[:2] == (0, 0)
    assert steady[2] == pytest.approx(0.0)
    assert leaking[0] == 12
    assert leaking[2] == pytest.approx(3.0, abs=0.5)
