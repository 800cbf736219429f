"""Some of the cases on the real engine: what `check` says, and that `up` then does as it says.

All of them, with their rates: make deployments.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.deployments.cases import read_cases
from tests.deployments.check_bench import judge
from tests.deployments.stage import Stage

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

SAMPLE = (
    "01-port-of-another-container",
    "02-port-of-replaced-container",
    "06-port-of-a-process",
    "17-external-network-and-volume",
    "19-subnet-taken",
    "21-bind-made",
    "23-env-file-missing",
    "27-image-of-another-platform",
)
CASES = {case.id: case for case in read_cases("check_cases")}


@pytest.mark.parametrize("name", SAMPLE)
def test_check_foretells_what_up_does(bench_engine: TestEngine, tmp_path: Path, name: str) -> None:
    with Stage(bench_engine, CASES[name], tmp_path) as stage:
        outcome = judge(stage)
    assert outcome.misses == ()
    assert outcome.up is CASES[name].expect["up_succeeds"]


def test_the_command_exits_by_its_verdict_and_writes_every_format(bench_engine: TestEngine, tmp_path: Path) -> None:
    program = [sys.executable, "-m", "bcon_exporter", "check", "--state.path=none"]
    with Stage(bench_engine, CASES["21-bind-made"], tmp_path) as stage:
        outs = [f"--out={form}={tmp_path / form}" for form in ("json", "markdown", "junit", "sarif", "github", "table")]
        done = stage.run([*program, *outs])
        assert (done.code, "bind_missing" in done.out) == (0, True), done.errors
        for form in ("json", "markdown", "junit", "sarif", "github", "table"):
            assert "bind_missing" in (tmp_path / form).read_text().replace("\\", ""), form
        assert stage.run([*program, "--fail-on", "risk"]).code == 1
        edited = stage.run([*program, "--edit", "compose.yaml:2:bench:1:bench:7", "--format", "json"])
        report = json.loads(edited.out)["result"]
        assert "image_missing" in {one["code"] for one in report["findings"]}
        assert '+  web: {image: "bench:7"' in report["diff"]
        assert "bench:1" in (stage.folder / "compose.yaml").read_text()
        text = (stage.folder / "compose.yaml").read_text().replace("bench:1", "bench:8")
        piped = stage.run([*program, "--file-from", "compose.yaml=-", "--format", "json"], given=text)
        assert "bench:8" in piped.out
        assert stage.run([*program, "-f", "nowhere.yaml"]).code == 2
        assert stage.run([*program, "--docker.host", "unix:///nowhere.sock"]).code == 3
        assert stage.run(["env", f"PATH={tmp_path}", f"HOME={tmp_path}", *program, "--out", "yaml=x"]).code == 2
