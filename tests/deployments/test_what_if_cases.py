"""Promise: of an edit is told what `docker compose up` then does; the whole is tests/deployments/what_if_bench.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.deployments.what_if_bench import COUNT, FLAGS, SAMPLE, choose, find_edits, play_all
from tests.docker.conftest import make_engine

if TYPE_CHECKING:
    from pathlib import Path


def test_the_edits_are_spread_over_many_projects() -> None:
    chosen = choose(COUNT)
    assert len({(case.name, change.what) for case, change in chosen}) == COUNT
    assert len({case.name for case, _ in chosen}) >= 25


@pytest.mark.docker
@pytest.mark.slow
def test_what_is_told_of_an_edit_is_what_up_does(tmp_path: Path) -> None:
    edits = [(case, change) for case, change in find_edits() if (case.name, change.what) in SAMPLE]
    assert len(edits) == len(SAMPLE)
    engine = make_engine(*FLAGS)
    try:
        outcomes = play_all(engine, tmp_path, edits)
    finally:
        engine.destroy()
    assert {f"{one.project}: {one.what}": one.misses for one in outcomes if one.misses} == {}
