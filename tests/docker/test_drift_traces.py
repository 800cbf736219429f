"""Promise: a drift run connects to nothing but the engine and writes no file, as the kernel saw it (strace)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

CALLS = (
    *(
        "execve",
        "connect",
        "sendto",
        "open",
        "openat",
        "openat2",
        "creat",
        "mkdir",
        "mkdirat",
        "mknod",
        "mknodat",
        "truncate",
    ),
    *("ftruncate", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "link", "linkat", "symlink"),
    *("symlinkat", "chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat", "utimensat", "setxattr"),
)
OPENS = re.compile(r"\b(?:open|openat|openat2)\((?:AT_FDCWD, )?\"([^\"]*)\", (\S+)")
DAEMON = 'sa_family=AF_INET, sin_port=htons(19877), sin_addr=inet_addr("127.0.0.1")'
CONNECTS = re.compile(r"\bconnect\(\d+, \{(.*?)\}")
CHANGES = re.compile(
    r"\b(creat|mk\w+|f?truncate|rename\w*|unlink\w*|rmdir|link\w*|symlink\w*|\w*ch(?:mod|own)\w*|utim\w+|setxattr)\("
)
WRITING = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND")


def test_a_drift_run_connects_to_the_engine_alone_and_writes_no_file(engine: TestEngine, tmp_path: Path) -> None:
    strace = shutil.which("strace")
    if strace is None:
        required = os.environ.get("CI") == "true" or os.environ.get("TEST_ENGINE") == "required"
        (pytest.fail if required else pytest.skip)("strace is not installed (apt-get install strace)")
    home = tmp_path / "home"
    home.mkdir()
    (home / "app.env").write_text("B=2\n")
    (home / "key").write_text("k\n")
    (home / "compose.yaml").write_text(
        f"services:\n  web:\n    image: {engine.image}\n    env_file: app.env\n    environment: {{A: '${{A:-1}}'}}\n"
        "    secrets: [key]\n    volumes: ['./data:/data', 'kept:/kept']\n    command: sleep 1000\n"
        f"  side:\n    image: {engine.image}\n    command: sleep 1000\n    network_mode: service:web\n"
        "    volumes_from: [web]\n"
        "secrets: {key: {file: ./key}}\nvolumes: {kept: {}}\n"
    )
    engine.compose("up", "-d", cwd=home)
    (home / "app.env").write_text("B=3\n")
    before = sorted(path.name for path in home.rglob("*"))
    trace = tmp_path / "trace"
    command = [strace, "-f", "--seccomp-bpf", "-qq", "-s", "512", "-e", f"trace={','.join(CALLS)}", "-o", str(trace)]
    drift = [sys.executable, "-m", "bcon_exporter", "drift", "compose.yaml", "--docker.host", engine.host]
    drift += ["--state.path", str(tmp_path / "no-daemon.db")]
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run([*command, *drift], cwd=home, env=environ, capture_output=True, timeout=120, check=False)
    assert b"environment.B" in done.stdout, done.stderr.decode()

    calls = trace.read_text(errors="replace")
    connected = {target for target in CONNECTS.findall(calls) if "sa_family=AF_UNIX" not in target}
    sockets = set(re.findall(r'sun_path="([^"]+)"', calls))
    opened = {path for path, flags in OPENS.findall(calls) if any(flag in flags for flag in WRITING)}
    assert re.search(r'execve\("\S*/docker-compose"', calls), "the binary has run under the trace too"
    assert calls.count('"config"') >= 3, "also asked with the ids of living containers"
    assert connected <= {DAEMON}, "a daemon of this machine is asked what it remembers, and nobody else"
    assert str(engine.socket) in sockets
    assert sockets <= {str(engine.socket), "/var/run/nscd/socket"}
    assert "/dev/null" in opened, "what is opened for writing is seen"
    assert opened <= {"/dev/null", "/dev/tty", "/proc/self/oom_score_adj"}, "which is no file: it says who dies first"
    assert sorted(set(CHANGES.findall(calls))) == []
    assert sorted(path.name for path in home.rglob("*")) == before
