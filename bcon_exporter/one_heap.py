"""One heap for all threads: glibc gives many of them one each, and what ends with a thread stays in its heap."""

from contextlib import suppress

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
_LARGE_BYTES = 128 * 1024


def use_one_heap() -> None:
    """Do what MALLOC_ARENA_MAX=1 and MALLOC_MMAP_THRESHOLD_=131072 do; for a process that has no other thread yet.

    Each request has a thread of its own. Another C library has no such choice, and needs none.
    """
    with suppress(ImportError, OSError, AttributeError, MemoryError):
        import ctypes  # 5 ms: only the daemon pays for it

        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_ARENA_MAX, 1)
        mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
