"""Promise: a hook belongs to its service: a sample of `python -m tests.deployments.hook_bench`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.deployments.cases import read_cases
from tests.deployments.hook_bench import FOLDER, judge
from tests.deployments.stage import Stage

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

SAMPLE = ("04-image-absent", "10-two-hooks")
CASES = {case.id: case for case in read_cases(FOLDER)}


def test_what_is_said_of_projects_with_hooks_is_what_becomes_of_them(bench_engine: TestEngine, tmp_path: Path) -> None:
    for name in SAMPLE:
        with Stage(bench_engine, CASES[name], tmp_path) as stage:
            assert judge(stage).misses == (), name
