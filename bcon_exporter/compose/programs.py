"""Looks whether programs are there that Compose calls on its own machine: plug-ins of Docker, and those in PATH."""

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bcon_exporter.compose.binary import PLUGIN_DIRECTORIES
from bcon_exporter.regular_files import UnreadableFileError, read_regular_file

PLUGIN = "docker-"


def find_programs(names: Iterable[str], environment: Mapping[str, str]) -> dict[str, bool]:
    """Return whether each program is there for a user with these variables.

    A name that begins with "docker-" is looked for among the plug-ins only, another one there and in PATH.
    """
    folders = tuple(_plugin_folders(environment))
    return {name: _is_there(name, folders, environment) for name in names}


def _is_there(name: str, folders: Iterable[str], environment: Mapping[str, str]) -> bool:
    plugin = name if name.startswith(PLUGIN) else PLUGIN + name
    if shutil.which(plugin, path=os.pathsep.join(folders)) is not None:
        return True
    return plugin != name and shutil.which(name, path=environment.get("PATH", "")) is not None


def _plugin_folders(environment: Mapping[str, str]) -> Iterator[str]:
    settings = environment.get("DOCKER_CONFIG") or os.path.join(environment.get("HOME", ""), ".docker")  # noqa: PTH118
    yield from _more_folders(settings)
    yield os.path.join(settings, "cli-plugins")  # noqa: PTH118 -- a hostile name makes pathlib raise
    yield from PLUGIN_DIRECTORIES


def _more_folders(settings: str) -> Iterator[str]:
    try:
        content = json.loads(read_regular_file(Path(settings) / "config.json"))
    except (UnreadableFileError, ValueError, RecursionError):
        return
    folders = content.get("cliPluginsExtraDirs") if isinstance(content, dict) else None
    yield from (folder for folder in folders if isinstance(folder, str)) if isinstance(folders, list) else ()
