"""Runs jobs in daemon threads: one that hangs must not keep the process from exiting."""

import sys
import threading
from typing import Any

from apscheduler.executors.base import BaseExecutor, run_job


class DaemonThreads(BaseExecutor):  # type: ignore[misc]  # APScheduler has no types
    """One fresh daemon thread a run.

    APScheduler's own pool uses `concurrent.futures`, whose threads the interpreter joins at exit: a scan that hung
    held the exit for as long as it hung.
    """

    def _do_submit_job(self, job: Any, run_times: list[Any]) -> None:
        threading.Thread(target=self._run, args=(job, run_times), name=f"scan-{job.id}", daemon=True).start()

    def _run(self, job: Any, run_times: list[Any]) -> None:
        try:
            events = run_job(job, job._jobstore_alias, run_times, self._logger.name)  # noqa: SLF001 -- the executor's contract
        except BaseException:  # noqa: BLE001 -- the job boundary: the slot must be given back whatever happens
            self._run_job_error(job.id, *sys.exc_info()[1:])
        else:
            self._run_job_success(job.id, events)
