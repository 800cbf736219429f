"""The stage itself: a case finds what it asks for, the next one nothing of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.deployments.cases import read_case
from tests.deployments.stage import Stage, StageError, split_words

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

CASE = """
name: everything that a stage does
files:
  compose.yaml: "services: {web: {image: 'bench:1', command: httpd -f -p 80, stop_signal: SIGKILL}}"
  conf/a.txt: a
before:
  files:
    compose.yaml: |
      services: {old: {image: "bench:2", command: sleep 600, networks: [far]}}
      networks: {far: {external: true}}
    gone.env: A=1
host:
  - docker network create far
  - docker tag bench:2 bench:1
  - test -f "$PROJECT_DIR/conf/a.txt" || test -f "$PROJECT_DIR/gone.env"
processes: [nc -l -p 18081]
environment: {TAG: "1"}
expect: {verdict: ok}
"""


def test_a_case_is_set_up_and_leaves_nothing(bench_engine: TestEngine, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(CASE)
    case = read_case(tmp_path / "one.yaml")
    kept = bench_engine.docker("image", "inspect", "-f", "{{.Id}}", "bench:1")
    assert bench_engine.docker("image", "inspect", "-f", "{{.Architecture}}", "bench:arm") == "arm64"
    with Stage(bench_engine, case, tmp_path) as stage:
        assert not (stage.folder / "gone.env").exists()
        assert bench_engine.docker("ps", "--format", "{{.Names}}") == "app-old-1"
        assert "18081" in stage.run(["busybox", "netstat", "-lnt"]).out
        assert bench_engine.docker("image", "inspect", "-f", "{{.Id}}", "bench:1") != kept
        assert stage.up().code == 0
        assert set(bench_engine.docker("ps", "--format", "{{.Names}}").split()) == {"app-old-1", "app-web-1"}
        folder = stage.folder
    assert not folder.exists()
    assert bench_engine.docker("ps", "-aq") == ""
    assert "far" not in bench_engine.docker("network", "ls").split()
    assert bench_engine.docker("image", "inspect", "-f", "{{.Id}}", "bench:1") == kept


def test_a_line_that_fails_is_an_error_of_the_case(bench_engine: TestEngine, tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text("name: x\nhost: ['docker run -d nothing:here']\nexpect: {}")
    with (
        pytest.raises(StageError, match="nothing:here"),
        Stage(bench_engine, read_case(tmp_path / "two.yaml"), tmp_path),
    ):
        pass


def test_words_of_compose_stand_before_those_of_up() -> None:
    assert split_words(["--profile", "debug", "--scale", "web=3", "--env-file=a", "-f", "b"]) == (
        ["--profile", "debug", "--env-file=a", "-f", "b"],
        ["--scale", "web=3"],
    )
