"""Promise: a path is no oracle and no trap: over HTTP all that may not be read looks alike, and nothing there hangs.

Labels are claims too: whatever path a container names, the scan of the other projects goes on.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.compose import ComposeOptions, ComposeReader, find_binary
from bcon_exporter.compose.files import FILE_BYTES
from bcon_exporter.errors import BconError, ComposeFileNotFoundError, ComposeParseError
from bcon_exporter.model.desired import ProjectProblem, RunningProject
from bcon_exporter.secrets.masking import Sealer
from tests.compose.conftest import NOW

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration

WEB = "services: {web: {image: 'x:1'}}\n"
LONGEST_SECONDS = 0.5


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "compose.yaml").write_text(WEB)
    return folder


def make_reader(root: Path, **options: Any) -> ComposeReader:
    """A daemon's reader."""
    path = os.environ["PATH"]
    settings = {
        "binary": find_binary(path),
        "environ": {"PATH": path},
        "roots": (root,),
        "wait_seconds": 60.0,
        **options,
    }
    return ComposeReader(ComposeOptions(**settings), Sealer(b"k"))


def make_traps(root: Path, tmp_path: Path) -> dict[str, str]:
    """Paths that may not be read, by what is wrong with each."""
    outside = tmp_path / "outside.yaml"
    outside.write_text(WEB)
    os.mkfifo(root / "pipe.yaml")
    (root / "out.yaml").symlink_to(outside)
    (root / "loop.yaml").symlink_to(root / "loop.yaml")
    (root / "folder.yaml").mkdir()
    (root / "huge.yaml").write_bytes(b"#" * (FILE_BYTES + 1))
    (root / "to_pipe.yaml").symlink_to(root / "pipe.yaml")
    (root / "up").symlink_to(tmp_path)
    return {
        "absent": f"{root}/absent.yaml",
        "outside": str(outside),
        "outside, absent": f"{tmp_path}/absent.yaml",
        "dots": f"{root}/../outside.yaml",
        "symlink out": f"{root}/out.yaml",
        "folder symlink out": f"{root}/up/outside.yaml",
        "symlink loop": f"{root}/loop.yaml",
        "directory": f"{root}/folder.yaml",
        "the root": str(root),
        "pipe": f"{root}/pipe.yaml",
        "symlink to a pipe": f"{root}/to_pipe.yaml",
        "huge": f"{root}/huge.yaml",
        "device": "/dev/zero",
        "terminal": "/dev/tty",
        "environment": "/proc/self/environ",
        "kernel log": "/proc/kmsg",
        "shadow": "/etc/shadow",
        "NUL": f"{root}/compose.yaml\0",
        "long name": f"{root}/{'a' * 300}",
        "long path": "/a" * 2000,
        "surrogate": f"{root}/\udcff",
        "file as a folder": f"{root}/compose.yaml/x",
        "like the root": f"{root}-not/compose.yaml",
    }


@pytest.mark.promise("S6")
def test_over_http_all_that_may_not_be_read_gets_one_answer_at_once(root: Path, tmp_path: Path) -> None:
    reader, answers = make_reader(root), {}
    traps = make_traps(root, tmp_path)
    assert reader.resolve_file(traps.pop("the root"), None, NOW).services, "a folder that may be read"
    reader.runs = 0
    for what, path in traps.items():
        started = time.thread_time()  # what would wait for the other end of a pipe would wait for ever
        with pytest.raises(ComposeFileNotFoundError) as caught:
            reader.resolve_file(path, None, NOW)
        assert time.thread_time() - started < LONGEST_SECONDS, what
        answers[what] = json.dumps([caught.value.message, caught.value.details])
    assert len(set(answers.values())) == 1, answers
    assert reader.runs == 0, "nothing of this reaches the binary"
    assert reader.resolve_file(f"{root}/compose.yaml", None, NOW).services


def test_on_the_command_line_every_trap_is_one_of_our_errors(root: Path, tmp_path: Path) -> None:
    reader = make_reader(root, trusted=True)
    for what, path in make_traps(root, tmp_path).items():
        if what in ("outside", "dots", "symlink out", "folder symlink out", "the root"):
            assert reader.resolve_file(path, None, NOW).services, what
        else:
            with pytest.raises(BconError):
                reader.resolve_file(path, None, NOW)


@pytest.mark.promise("S6")
@pytest.mark.parametrize("where", [".env", "named env file", "word in the file"])
def test_a_pipe_beside_a_compose_file_is_refused_at_once(root: Path, where: str) -> None:
    name = ".env" if where == ".env" else "pipe.env"
    os.mkfifo(root / name)
    if where == "word in the file":
        (root / "compose.yaml").write_text(WEB + "x-note: pipe.env\n")
    named = (str(root / name),) if where == "named env file" else ()
    project = RunningProject(
        name="root", config_files=(f"{root}/compose.yaml",), working_dir=str(root), environment_files=named
    )
    reader = make_reader(root)
    desired = reader.resolve_running(project, NOW)
    assert (desired.problem is None) == (where == "word in the file")
    assert (reader.runs > 1) == (where == "word in the file"), "the binary, once its version is known, is not asked"


@pytest.mark.parametrize("claim", ["/" + "a" * 300, "/a" * 2000, "/dev/null", "/etc/hostname/x", "relative", "-"])
def test_a_container_that_claims_a_strange_folder_is_a_stated_problem_and_no_defect(root: Path, claim: str) -> None:
    (root / "extra.env").write_text("A=1\n")
    reader = make_reader(root, env_file=root / "extra.env")
    file = f"{root}/compose.yaml"
    for claimed in (
        RunningProject(name="a", config_files=(file,), working_dir=claim),
        RunningProject(name="a", config_files=(claim,), working_dir=claim),
        RunningProject(name="a", config_files=(file,), environment_files=(claim,)),
    ):
        assert reader.resolve_running(claimed, NOW).name in ("a", "root")
    loop = root / "loop"
    loop.symlink_to(loop)
    known = (RunningProject(name="root", config_files=(str(loop), claim)),)
    assert reader.resolve_file(file, "root", NOW, known).services


@pytest.mark.promise("S6")
@pytest.mark.parametrize(
    "service",
    ["expose: ['hunter2']", "expose: ['1-9999999999']", "expose: ['70000']", "expose: ['" + "9" * 5000 + "']"],
)
def test_a_value_that_compose_lets_through_is_a_parse_error_without_the_value(root: Path, service: str) -> None:
    (root / "compose.yaml").write_text(f"services: {{web: {{image: 'x:1', {service}}}}}\n")
    reader = make_reader(root)
    with pytest.raises(ComposeParseError) as caught:
        reader.resolve_file(f"{root}/compose.yaml", None, NOW)
    assert "hunter2" not in caught.value.message
    claimed = RunningProject(name="a", config_files=(f"{root}/compose.yaml",))
    assert reader.resolve_running(claimed, NOW).problem is ProjectProblem.PARSE_ERROR


@pytest.mark.promise("S6")
def test_nothing_of_the_daemons_environment_is_resolved(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    text = "services: {web: {image: 'x:1', labels: {a: '${AWS_SECRET_ACCESS_KEY:-none} ${HOME} ${USER:-none}'}}}\n"
    (root / "compose.yaml").write_text(text)
    services = make_reader(root).resolve_file(f"{root}/compose.yaml", None, NOW).services
    assert services is not None
    shown = services[0].fields["labels.a"].shown
    assert "canary" not in shown
    assert os.environ.get("HOME", "/root") not in shown
    assert shown.startswith("none ")
    assert shown.endswith(" none")
