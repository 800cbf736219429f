"""A Compose file is read only where it may be: the command line tells errors apart, HTTP learns nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.compose.files import FILE_BYTES, check_file, to_host, to_local
from bcon_exporter.errors import BconError, ComposeFileNotFoundError, PermissionDeniedError
from bcon_exporter.model.desired import RunningProject
from tests.compose.conftest import NOW

if TYPE_CHECKING:
    from collections.abc import Callable

    from bcon_exporter.compose import ComposeReader

WEB = "services:\n  web:\n    image: app:1\n"


def test_command_line_tells_absent_directory_and_device_apart(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    reasons = {}
    for path in (project / "absent.yaml", project, "/dev/null"):
        with pytest.raises(ComposeFileNotFoundError) as caught:
            make_reader().resolve_file(str(path), None, NOW)
        reasons[str(caught.value.details["reason"])] = path
    assert len(reasons) == 3


@pytest.mark.parametrize(
    ("make", "hinted"),
    [
        pytest.param(Path.exists, True, id="absent"),
        pytest.param(Path.mkdir, False, id="directory"),
        pytest.param(lambda file: file.write_bytes(b"#" * (FILE_BYTES + 1)), False, id="too-large"),
        pytest.param(os.mkfifo, False, id="pipe"),
    ],
)
def test_only_an_absent_file_may_be_one_of_another_view(
    project: Path, make: Callable[[Path], object], hinted: bool
) -> None:
    make(project / "odd.yaml")
    error = check_file(project / "odd.yaml")
    assert error is not None
    assert ("compose.path-map" in error.message) is hinted


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_permission_denied_on_the_command_line(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    file = project / "compose.yaml"
    file.write_text(WEB)
    file.chmod(0)
    with pytest.raises(PermissionDeniedError):
        make_reader().resolve_file(str(file), None, NOW)


@pytest.mark.promise("S6")
@pytest.mark.parametrize(("size", "fits"), [(FILE_BYTES - 1, True), (FILE_BYTES, True), (FILE_BYTES + 1, False)])
def test_a_file_may_have_one_mebibyte(project: Path, size: int, fits: bool) -> None:
    file = project / "compose.yaml"
    file.write_bytes(b"#" * size)
    assert (check_file(file) is None) is fits


@pytest.mark.promise("S6")
def test_over_http_every_forbidden_path_gives_one_and_the_same_error(
    make_reader: Callable[..., ComposeReader], project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text(WEB)
    (project / "link.yaml").symlink_to(outside)
    (project / "big.yaml").write_bytes(b"#" * (FILE_BYTES + 1))
    reader = make_reader(trusted=False, environ={}, roots=(project,))
    answers = set()
    for path in (
        "absent.yaml",
        "link.yaml",
        "big.yaml",
        ".",
        "../outside.yaml",
        "/etc/shadow",
        "/dev/zero",
        "\0",
        "a\nb",
    ):
        with pytest.raises(BconError) as caught:
            reader.resolve_file(str(project / path), None, NOW)
        answers.add((caught.value.code, caught.value.message, str(caught.value.details)))
    assert len(answers) == 1
    assert str(project) not in str(answers)


@pytest.mark.integration
def test_over_http_files_below_the_roots_are_read_and_no_label_opens_others(
    make_reader: Callable[..., ComposeReader], project: Path, tmp_path: Path
) -> None:
    inside, other = project / "compose.yaml", tmp_path / "other.yaml"
    inside.write_text(WEB)
    other.write_text("name: other\n" + WEB)
    reader = make_reader(trusted=False, environ={}, roots=(project,))
    assert reader.resolve_file(str(inside), None, NOW).name == "shop"
    known = (RunningProject(name="other", config_files=(str(other),)),)
    with pytest.raises(ComposeFileNotFoundError):
        reader.resolve_file(str(other), None, NOW, known)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("/srv/a/compose.yaml", "/host/srv/a/compose.yaml"),
        ("/srv", "/host/srv"),
        ("/srv/deep/x", "/deep/x"),
        ("/srvx/y", "/srvx/y"),
        ("/other", "/other"),
    ],
)
def test_the_longest_mapped_directory_wins_and_names_are_whole(host: str, local: str) -> None:
    pairs = [("/srv", "/host/srv"), ("/srv/deep", "/deep")]
    assert to_local(host, pairs) == local
    assert to_host(local, pairs) == host
