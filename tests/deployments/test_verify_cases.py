"""Promise: what `verify` says of a deployment on a real engine is what became of it: a sample of `make deployments`."""

from __future__ import annotations

import pytest

from tests.deployments.cases import read_cases
from tests.deployments.verify_bench import can_share, play_all, render_table

SAMPLE = (
    "01-one-shot-beside-web",
    "04-old-errors-in-log",
    "08-error-in-info-line",
    "18-crash-loop",
    "22-migration-fails",
    "24-port-taken",
    "25-tag-moved",
    "30-start-period-goes-on",
)
AT_THE_SAME_TIME = 6


@pytest.mark.docker
def test_a_sample_of_deployments_is_judged_as_it_went() -> None:
    cases = [case for case in read_cases("verify_cases") if case.id in SAMPLE]
    assert len(cases) == len(SAMPLE)

    assert sum(map(can_share, cases)) >= AT_THE_SAME_TIME  # on one engine

    played = play_all(cases, engines=3, baseline=False, together=len(cases))

    assert all(one.is_exact and not one.is_late for one in played), "\n".join(render_table(played))
