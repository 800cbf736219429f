"""A program that Compose calls is found where docker/cli and Compose look for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bcon_exporter.compose.programs import find_programs

if TYPE_CHECKING:
    from pathlib import Path


def put(folder: Path, name: str, mode: int = 0o755) -> None:
    """A program in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(mode)


def test_plugins_come_from_the_users_folder_and_programs_from_path(tmp_path: Path) -> None:
    put(tmp_path / "docker" / "cli-plugins", "docker-cloud")
    put(tmp_path / "docker" / "cli-plugins", "docker-asleep", 0o644)
    put(tmp_path / "more", "docker-extra")
    put(tmp_path / "bin", "tool")
    put(tmp_path / "bin", "docker-inpath")
    (tmp_path / "docker" / "config.json").write_text(json.dumps({"cliPluginsExtraDirs": [str(tmp_path / "more"), 1]}))
    environment = {"DOCKER_CONFIG": str(tmp_path / "docker"), "PATH": str(tmp_path / "bin")}
    names = ("cloud", "docker-cloud", "asleep", "extra", "tool", "docker-inpath", "nowhere", "odd\0name")
    assert find_programs(names, environment) == {
        "cloud": True,
        "docker-cloud": True,
        "asleep": False,
        "extra": True,
        "tool": True,
        "docker-inpath": False,
        "nowhere": False,
        "odd\0name": False,
    }


def test_a_broken_configuration_names_no_folder(tmp_path: Path) -> None:
    put(tmp_path / ".docker" / "cli-plugins", "docker-cloud")
    for content in ("{", "[]", '{"cliPluginsExtraDirs": 5}'):
        (tmp_path / ".docker" / "config.json").write_text(content)
        assert find_programs(["cloud"], {"HOME": str(tmp_path), "PATH": ""}) == {"cloud": True}
