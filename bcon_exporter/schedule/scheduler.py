"""Runs the two scans on time, one of each at once, and says when it no longer does."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Protocol

from apscheduler.events import EVENT_JOB_MAX_INSTANCES, EVENT_JOB_SUBMITTED, JobSubmissionEvent
from apscheduler.schedulers.background import BackgroundScheduler

from bcon_exporter import clock
from bcon_exporter.errors import BconError, InternalError
from bcon_exporter.latest_scans import SCAN_NAMES, ScanName
from bcon_exporter.schedule.daemon_threads import DaemonThreads
from bcon_exporter.schedule.diagnose_job import DiagnoseJob
from bcon_exporter.schedule.drift_job import DriftJob, is_same_drift
from bcon_exporter.schedule.drift_watch import DriftWatch
from bcon_exporter.schedule.timing import NextSlot, count_missed, watch_clock
from bcon_exporter.secrets.hide_in_models import hide_in_error
from bcon_exporter.tools import Context

_log = logging.getLogger(__name__)
logging.getLogger("apscheduler").setLevel(logging.ERROR)  # its word on late and skipped runs is our counter

DEAD_AFTER_INTERVALS = 3
HUNG_AFTER_SECONDS = 30.0
"""A scan is not taken for hanging before: with an interval of a second, three of them may pass on a busy machine."""
_WATCH = "watch-for-drift"
_WATCH_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Intervals:
    """How often each scan runs."""

    diagnose_seconds: float = 30.0
    drift_seconds: float = 60.0

    def of(self, name: ScanName) -> float:
        """Return the interval of one scan in seconds."""
        return self.diagnose_seconds if name == "diagnose" else self.drift_seconds


class Job(Protocol):
    """One kind of scan."""

    def run(self, context: Context) -> None:
        """Scan once and publish it."""


class Scheduler:
    """The diagnosis at once and then at its interval; drift right after the first diagnosis and then at its own.

    Args:
        context: What the scans work with; replaced on reload.
        on_finished: Called in the scan's thread after each run, good or failed, with the latest scans up to date.
        jobs: The scans by name; tests bring their own.
        on_turn: Called in the scheduler's own thread at each of its turns, which come every second.
    """

    def __init__(
        self,
        context: Context,
        intervals: Intervals,
        on_finished: Callable[[ScanName], None],
        jobs: dict[ScanName, Job] | None = None,
        on_turn: Callable[[], None] = lambda: None,
    ) -> None:
        self._context = context
        self._intervals = intervals
        self._on_finished = on_finished
        self._jobs = jobs or {"diagnose": DiagnoseJob(), "drift": DriftJob()}
        self._on_turn = on_turn
        self._thread: threading.Thread | None = None
        self._due_at = {name: context.monotonic() for name in SCAN_NAMES}
        self._running_since: dict[ScanName, float | None] = dict.fromkeys(SCAN_NAMES)
        self._first_diagnosis_done = False
        self._asked: dict[ScanName, threading.Event] = {}
        self._asking = threading.Lock()
        self._drift_watch = DriftWatch()
        self._apscheduler = BackgroundScheduler(
            timezone=UTC,
            executors={"default": DaemonThreads()},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )
        self._apscheduler.add_listener(self._on_due, EVENT_JOB_SUBMITTED | EVENT_JOB_MAX_INSTANCES)
        self._stopped = threading.Event()

    def start(self) -> None:
        """Start both scans, the first diagnosis at once."""
        self._due_at = {name: self._context.monotonic() for name in SCAN_NAMES}
        drift_seconds = self._intervals.drift_seconds
        self._add("diagnose", self._run, NextSlot(self._intervals.diagnose_seconds), "diagnose")
        self._add("drift", self._run, NextSlot(drift_seconds, first_delay_seconds=drift_seconds), "drift")
        self._add(_WATCH, self._watch_for_drift, NextSlot(_WATCH_SECONDS))
        self._apscheduler.start()
        arguments = (self._apscheduler, self._stopped)
        threading.Thread(target=watch_clock, args=arguments, name="watch-clock", daemon=True).start()

    def _add(self, job_id: str, run: Callable[..., None], trigger: NextSlot, *arguments: str) -> None:
        self._apscheduler.add_job(run, trigger, args=arguments, id=job_id)

    def stop(self) -> None:
        """Start no further scan; a running one is left alone, its thread does not hold the process."""
        self._stopped.set()
        if self._apscheduler.running:
            self._apscheduler.shutdown(wait=False)

    def reload(self, context: Context, intervals: Intervals) -> None:
        """Use another context from the next run on, and other intervals from now on."""
        changed = [name for name in SCAN_NAMES if intervals.of(name) != self._intervals.of(name)]
        self._context, self._intervals = context, intervals
        for name in changed:
            self._due_at[name] = context.monotonic()
            self._apscheduler.reschedule_job(name, trigger=NextSlot(intervals.of(name)))

    def run_soon(self, name: ScanName) -> threading.Event:
        """Have a scan begin now, or as soon as the one that runs has ended; the event is set once it has ended itself.

        All who ask before it begins share it.
        """
        with self._asking:
            ended = self._asked.setdefault(name, threading.Event())
            is_running = self._running_since[name] is not None
        if not is_running:
            self._start_now(name)
        return ended

    @property
    def intervals(self) -> Intervals:
        """The intervals in force."""
        return self._intervals

    def find_hang(self) -> str | None:
        """Return which scan hangs or is no longer started, in one sentence; None when all is well.

        A hung engine is none: each scan ends at its deadline, failed or partial.
        """
        now = self._context.monotonic()
        for name, since in self._running_since.items():
            if since is not None and now - since > max(self._patience(name), HUNG_AFTER_SECONDS):
                return f"the {name} scan hangs: it has run for {now - since:.0f} s; restart bcon-exporter"
        is_dead = self._thread is not None and not self._thread.is_alive()
        for name, due_at in self._due_at.items():
            if now - due_at > max(self._patience(name), 0.0 if is_dead else HUNG_AFTER_SECONDS):
                return f"the {name} scan has not been started for {now - due_at:.0f} s; restart bcon-exporter"
        return None

    def _patience(self, name: ScanName) -> float:
        return DEAD_AFTER_INTERVALS * self._intervals.of(name)

    def _on_due(self, event: JobSubmissionEvent) -> None:
        """Count the turns that a scan has missed; called in the scheduler's own thread."""
        self._thread = threading.current_thread()
        self._on_turn()
        if event.job_id == _WATCH:
            return
        name: ScanName = event.job_id
        was_refused = event.code == EVENT_JOB_MAX_INSTANCES
        if was_refused and self._running_since[name] is None:  # the scan before is over, its thread not quite
            self._start_now(name)
            return
        now = self._context.monotonic()
        missed = count_missed(now - self._due_at[name], self._intervals.of(name))
        self._due_at[name] = now
        self._context.scans.record_missed(name, missed + was_refused)

    def _run(self, name: ScanName) -> None:
        """Run a scan in its turn, and another one for those who have asked for it meanwhile."""
        again = True
        while again:
            with self._asking:
                started = self._running_since[name] = self._context.monotonic()
                answered = self._asked.pop(name, None)
            self._run_once(name, started)
            with self._asking:
                again = name in self._asked and not self._stopped.is_set()
                if not again:
                    self._running_since[name] = None
            if answered is not None:
                answered.set()
            if name == "diagnose" and not self._first_diagnosis_done:
                self._first_diagnosis_done = True
                self._start_now("drift")

    def _run_once(self, name: ScanName, started: float) -> None:
        """Run one scan; nothing that goes wrong in it stops the next."""
        context = self._context
        changes, drift_before = context.host.changes(), context.scans.drift
        had_failed = context.scans.status(name).error is not None
        try:
            with context.memory.one_transaction():
                self._jobs[name].run(context)
            if had_failed:
                _log.info("the %s scan works again", name)
        except BconError as error:
            self._record_failure(context, name, started, error)
        except BaseException:  # noqa: BLE001 -- the job boundary, in a thread of its own: also SystemExit ends this run only
            _log.exception("the %s scan failed because of a defect", name)
            defect = InternalError("the scan failed because of a defect; see the log")
            self._record_failure(context, name, started, defect)
        if name == "drift":
            ended = context.monotonic()
            is_news = not is_same_drift(drift_before, context.scans.drift)
            self._drift_watch.note_look(changes, ended, ended - started, self._intervals.drift_seconds, found=is_news)
        with context.errors.contained(f"publishing the {name} scan"):
            self._on_finished(name)

    def _record_failure(self, context: Context, name: ScanName, started: float, error: BconError) -> None:
        error = hide_in_error(error, context.secrets.hide)
        last_error = context.scans.status(name).error
        is_repeated = last_error is not None and last_error.message == error.message
        _log.log(logging.DEBUG if is_repeated else logging.WARNING, "the %s scan failed: %s", name, error.message)
        context.errors.add(error.code)
        context.scans.record_failure(name, context.now(), context.monotonic() - started, error)

    def _watch_for_drift(self) -> None:
        """Start the drift scan before its time when something has happened that it would see."""
        context = self._context
        if self._running_since["drift"] is not None or context.scans.drift is None:
            return
        files_changed = context.compose.files_changed()
        if self._drift_watch.is_due(context.host.changes(), context.monotonic(), files_changed=files_changed):
            self._start_now("drift")

    def _start_now(self, name: ScanName) -> None:
        job: Any = self._apscheduler.get_job(name)
        if job is not None and self._apscheduler.running:
            job.modify(next_run_time=clock.scheduler_now())
