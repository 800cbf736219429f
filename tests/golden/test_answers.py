"""What the daemon says of each recorded host is what it said when the answers were taken."""

from __future__ import annotations

import json

import pytest

from tests.golden.answers import ANSWERS, find_changes, play, render
from tests.golden.recording import list_hosts, read_host


@pytest.mark.alone  # beside many others an engine in Python may be too slow for the daemon; beside one more it is not
@pytest.mark.parametrize("name", list_hosts())
def test_the_answers_about_a_recorded_host_are_the_golden_ones(name: str) -> None:
    answers = json.loads(render(play(read_host(name))))
    assert list(find_changes(json.loads((ANSWERS / f"{name}.json").read_text()), answers)) == []


def test_a_changed_value_a_missing_key_and_another_order_are_changes() -> None:
    old = {"a": {"b": [1, 2], "c": "x"}, "d": None}
    assert list(find_changes(old, {"a": {"b": [2, 1], "c": "x"}, "d": None})) == ["a.b[0]: 1 -> 2", "a.b[1]: 2 -> 1"]
    assert list(find_changes(old, {"a": {"b": [1, 2, 3]}, "d": 0})) == [
        "a.b: [1, 2] -> [1, 2, 3]",
        'a.c: "x" -> "(absent)"',
        "d: null -> 0",
    ]
