"""Promise: the daemon scans when it is asked to, and watches until all is well, while its own interval is an hour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.docker.daemon import Daemon
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

COMPOSE = "name: shop\nservices:\n  web: {{image: '{image}', command: serve}}\n"
SELDOM = ("--scan.diagnose-interval=1h", "--scan.drift-interval=1h")


def ask(daemon: Daemon, **payload: Any) -> dict[str, Any]:
    answer = daemon.ask("/api/v1/tools/schedule_task", "POST", payload)
    assert answer.status == 200, answer.text
    result: dict[str, Any] = answer.json()["result"]
    return result


def test_the_daemon_scans_and_watches_when_it_is_asked_to(engine: TestEngine, tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(COMPOSE.format(image=engine.image))
    with Daemon(tmp_path, engine.host, *SELDOM, f"--compose.roots={tmp_path}") as daemon:
        wait_until(lambda: daemon.ask("/api/v1/drift").status == 200, "the first scans", timeout_seconds=60)
        engine.docker("run", "--name", "failed", engine.image, "sh", "-c", "echo bad; exit 3", check=False)
        told = ask(daemon, task="diagnose", at="now")
        assert (told["state"], [one["name"] for one in told["findings"]]) == ("done", ["failed"])
        assert told["age_seconds"] < 20

        engine.compose("up", "-d", "--pull", "never", cwd=tmp_path)
        assert ask(daemon, task="drift")["summary"] == "1 project: 0 drifted."
        words = {"task": "watch", "project": "shop", "for": "2m", "stable": "8s"}
        first = ask(daemon, **words)
        assert first["state"] == "running"
        last = wait_until(
            lambda: told if (told := ask(daemon, **words))["state"] == "done" else None,
            "the watch to end",
            timeout_seconds=60,
            every_seconds=0.5,
        )
        assert (last["verdict"], last["began_at"]) == ("good", first["began_at"])
        assert last["well_seconds"] >= 8

        engine.docker("stop", "-t", "1", "shop-web-1")
        again = wait_until(
            lambda: told if (told := ask(daemon, **{**words, "for": "9s"}))["state"] == "done" else None,
            "the second watch to end",
            timeout_seconds=60,
            every_seconds=0.5,
        )
        assert (again["verdict"], again["services"][0]["code"]) == ("bad", "not_running")
