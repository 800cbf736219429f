"""Promise: `logs --follow` shows each line once and in order, over restarts too, until Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

COUNTS = "i=0; while [ $i -lt 400 ]; do echo line-$i; i=$((i+1)); [ $((i % 40)) = 0 ] && sleep 0.3; done; sleep 1"


def test_following_loses_and_repeats_no_line(engine: TestEngine, tmp_path: Path) -> None:
    engine.docker("run", "-d", "--name", "counts", engine.image, "sh", "-c", COUNTS)
    words = ["logs", "counts", "--follow", "--tail", "10000", "--no-timestamps", "--state.path", "none"]
    shown = tmp_path / "shown"
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job's children would ignore it
    try:
        with (
            shown.open("wb") as out,
            subprocess.Popen(
                [sys.executable, "-m", "bcon_exporter", *words, f"--docker.host={engine.host}"],
                stdout=out,
                stderr=subprocess.PIPE,
            ) as process,
        ):
            wait_until(lambda: "line-399" in shown.read_text(), "the last line", timeout_seconds=60)
            engine.docker("restart", "-t", "0", "counts")
            wait_until(
                lambda: shown.read_text().count("line-399\n") == 2,
                "the last line of the second run",
                timeout_seconds=60,
            )
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (process.returncode, err) == (130, b"")
    assert shown.read_text().split() == 2 * [f"line-{number}" for number in range(400)]
