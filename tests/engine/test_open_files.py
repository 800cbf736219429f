"""Promise: a daemon may open as many files as it can use, within the hard limit, and never fewer than before."""

import resource
import subprocess
import sys

import pytest

from bcon_exporter.engine.kept_open_files import MOST_OPEN_FILES

pytestmark = pytest.mark.integration

RAISE = (
    "import resource, sys; from bcon_exporter.engine import raise_open_files_limit;"
    "resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])));"
    "print(raise_open_files_limit(), *resource.getrlimit(resource.RLIMIT_NOFILE))"
)


@pytest.mark.parametrize(
    ("soft", "hard", "then"),
    [(64, 64, 64), (64, 100, 100), (64, MOST_OPEN_FILES, MOST_OPEN_FILES), (64, MOST_OPEN_FILES + 1, MOST_OPEN_FILES)],
)
def test_the_soft_limit_is_raised_toward_the_hard_one(soft: int, hard: int, then: int) -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < hard:
        pytest.skip("the hard limit of this machine is lower")
    done = subprocess.run(
        [sys.executable, "-c", RAISE, str(soft), str(hard)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(then), str(then), str(hard)]


def test_a_higher_soft_limit_stays_but_is_not_used_up() -> None:
    more = MOST_OPEN_FILES + 1
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < more:
        pytest.skip("the hard limit of this machine is lower")
    done = subprocess.run(
        [sys.executable, "-c", RAISE, str(more), str(more)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(MOST_OPEN_FILES), str(more), str(more)]
