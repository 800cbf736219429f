"""What a command costs before it has done anything: CPU time of whole processes on a host with one idle container.

    python -m bench.commands [ROUNDS]     # writes its table into docs/performance.md

Modules are compiled before, as an installed package has them. The interpreter alone stands beside, for the machine.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile

from bench.document import write_section
from tests.docker.conftest import make_engine

COMMANDS: dict[str, tuple[str, ...]] = {
    "python -c pass": ("-c", "pass"),
    "version": ("-m", "bcon_exporter", "version"),
    "--help": ("-m", "bcon_exporter", "--help"),
    "diagnose": ("-m", "bcon_exporter", "diagnose"),
}


def measure(words: tuple[str, ...], environ: dict[str, str]) -> float:
    """CPU seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], env=environ, capture_output=True, check=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(rounds: int = 9) -> None:
    """Measure all of them in turn, the first round uncounted, and print and write the medians."""
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    engine = make_engine()
    try:
        engine.docker("run", "-d", "--name", "idle", engine.image, "sleep", "1000")
        with tempfile.TemporaryDirectory() as folder:
            environ = {name: value for name, value in os.environ.items() if not name.startswith(("BCON_", "PYTHON"))}
            environ |= {
                "DOCKER_HOST": engine.host,
                "XDG_STATE_HOME": folder,
                "PYTHONPYCACHEPREFIX": f"{folder}/compiled",
            }
            for number in range(rounds + 1):
                for name, words in COMMANDS.items():
                    spent = measure(words, environ)
                    if number:
                        seconds[name].append(spent)
    finally:
        engine.destroy()
    lines = [
        f"`python -m bench.commands` on {os.cpu_count()} cores, one idle container: medians of {rounds} runs.",
        "",
        "| command | CPU s |",
        "|---|--:|",
        *(f"| `{name}` | {statistics.median(spent):.2f} |" for name, spent in seconds.items()),
    ]
    text = "\n".join(lines)
    print(text)
    write_section("commands", text)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
