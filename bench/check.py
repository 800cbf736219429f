"""What `check` costs beyond Compose's own time: a project of 20 services on a private engine, judged while it runs.

    python -m bench.check [SERVICES]

Compose's own time is that of the same questions, asked one after another right afterwards.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.docker.engine import PrivateEngine
from tests.docker.image import IMAGE, build_image

ROUNDS = 7
SERVICE = """\
  s{number}:
    image: {image}
    command: [sleep, "3600"]
    init: true
    restart: unless-stopped
    environment: {{NUMBER: "{number}", TOKEN: canary-{number}-x7Kq}}
    ports: ["127.0.0.1:{port}:80"]
    volumes: ["data:/data", "./conf:/conf:ro"]
    mem_limit: 64m
    stop_grace_period: 1s
"""
ASKED = (
    ("version", "--short"),
    ("--profile", "*", "config", "--format", "json"),
    ("--profile", "*", "config", "--hash", "*"),
    ("config", "--environment"),
    ("config", "--variables", "--format", "json"),
)
"""What Compose is asked for one check."""


def measure(command: list[str], folder: Path, environ: dict[str, str]) -> tuple[float, float]:
    """Wall and CPU seconds of a process and its children."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=True, timeout=120)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(services: int = 20) -> None:
    """Bring the project up, change a field, check it some times and print the medians."""
    real = Path(sys.executable).parent / "docker-compose"
    engine = PrivateEngine().start()
    try:
        build_image(engine.host)
        with tempfile.TemporaryDirectory(prefix="bcon-bench-") as name:
            folder = Path(name)
            (folder / "conf").mkdir()
            text = "".join(SERVICE.format(number=n, image=IMAGE, port=28000 + n) for n in range(services))
            file = folder / "compose.yaml"
            file.write_text(f"services:\n{text}volumes: {{data: {{}}}}\n")
            engine.compose("up", "-d", "--pull", "never", cwd=folder)
            file.write_text(file.read_text().replace("64m", "65m"))
            environ = {
                "PATH": os.environ["PATH"],
                "HOME": name,
                "DOCKER_HOST": engine.host,
                "PYTHONPATH": str(Path.cwd()),
            }
            check = [sys.executable, "-m", "bcon_exporter", "check", "--state.path=none"]
            whole, compose = [], []
            for _ in range(ROUNDS):
                whole.append(measure(check, folder, environ))
                compose.append([measure([str(real), *words], folder, environ) for words in ASKED])
    finally:
        engine.destroy()
    for index, kind in enumerate(("wall", "CPU")):
        total = [one[index] for one in whole]
        own = [sum(call[index] for call in calls) for calls in compose]
        beyond = [one - other for one, other in zip(total, own, strict=True)]
        print(
            f"{kind}: check of {services} services {statistics.median(total):.2f} s, Compose's own "
            f"{statistics.median(own):.2f} s, beyond it {statistics.median(beyond):.2f} s (medians of {ROUNDS})"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
