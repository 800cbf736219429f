"""CPU seconds of whole scans, from reading to report, one number a line.

Run as `python bench/whole_scan.py HOST SCANS`: the checkout that PYTHONPATH names is measured.
"""

import importlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import bcon_exporter
from bcon_exporter.app import build_context
from bcon_exporter.schedule.diagnose_job import DiagnoseJob
from bcon_exporter.settings import load_settings

PAUSE_SECONDS = 3.0
UNCOUNTED = 2
PACKAGE = Path(bcon_exporter.__path__[0])


def main(host: str, scans: int) -> None:
    """Scan, the first ones uncounted: those read all logs and inspect all containers."""
    edge = "docker_host" if (PACKAGE / "docker_host").is_dir() else "engine"  # as 0.1.0 called it
    importlib.import_module(f"bcon_exporter.{edge}").raise_open_files_limit()
    with tempfile.TemporaryDirectory() as folder:
        given = {"docker": {"host": host}, "state": {"path": f"{folder}/state.db"}}
        context: Any = build_context(load_settings(given, {}))
        context.host.start()
        job = DiagnoseJob()
        for number in range(-UNCOUNTED, scans):
            time.sleep(PAUSE_SECONDS)
            before = time.process_time()
            job.run(context)
            if number >= 0:
                print(time.process_time() - before, flush=True)
        context.host.close()
        (context.history if edge == "docker_host" else context.memory).close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
