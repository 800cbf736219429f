"""A line that almost matches every shipped pattern costs little, all patterns together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.catalogue.pattern_tests import HOSTILE_BYTES, hostile_lines
from bcon_exporter.clock import thread_cpu_seconds
from bcon_exporter.regexes import compile_pattern

if TYPE_CHECKING:
    from tests.promises.plugin import Figure

SECONDS = 0.15
ATTEMPTS = 5


@pytest.mark.promise("F8")
def test_all_patterns_together_take_little_of_a_line_that_almost_matches_each(figure: Figure) -> None:
    patterns = [pattern for signature in load_catalogue().signatures for pattern in signature.patterns]
    near = b" ".join(dict.fromkeys(line[:300] for pattern in patterns for line in hostile_lines(pattern)))
    line = (near * (HOSTILE_BYTES // len(near) + 1))[:HOSTILE_BYTES]
    compiled = [compile_pattern(pattern.regex) for pattern in patterns]
    best = float("inf")
    for _ in range(ATTEMPTS):
        began = thread_cpu_seconds()
        for expression in compiled:
            expression.search(line)
        best = min(best, thread_cpu_seconds() - began)

    figure(f"{len(compiled)} patterns over 64 KiB: {best * 1000:.0f} ms")
    assert best < SECONDS
