"""The process is set up for serving, and cycles do not pile up for ever."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bcon_exporter.interpreter import FULL_COLLECTION_SECONDS, collect_if_due

TELL = """
import gc, sys
from bcon_exporter.interpreter import tune
before = gc.get_threshold()
tune()
after = gc.get_threshold()
print(after[:2] == before[:2], after[2] > 100_000, gc.get_freeze_count() > 0, round(sys.getswitchinterval(), 6))
"""

MAP = """
import ctypes, sys
from bcon_exporter.interpreter import tune
class Heap(ctypes.Structure):
    _fields_ = [("before", ctypes.c_size_t * 4), ("hblkhd", ctypes.c_size_t), ("after", ctypes.c_size_t * 5)]
tell = getattr(ctypes.CDLL(None), "mallinfo2", None)
if tell is None:
    sys.exit(3)
tell.restype = Heap
tune()
for _ in range(3):
    body = bytearray(1_000_000)
    print(tell().hblkhd >= 1_000_000)
    body = None
"""


def test_scrapes_are_let_in_soon_and_no_collection_walks_everything() -> None:
    """In a process of its own: the settings are the interpreter's, not this test's."""
    told = subprocess.run([sys.executable, "-c", TELL], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True", "True", "True", "0.0001"]


def test_large_pieces_stay_outside_the_heap_however_many_were_freed() -> None:
    told = subprocess.run([sys.executable, "-c", MAP], capture_output=True, text=True, check=False)
    if told.returncode == 3:
        pytest.skip("no glibc 2.33 or newer")
    assert told.stdout.split() == ["True", "True", "True"], told.stderr


def test_a_command_goes_before_others_where_memory_runs_out() -> None:
    code = (
        "from pathlib import Path; from bcon_exporter.interpreter import go_first_where_memory_runs_out as go; go(); "
        "print(Path('/proc/self/oom_score_adj').read_text())"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(told.stdout) >= 500


def test_everything_is_collected_once_a_minute() -> None:
    assert collect_if_due(100.0, 100.0 + FULL_COLLECTION_SECONDS - 0.1) == 100.0
    assert collect_if_due(100.0, 100.0 + FULL_COLLECTION_SECONDS) == 100.0 + FULL_COLLECTION_SECONDS
