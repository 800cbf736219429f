"""How many files this process may have open."""

import resource
from contextlib import suppress

MOST_OPEN_FILES = 8192
"""Six cgroup files for each of a thousand containers, and connections: stats need one for each container."""


def open_files_limit() -> int:
    """Return how many files may be open now, at most what any of our budgets can use."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_OPEN_FILES if soft == resource.RLIM_INFINITY else min(soft, MOST_OPEN_FILES)


def raise_open_files_limit() -> int:
    """Raise the soft limit toward the hard one; return what it is then.

    For the daemon only, before its first scan: the usual soft limit of 1024 exists for programs that use select(2),
    and would have cgroup files opened anew at every scan from some fifty containers on. A command ends before it gains.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # a sandbox may forbid it: then we live with less
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return open_files_limit()
