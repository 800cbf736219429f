"""A state file of another user: what may not be read stays as it is, and what another can change is told of."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docker.nobody import as_nobody
from tests.journal.state_files import fill

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user"),
]

NOBODY = 65534
OPEN = """
import json, logging, sys
from pathlib import Path
from tests.factories import NOON
from tests.journal.keepers import open_beside
from bcon_exporter.journal import MemoryKeeper
path, reads = Path(sys.argv[1]), sys.argv[2] == "reads"
said = []
handler = logging.Handler()
handler.emit = lambda record: said.append(record.getMessage())
logging.getLogger().addHandler(handler)
keeper = MemoryKeeper.open(path, retention_seconds=86400, now=NOON, read_only=True) if reads else open_beside(path)
print(json.dumps([keeper.status, keeper.reason, said]))
keeper.close()
"""


@pytest.fixture
def state() -> Iterator[Path]:
    """A filled state file in a folder that anybody may write."""
    with tempfile.TemporaryDirectory(prefix="bcon-owner-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        fill(folder / "state.db")
        for file in folder.iterdir():
            if file.name != "state.db":
                file.unlink()
        yield folder / "state.db"


def open_as(uid: int, state: Path, how: str = "writes") -> tuple[str, str | None, list[str]]:
    """Status, reason and what was logged, where this user opens the file."""
    command = [*(as_nobody() if uid else ()), sys.executable, "-c", OPEN, str(state), how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    status, reason, said = json.loads(done.stdout)
    return status, reason, said


@pytest.mark.parametrize(
    ("mode", "how", "reason"),
    [
        (0o600, "writes", "{} cannot be written: Permission denied"),
        (0o666, "writes", "{} cannot be written: Operation not permitted"),
        (0o600, "reads", "{} cannot be used: it cannot be opened"),
    ],
)
def test_the_file_of_another_user_is_left_as_it_is_and_the_history_goes_on_in_memory(
    state: Path, mode: int, how: str, reason: str
) -> None:
    state.chmod(mode)
    before = (state.read_bytes(), state.stat().st_mode, state.stat().st_uid)
    status, said, _ = open_as(NOBODY, state, how)
    assert (status, str(said)[: len(reason.format(state))]) == ("memory", reason.format(state))
    assert (state.read_bytes(), state.stat().st_mode, state.stat().st_uid) == before


def test_root_uses_the_file_of_another_user_and_says_who_can_change_it(state: Path) -> None:
    """As after an upgrade from a container that ran as nobody to a service of root."""
    assert open_as(0, state) == ("file", None, [])
    shutil.chown(state, NOBODY, NOBODY)
    status, reason, said = open_as(0, state)
    assert (status, reason) == ("file", None)
    assert said == [f"The state file {state} belongs to user {NOBODY}, who can change what is remembered."]
    assert state.stat().st_mode & 0o077 == 0
