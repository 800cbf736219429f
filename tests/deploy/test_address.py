"""The repository's address has one home, and a copy of it is one that `make address` writes; so has the version."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from bcon_exporter import REPOSITORY_URL, __version__
from deploy.address import HOME, find_address, main, replace_address, set_address
from tests.architecture.sources import ROOT, find_files, show
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path

OLD, NEW = "https://github.com/bcon-exporter/bcon-exporter", "https://github.com/Acme/bcon-exporter.fork"
OURS = re.compile(r"(?:github\.com/|ghcr\.io/|io\.github\.|uses: )[\w.-]+/bcon-exporter\b(?![\w-])")


FILES = [path for path in find_files("") if "address.py" not in path.name]


def test_no_file_names_another_address_and_every_copy_is_replaced() -> None:
    texts = {show(path): path.read_text(errors="replace") for path in FILES}
    slug = REPOSITORY_URL.removeprefix("https://")
    held = {name: text for name, text in texts.items() if slug in text or OURS.search(text)}
    replaced = {name: replace_address(text, REPOSITORY_URL, "https://github.com/a/b") for name, text in held.items()}

    assert find_address(ROOT) == REPOSITORY_URL
    assert len(held) >= 8
    assert [name for name, text in replaced.items() if slug in text or OURS.search(text)] == []


def test_the_image_is_of_the_packages_version() -> None:
    assert f"\nARG VERSION={__version__}\n" in (ROOT / "deploy" / "Dockerfile").read_text()


@table(
    ("before", "after"),
    [
        (f'"{OLD}"', f'"{NEW}"'),
        (f"{OLD}/blob/main/docs/x.md", f"{NEW}/blob/main/docs/x.md"),
        (f"at {OLD}.", f"at {NEW}."),
        (f"{OLD}.git", f"{OLD}.git"),
        (f"{OLD}-fork", f"{OLD}-fork"),
        ("ghcr.io/bcon-exporter/bcon-exporter:0.3.0", "ghcr.io/acme/bcon-exporter.fork:0.3.0"),
        ('"io.github.bcon-exporter/bcon-exporter"', '"io.github.Acme/bcon-exporter.fork"'),
        ("- uses: bcon-exporter/bcon-exporter@v1", "- uses: Acme/bcon-exporter.fork@v1"),
        ("/usr/share/doc/bcon-exporter/bcon-exporter.cdx.json", "/usr/share/doc/bcon-exporter/bcon-exporter.cdx.json"),
    ],
)
def test_the_address_is_replaced_in_each_of_its_forms(before: str, after: str) -> None:
    assert replace_address(before, OLD, NEW) == after


@table(
    "words",
    [
        [], ["http://github.com/a/b"], ["https://github.com/a"], ["https://github.com/a/b/"], ["https://github.com/a/b.git"],
        ["https://github.com/a/b", "c"], ["https://gitlab.com/a/b"], ["https://github.com/-a/b"], ['https://github.com/a/b"'],
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_one_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "URL=https://github.com/OWNER/NAME" in capsys.readouterr().err


@pytest.mark.integration
def test_only_tracked_text_is_written(tmp_path: Path) -> None:
    home = tmp_path / HOME
    home.parent.mkdir()
    home.write_text(f'REPOSITORY_URL = "{OLD}"\n')
    picture, text, other = tmp_path / "picture.png", tmp_path / "text.md", tmp_path / "other.md"
    picture.write_bytes(b"\xff" + OLD.encode())
    text.write_bytes(f"{OLD}\r\n".encode())
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True, timeout=60)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True, timeout=60)
    other.write_text(OLD)

    assert set_address(tmp_path, NEW) == [str(HOME), "text.md"]

    assert find_address(tmp_path) == NEW
    assert text.read_bytes() == f"{NEW}\r\n".encode()
    assert (picture.read_bytes(), other.read_text()) == (b"\xff" + OLD.encode(), OLD)
