"""What a soak measures is judged by what stays: what is under way at the moment of a sample is no growth."""

from __future__ import annotations

import pytest

from bench.soak import Sample, judge_growth

MEBIBYTE = 1 << 20


@pytest.mark.promise("F16")
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
