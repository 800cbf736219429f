"""What the daemon says of each recorded host is what it said when the answers were taken."""

from __future__ import annotations

import fcntl
import json
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.golden.answers import ANSWERS, find_changes, play, render
from tests.golden.recording import list_hosts, read_host

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.golden.recording import Host


@contextmanager
def alone_with_its_files(host: Host) -> Iterator[None]:
    """Wait for another host that has its Compose files in the same place."""
    place = "-".join(sorted({Path(name).parts[0] for name in host.files})) or "none"
    with Path(tempfile.gettempdir(), f"bcon-golden-{place}.lock").open("w") as lock:
        if host.files:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.mark.integration
@pytest.mark.parametrize("name", list_hosts())
def test_the_answers_about_a_recorded_host_are_the_golden_ones(name: str) -> None:
    host = read_host(name)
    with alone_with_its_files(host):
        answers = json.loads(render(play(host)))
    assert list(find_changes(json.loads((ANSWERS / f"{name}.json").read_text()), answers)) == []


def test_a_changed_value_a_missing_key_and_another_order_are_changes() -> None:
    old = {"a": {"b": [1, 2], "c": "x"}, "d": None}
    assert list(find_changes(old, {"a": {"b": [2, 1], "c": "x"}, "d": None})) == ["a.b[0]: 1 -> 2", "a.b[1]: 2 -> 1"]
    assert list(find_changes(old, {"a": {"b": [1, 2, 3]}, "d": 0})) == [
        "a.b: [1, 2] -> [1, 2, 3]",
        'a.c: "x" -> "(absent)"',
        "d: null -> 0",
    ]
