"""A container that anybody started carries the labels of a Compose project and names files of its choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

QUICK = ("--scan.diagnose-interval=1s", "--scan.drift-interval=1s")
CANARY = "hunter2-of-the-operator"


@pytest.mark.parametrize("with_roots", [False, True])
def test_a_container_with_five_labels_makes_the_daemon_tell_nothing(
    engine: TestEngine, tmp_path: Path, with_roots: bool
) -> None:
    (tmp_path / "root").mkdir()
    file = tmp_path / "private.yaml"
    file.write_text(f"services: {{web: {{image: 'x:1', labels: {{canary: {CANARY}}}}}}}\n")
    claimed = {"real": str(file), "absent": f"{tmp_path}/absent.yaml", "shadow": "/etc/shadow"}
    for project, path in claimed.items():
        labels = {"project": project, "service": "web", "config-hash": "0" * 64, "oneoff": "False"}
        labels["project.config_files"] = path
        words = [word for key, value in labels.items() for word in ("--label", f"com.docker.compose.{key}={value}")]
        engine.docker("run", "-d", "--name", project, *words, engine.image, "serve")
    roots = (f"--compose.roots={tmp_path}/root",) if with_roots else ()
    with Daemon(tmp_path, engine.host, *QUICK, *roots) as daemon:
        told = {}
        for project, path in claimed.items():
            daemon.wait_for_sample(f'bcon_compose_unreadable{{project="{project}",reason="outside_roots"}}', 1)
            report = daemon.ask(f"/api/v1/drift/{project}").json()["result"]
            told[project] = (report["unknown_reason"], report["unknown_detail"].replace(path, "PATH"))
            assert daemon.ask("/api/v1/drift").status == 200
        assert len(set(told.values())) == 1, told
        answers = {
            daemon.ask("/api/v1/tools/detect_drift", "POST", {"compose_file": path}).text for path in claimed.values()
        }
        assert len(answers) == 1, answers
        assert CANARY not in daemon.ask("/api/v1/drift").text + daemon.log
