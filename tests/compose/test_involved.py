"""A cached answer is used only while no file that it came from can have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bcon_exporter.compose.involved import fingerprint_files

if TYPE_CHECKING:
    from pathlib import Path


def fingerprint(directory: Path, text: str) -> str | None:
    (directory / "compose.yaml").write_text(text)
    return fingerprint_files([directory / "compose.yaml"], [directory])


@pytest.mark.parametrize("name", ["inc.yaml", "app.env", "plain-name", ".env"])
def test_a_change_of_a_named_file_changes_the_fingerprint(tmp_path: Path, name: str) -> None:
    text = f"include:\n  - {name}\nservices: {{}}\n"
    absent = fingerprint(tmp_path, text)
    (tmp_path / name).write_text("a: 1\n")
    first = fingerprint(tmp_path, text)
    (tmp_path / name).write_text("a: 2\n")
    assert len({absent, first, fingerprint(tmp_path, text), None}) == 4
    (tmp_path / name).write_text("a: 1\n")
    assert fingerprint(tmp_path, text) == first


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("include:\n  - ${DIR}/inc.yaml\n", False),
        ("include: ['$DIR/inc.yaml']\n", False),
        ("services:\n  web:\n    env_file:\n    - $NAME\n", False),
        ("services:\n  web:\n    env_file: ./${NAME}\n", False),
        ("services: {web: {env_file: $NAME}}\n", False),
        ("services:\n  web:\n    extends:\n      file: $NAME\n", False),
        ("services:\n  web:\n    env_file: app.env\n    environment:\n      - A=${B}\n", True),
        ("services:\n  web:\n    image: app:${TAG}\n    volumes:\n      - ${DATA}/x:/y\n", True),
    ],
)
def test_a_file_name_that_hangs_on_a_variable_forbids_keeping(tmp_path: Path, text: str, *, known: bool) -> None:
    assert (fingerprint(tmp_path, text) is not None) is known


def test_files_that_name_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("include: [compose.yaml]\n")
    assert fingerprint(tmp_path, "include: [other.yaml]\n") is not None


def test_too_many_files_are_not_kept(tmp_path: Path) -> None:
    for number in range(210):
        (tmp_path / f"f{number}").write_text("")
    assert fingerprint(tmp_path, "\n".join(f"- f{number}" for number in range(210))) is None
