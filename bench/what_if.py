"""What `modify_config` costs where a project is large: an edit of one service, beside Compose's own time.

    python -m bench.what_if [SERVICES] [--profile]

No engine is needed: the containers are made up, the Compose binary is real.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from bcon_exporter.compose import ComposeOptions, ComposeReader, find_binary
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.model.container_facts import ConfigFacts
from bcon_exporter.secrets.masking import Sealer
from bcon_exporter.tools import Context, call_tool
from tests.factories import compose, container, snapshot
from tests.tools.hosts import context_of

SERVICE = """\
  s{number}:
    image: app:1
    restart: unless-stopped
    environment: {{NUMBER: "{number}", TOKEN: canary-{number}-x7Kq}}
    ports: ["127.0.0.1:{port}:80"]
    volumes: ["data:/data", "./conf:/conf:ro"]
    mem_limit: 64m
"""


def stage(folder: Path, services: int) -> tuple[Context, Path]:
    """A context over a host on which a project of this size runs, and its file."""
    file = folder / "compose.yaml"
    text = "".join(SERVICE.format(number=number, port=20000 + number) for number in range(services))
    file.write_text(f"services:\n{text}volumes: {{data: {{}}}}\n")
    (folder / "conf").mkdir()
    config = ConfigFacts(fields={}, image_fields={})
    facts = snapshot(
        *(
            container(
                name=f"shop-s{number}-1",
                image="app:1",
                config=config,
                compose=compose(
                    f"s{number}", config_files=(str(file),), working_dir=str(folder), config_hash=f"h{number}"
                ),
            )
            for number in range(services)
        ),
        networks=(),
        volumes=(),
    )
    environ = {"PATH": os.environ["PATH"]}
    options = ComposeOptions(
        binary=find_binary(os.environ["PATH"]), environ=environ, roots=(folder,), wait_seconds=300, timeout_seconds=120
    )
    book = HostSecrets()
    reader = ComposeReader(options, Sealer(b"k" * 32), book)
    return replace(context_of(facts), compose=reader, secrets=book), file


def main(services: int, *, profiled: bool) -> None:
    """Ask twice, the second time with what is known by then, and print the seconds."""
    with tempfile.TemporaryDirectory(prefix="bcon-bench-") as name:
        context, file = stage(Path(name), services)
        binary = find_binary(os.environ["PATH"])
        assert binary is not None
        began = time.monotonic()
        subprocess.run([*binary, "config", "--format", "json"], cwd=name, capture_output=True, check=True)
        print(f"docker compose config: {time.monotonic() - began:.2f} s")
        change = {"line": 8, "old": "64m", "new": "65m"}
        for attempt in ("first", "again"):
            profile = cProfile.Profile()
            began, cpu = time.monotonic(), time.process_time()
            if profiled:
                profile.enable()
            answer = call_tool(context, "modify_config", {"path": str(file), "changes": [change]})
            profile.disable()
            seconds, own = time.monotonic() - began, time.process_time() - cpu
            said = answer.error.message if answer.error is not None else answer.data()["result"]["summary"][:80]
            print(f"{attempt}: {seconds:.2f} s, of which {own:.2f} s of our own CPU; {len(answer.body)} bytes: {said}")
            if profiled:
                pstats.Stats(profile).sort_stats("cumulative").print_stats(45)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    main(int(words[0]) if words else 1000, profiled="--profile" in sys.argv)
