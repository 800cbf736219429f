"""The daemon's own verdict on each deployment it sees, a minute after it went quiet."""

import threading
from collections.abc import Callable

from bcon_exporter.tools import Context
from bcon_exporter.tools.watch_deployment import judge_deployment


class DeploymentJudge:
    """Judges in a thread of its own, one deployment after the other: each reads the host, and no scan waits for that.

    Args:
        context: Returns the daemon's.
    """

    def __init__(self, context: Callable[[], Context]) -> None:
        self._context = context
        self._judging = threading.Lock()

    def look(self) -> None:
        """Judge what the last diagnosis shows to be due; what comes while some are judged is for the next look."""
        if not self._judging.acquire(blocking=False):
            return
        try:
            threading.Thread(target=self._judge_due, name="deployments", daemon=True).start()
        except RuntimeError:  # no thread is left to this process: the next scan tries again
            self._judging.release()

    def _judge_due(self) -> None:
        try:
            context = self._context()
            scan = context.scans.diagnosis
            with context.errors.contained("looking for deployments to judge"):
                for project in context.memory.find_due_deployments(scan.snapshot) if scan is not None else ():
                    with context.errors.contained(f"judging the deployment of {project}"):
                        context.memory.keep_deployment(judge_deployment(context, project).record)
        finally:
            self._judging.release()
