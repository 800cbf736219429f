"""A cached answer is used only while no file that it came from can have changed."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.compose.involved_files import InvolvedFilesCache, ResolutionRequest
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path


LATER = time.time() + 3600
"""By then every file has long been as it is."""


def fingerprint(directory: Path, text: str, memory: InvolvedFilesCache | None = None) -> str | None:
    (directory / "compose.yaml").write_text(text)
    return again(directory, memory or InvolvedFilesCache())


def again(directory: Path, memory: InvolvedFilesCache) -> str | None:
    return memory.find(ResolutionRequest((directory / "compose.yaml",), (), directory)).fingerprint


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
    ("text", "values", "file"),
    [
        ("include:\n  - ${DIR}/inc.yaml\n", "DIR=parts\n", "parts/inc.yaml"),
        ("include: ['$DIR/inc.yaml']\n", "export DIR = 'parts'  # where\n", "parts/inc.yaml"),
        ("services:\n  web:\n    env_file:\n    - $NAME\n", 'NAME="a b.env" \n', "a b.env"),
        ("services:\n  web:\n    env_file: ./${NAME:-app.env}\n", "", "app.env"),
        ("services:\n  web:\n    env_file: ./${NAME:-app.env}\n", "NAME=other.env\n", "other.env"),
        ("services: {web: {env_file: [{path: $SHELL_NAME, required: false}]}}\n", "", "of-the-shell"),
        ("services:\n  web:\n    extends:\n      file: ${A}-${B:?no}.yaml\n", "A=x\nB=y\n", "x-y.yaml"),
    ],
)
def test_a_file_whose_name_hangs_on_a_variable_is_known_by_every_value_it_may_have(
    tmp_path: Path, text: str, values: str, file: str
) -> None:
    (tmp_path / ".env").write_text(values)
    environ = {"SHELL_NAME": "of-the-shell"}
    absent = fingerprint(tmp_path, text, InvolvedFilesCache(environ))
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("a: 1\n")
    first = fingerprint(tmp_path, text, InvolvedFilesCache(environ))
    (tmp_path / file).write_text("a: 2\n")
    assert len({absent, first, fingerprint(tmp_path, text, InvolvedFilesCache(environ)), None}) == 4


@table(
    ("text", "known"),
    [
        ("include:\n  - ${DIR:-${OTHER}}/inc.yaml\n", False),
        ("include: ['${DIR:+x}/inc.yaml']\n", False),
        ("services:\n  web:\n    env_file: $$NAME\n", False),
        ("services:\n  web:\n    env_file: 'my ${NAME}.env'\n", True),
        ("services: {web: {env_file: $NESTED}}\n", False),
        ("services:\n  web:\n    env_file: " + "$A$B$C$D$E$F$G\n", False),
        ("services:\n  web:\n    env_file: app.env\n    environment:\n      - A=${B:+c}\n", True),
        ("services:\n  web:\n    image: app:${TAG}\n    volumes:\n      - ${DATA:+y}/x:/y\n", True),
    ],
)
def test_a_file_name_that_cannot_be_told_forbids_keeping(tmp_path: Path, text: str, *, known: bool) -> None:
    many = "".join(f"{name}=x\n" for name in "ABCDEFG")
    (tmp_path / ".env").write_text(f"NESTED=${{OTHER}}/a.env\n{many}")
    assert (fingerprint(tmp_path, text) is not None) is known


def test_what_an_included_file_names_lies_in_the_directory_given_with_it(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "parts" / "inc.yaml").write_text("services: {web: {env_file: app.env}}\n")
    text = "include:\n  - path: parts/inc.yaml\n    project_directory: other\n"
    absent = fingerprint(tmp_path, text)
    (tmp_path / "other" / "app.env").write_text("A=1\n")
    assert fingerprint(tmp_path, text) not in (absent, None)


def test_a_byte_order_mark_hides_no_variable(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xef\xbb\xbfDIR=parts\r\n")
    text = "include: ['$DIR/inc.yaml']\n"
    absent = fingerprint(tmp_path, text)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "inc.yaml").write_text("services: {}\n")
    assert fingerprint(tmp_path, text) not in (absent, None)


def test_files_that_name_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("include: [compose.yaml]\n")
    assert fingerprint(tmp_path, "include: [other.yaml]\n") is not None


def test_too_many_files_are_not_kept(tmp_path: Path) -> None:
    for number in range(210):
        (tmp_path / f"f{number}").write_text("")
    names = [f"f{number}" for number in range(210)]
    assert fingerprint(tmp_path, f"services: {{web: {{env_file: [{', '.join(names)}]}}}}") is None
    assert fingerprint(tmp_path, f"services: {{web: {{env_file: [{', '.join(names[:190])}]}}}}") is not None


@pytest.mark.parametrize("name", ["compose.yaml", "app.env", ".env", "conf/late.env", "../up.env"])
def test_a_change_is_seen_by_a_memory_that_has_settled(tmp_path: Path, name: str) -> None:
    home = tmp_path / "home"
    (home / "conf").mkdir(parents=True)
    text = "services: {web: {env_file: [app.env, ./conf/late.env, ../up.env]}}\n"
    memory = InvolvedFilesCache(now=lambda: LATER)
    first = fingerprint(home, text, memory)
    assert not memory.has_changed()
    with (home / name).open("a") as file:
        file.write("#A=1\n")
    assert memory.has_changed()
    assert not memory.has_changed(), "each change is told once"
    assert again(home, memory) not in (first, None)


def test_an_override_file_that_comes_is_noticed(tmp_path: Path) -> None:
    memory = InvolvedFilesCache(now=lambda: LATER)
    fingerprint(tmp_path, "services: {a: {}}\n", memory)
    (tmp_path / "compose.override.yml").write_text("services: {a: {user: '1'}}\n")
    assert memory.has_changed()


def test_a_file_written_twice_in_one_tick_of_the_clock_is_read_again(tmp_path: Path) -> None:
    memory = InvolvedFilesCache()
    first = fingerprint(tmp_path, "services: {a: {}}\n", memory)
    before = (tmp_path / "compose.yaml").stat()
    (tmp_path / "compose.yaml").write_text("services: {b: {}}\n")
    os.utime(tmp_path / "compose.yaml", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert again(tmp_path, memory) not in (first, None)


def test_a_directory_whose_files_change_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    memory = InvolvedFilesCache(now=lambda: LATER)
    first = fingerprint(tmp_path, "services: {a: {volumes: [./data:/data]}}\n", memory)
    (tmp_path / "data" / "row").write_text("1")
    assert not memory.has_changed()
    assert again(tmp_path, memory) == first
