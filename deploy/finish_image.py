"""Finishes an installation with the Python that will run it: `python3 finish_image.py FOLDER`, while an image is built.

The console script gets this interpreter's path, since it was installed by another one. Then every module of
bcon_exporter is imported, so that bytecode lies ready (in PYTHONPYCACHEPREFIX) for what is used and for nothing else:
the image's root is read-only, and without bytecode each health check would compile half the standard library anew.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

NOT_IN_THE_IMAGE = {"mcp", "mcp_types"}


def finish(folder: Path) -> None:
    """Set the console script's first line and import everything once."""
    script = folder / "bin" / "bcon-exporter"
    lines = script.read_text().splitlines(keepends=True)
    script.write_text("".join([f"#!{sys.executable}\n", *lines[1:]]))
    package = importlib.import_module("bcon_exporter")
    for module in pkgutil.walk_packages(package.__path__, "bcon_exporter."):
        if not module.name.endswith(".__main__"):
            _import_unless_extra(module.name)


def _import_unless_extra(name: str) -> None:
    """Import a module, but for one that needs an extra which the image does not have."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in NOT_IN_THE_IMAGE:
            raise


if __name__ == "__main__":
    finish(Path(sys.argv[1]))
