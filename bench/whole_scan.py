"""CPU seconds of whole scans, from reading to report, one number a line.

Run as `python bench/whole_scan.py HOST SCANS`: the checkout that PYTHONPATH names is measured.
"""

import sys
import tempfile
import time

from bcon_exporter.app import build_context
from bcon_exporter.docker_host import DockerHost, raise_open_files_limit
from bcon_exporter.schedule.diagnose_job import DiagnoseJob
from bcon_exporter.settings import load_settings

PAUSE_SECONDS = 3.0
UNCOUNTED = 2


def main(host: str, scans: int) -> None:
    """Scan, the first ones uncounted: those read all logs and inspect all containers."""
    raise_open_files_limit()
    with tempfile.TemporaryDirectory() as folder:
        context = build_context(load_settings({"docker": {"host": host}, "state": {"path": f"{folder}/state.db"}}, {}))
        assert isinstance(context.host, DockerHost)
        context.host.start()
        job = DiagnoseJob()
        for number in range(-UNCOUNTED, scans):
            time.sleep(PAUSE_SECONDS)
            before = time.process_time()
            job.run(context)
            if number >= 0:
                print(time.process_time() - before, flush=True)
        context.host.close()
        context.history.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
