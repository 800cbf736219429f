"""A reported failure with a script is staged on an engine, and what the product says of it is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.reports.cases import OWN, load_cases
from tests.reports.judge import Verdict, judge
from tests.reports.staging import run_script

if TYPE_CHECKING:
    from tests.docker.conftest import TestEngine

pytestmark = [pytest.mark.docker, pytest.mark.own_engine]


def test_a_script_is_staged_on_an_engine_and_its_answer_judged(engine: TestEngine) -> None:
    (case,) = (case for case in load_cases(OWN) if case.is_staged)
    assert judge(case.expected, run_script(case, engine)).verdict is Verdict.RIGHT
