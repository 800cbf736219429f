"""With 90 days in the state file no endpoint and no tool answers with more than 1 MiB, whatever it is asked for."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from bench.ninety_days import ask_all, fill_ninety_days, make_site
from tests.factories import NOON
from tests.journal.keepers import open_keeper

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.integration]

MOST_BYTES = 1024 * 1024


@pytest.mark.promise("F24")
def test_no_answer_over_ninety_days_has_more_than_a_mebibyte(tmp_path: Path) -> None:
    with closing(open_keeper(tmp_path / "state.db", now=NOON)) as keeper:
        assert fill_ninety_days(keeper) > 30_000
        answers = asyncio.run(ask_all(make_site(keeper), 1))
    assert {question: size for question, (_, size, _) in answers.items() if size > MOST_BYTES} == {}
    assert {question: status for question, (status, _, _) in answers.items() if status in (404, 500)} == {}
    sizes: dict[str, int] = {}
    for question, (status, size, _) in answers.items():
        path = question.partition("?")[0]
        sizes[path] = max(size if status == 200 else 0, sizes.get(path, 0))
    for question in ("GET /api/v1/history", "GET /api/v1/incidents", "GET /history", "POST /api/v1/tools/get_history"):
        assert sizes[question] > 20_000, "a question that gives much was asked for much"
