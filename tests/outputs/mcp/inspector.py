"""Holds the server to the protocol's own inspector, which is strict about what clients refuse, on both transports.

    python -m tests.outputs.mcp.inspector     # `make inspector`; npm fetches 300 MB at the first time

It ends with a code other than 0 where a schema is one that clients refuse, so `--strict` is what matters.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bcon_exporter.tools.replay import write_snapshot
from tests.docker.daemon import Daemon
from tests.factories import container, snapshot

FOLDER = Path(".state/inspector").resolve()
PACKAGES = ("node@22", "@modelcontextprotocol/inspector@2.12.0")
METHODS = ("tools/list", "resources/list", "prompts/list")
TOOLSETS = "core,ops"


def fetch() -> tuple[Path, Path]:
    """Return node and the inspector, installed where they are not here yet."""
    node, inspector = FOLDER / "node_modules/node/bin/node", FOLDER / "node_modules/.bin/mcp-inspector"
    if not (node.exists() and inspector.exists()):
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / "package.json").write_text("{}\n")
        words = ["npm", "install", "--silent", "--no-audit", "--no-fund", *PACKAGES]
        subprocess.run(words, cwd=FOLDER, check=True)
    return node, inspector


def inspect(words: list[str], method: str) -> int:
    """Ask a server for one list, strictly; return how many there are in it.

    Raises:
        CalledProcessError: The inspector refuses something.
    """
    node, inspector = fetch()
    strict = ["--strict"] if method == "tools/list" else []
    command = [str(node), str(inspector), "--cli", *words, "--method", method, *strict]
    path = f"{node.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "PATH": path}
    )
    if done.returncode != 0:
        sys.stderr.write(done.stdout + done.stderr)
        done.check_returncode()
    return len(json.loads(done.stdout)[method.partition("/")[0]])


def main() -> None:
    """Inspect both transports and say what was found."""
    with tempfile.TemporaryDirectory(prefix="bcon-inspector-") as folder:
        file = Path(folder) / "host.json"
        write_snapshot(file, snapshot(container(name="web")))
        stdio = [
            sys.executable,
            "-m",
            "bcon_exporter",
            "mcp",
            "--from-snapshot",
            str(file),
            f"--mcp.toolsets={TOOLSETS}",
        ]
        for method in METHODS:
            _say("stdio", method, inspect(stdio, method))
        flags = ("--mcp.enable", f"--mcp.toolsets={TOOLSETS}")
        with Daemon(Path(folder), f"unix://{folder}/absent.sock", *flags) as daemon:
            http = [f"http://127.0.0.1:{daemon.port}/mcp", "--transport", "http"]
            for method in METHODS:
                _say("http", method, inspect(http, method))


def _say(transport: str, method: str, count: int) -> None:
    sys.stdout.write(f"{transport:<6}{method:<16}{count:>3} and nothing to complain of\n")


if __name__ == "__main__":
    main()
