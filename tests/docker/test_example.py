"""The example of docs/development/tests.md, which is this file to the letter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker


def test_a_job_that_fails_is_diagnosed_with_its_exit_code(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "--name", "job", engine.image, "sh", "-c", "exit 7", check=False)

    with Daemon(tmp_path, engine.host) as daemon:
        answer = daemon.ask("/api/v1/tools/diagnose_container", "POST", {"container_id": "job"})

    [symptom] = answer.json()["result"]["symptoms"]
    assert symptom["type"] == "exit_error"
    assert "code 7" in symptom["description"]
