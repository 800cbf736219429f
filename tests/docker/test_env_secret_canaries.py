"""Promise: a secret of `.env`, or of a container's environment, is shown nowhere, whatever Compose made of it.

Two dozen fields take one each. In sync; after `.env` was changed, while the container has the old values in its fields;
and where the container's own environment is all that knows them.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.docker.canaries import INTERPOLATED_VARIABLES, Canaries, start_interpolated, write_interpolated
from tests.docker.daemon import Daemon
from tests.docker.test_security_canaries import Shown, ask_daemon, run_as_process, run_here, written_files
from tests.outputs.alertmanager.receiver import receiving
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

SECONDS = ("--scan.diagnose-interval=1s", "--scan.drift-interval=2s")


def commands_about(container: str, file: Path, snapshot: Path) -> list[list[str]]:
    """Every command that shows something of a container or of its file."""
    found = [["snapshot"], ["snapshot", "--output", str(snapshot)]]
    for form in ("table", "json", "markdown"):
        plain = [["diagnose"], ["drift"], ["list", "--all"], ["info", container], ["logs", container]]
        plain += [["explain", container, "re:."], ["drift", str(file)], ["diagnose", container], ["untracked"]]
        found += [[*words, "--format", form] for words in plain]
    return found


def check(shown: Shown, canaries: Canaries) -> None:
    leaks = shown.leaks(canaries)
    told = [
        f"{place}: {where[0]}: {excerpt(shown.texts[where[0]], canaries.by_place[place])}"
        for place, where in leaks.items()
    ]
    assert not leaks, "\n".join(told)


def excerpt(text: str, secret: str) -> str:
    """What stands around a leak."""
    at = text.find(secret[-10:])
    return repr(text[max(0, at - 120) : at + 60])


def fields_in_drift(report: str) -> set[str]:
    """The fields that a report of drift names."""
    found = json.loads(report.rpartition("exit")[0])["result"]["reports"]
    return {one["field"].partition(".")[0] for report in found for one in report["differences"] if one["field"]}


@pytest.mark.promise("S9")
@pytest.mark.parametrize("kind", ["of the files", "own"])
def test_no_secret_of_dot_env_is_shown_of_what_it_was_interpolated_into(
    engine: TestEngine, project_name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str
) -> None:
    canaries, shown = Canaries(), Shown()
    folder = tmp_path / "project"
    folder.mkdir()
    default = canaries.password("default of a variable")
    file = write_interpolated(engine, canaries, folder, project_name, f"{kind}, running", default)
    start_interpolated(engine, folder)
    container, refused = f"{project_name}-web-1", f"{project_name}-refused-1"
    wait_until(lambda: engine.docker("inspect", "-f", "{{.RestartCount}}", container) != "0", "a restart")
    here = ("--docker.host", engine.host, "--state.path", str(tmp_path / "state.db"))
    words = commands_about(container, file, tmp_path / "host.json")
    flags = ("--log.level=debug", "--compose.roots", str(tmp_path), "--alertmanager.job=j", "--alertmanager.instance=i")
    labels = "--metrics.container-labels=x.basicauth"
    with (
        receiving() as receiver,
        Daemon(tmp_path, engine.host, *SECONDS, *flags, labels, f"--alertmanager.url={receiver.url}") as daemon,
    ):
        daemon.wait_until_ready()
        wait_until(lambda: daemon.ask("/api/v1/drift").status == 200, "a drift scan")
        run_here(shown, words, capfd, *here)
        ask_daemon(daemon, shown, canaries, [container, refused], [file])
        assert fields_in_drift(shown.texts["$ drift --format json"]) == set()
        write_interpolated(engine, canaries, folder, project_name, f"{kind}, wanted", default)
        wait_until(lambda: "labels.x.basicauth" in daemon.ask("/api/v1/drift").text, "the drift")
        wait_until(lambda: container in str(receiver.batches), "an alert about the container")
        later = Shown()
        ask_daemon(daemon, later, Canaries(), [container, refused], [file])
        shown.texts |= {f"{where}, drifted": text for where, text in later.texts.items()}
        for written in written_files(tmp_path):
            shown.add(written.name, written.read_bytes().decode("latin-1"))
        daemon.end()
        shown.add("daemon log", daemon.log)
        shown.add("alerts", str(receiver.batches))
    for written in written_files(tmp_path):
        shown.add(f"{written.name} at the end", written.read_bytes().decode("latin-1"))
    drifted = Shown()
    again = words if kind == "own" else [one for one in words if one[0] == "drift"]
    run_here(drifted, again, capfd, *here)
    run_as_process(drifted, ["drift"], {**os.environ, "DOCKER_HOST": engine.host})
    shown.texts |= {f"{where}, drifted": text for where, text in drifted.texts.items()}
    assert len(canaries.by_place) >= 2 * len(INTERPOLATED_VARIABLES)
    fields = {
        "image",
        "command",
        "entrypoint",
        "hostname",
        "labels",
        "healthcheck",
        "logging",
        "extra_hosts",
        "volumes",
    }
    assert fields_in_drift(drifted.texts["$ drift --format json"]) >= fields
    check(shown, canaries)
