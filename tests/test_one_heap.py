"""Threads that allocate at the same time share the one heap, so that none leaves another's memory behind."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has several heaps"),
]

ALLOCATE = """
import ctypes, threading
from bcon_exporter.one_heap import use_one_heap
{first}
together = threading.Barrier(8)
def work():
    together.wait()
    kept = [bytes(2000) for _ in range(2000)]
    together.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, file)
libc.fflush(file)
"""


def count_heaps(first: str) -> int:
    """How many heaps glibc has made for eight threads."""
    command = [sys.executable, "-c", ALLOCATE.format(first=first)]
    environ = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, env=environ, timeout=60, check=True)
    return done.stdout.count("<heap nr=")


def test_all_threads_have_one_heap() -> None:
    assert count_heaps("") > 1, "without it they have several"
    assert count_heaps("use_one_heap()") == 1
