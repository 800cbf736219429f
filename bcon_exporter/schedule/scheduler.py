"""Runs the two scans on time, one of each at once, and says when it no longer does."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from apscheduler.events import EVENT_JOB_MAX_INSTANCES, EVENT_JOB_SUBMITTED, JobSubmissionEvent
from apscheduler.schedulers.background import BackgroundScheduler

from bcon_exporter.errors import BconError, InternalError
from bcon_exporter.model.hiding import hide_in_error
from bcon_exporter.schedule.daemon_threads import DaemonThreads
from bcon_exporter.schedule.diagnose_job import DiagnoseJob
from bcon_exporter.schedule.drift_job import DriftJob, is_same_drift
from bcon_exporter.schedule.ticking import Every, SteadyTime, count_missed
from bcon_exporter.schedule.watching import DriftWatch
from bcon_exporter.store import SCAN_NAMES, DriftScan, ScanName
from bcon_exporter.tools import Context

if TYPE_CHECKING:
    from datetime import datetime

_log = logging.getLogger(__name__)
logging.getLogger("apscheduler").setLevel(logging.ERROR)  # its word on late and skipped runs is our counter

DEAD_AFTER_INTERVALS = 3
HUNG_AFTER_SECONDS = 30.0
"""A scan is not taken for hanging before: with an interval of a second, three of them may pass on a busy machine."""
_LOOK_AROUND = "look-around"
_LOOK_AROUND_SECONDS = 1.0


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
        """Scan once and publish to the context's store."""


class Scheduler:
    """The diagnosis at once and then at its interval; drift right after the first diagnosis and then at its own.

    Args:
        context: What the scans work with; replaced on reload.
        on_finished: Called in the scan's thread after each run, good or failed, with the store up to date.
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
        self._time = SteadyTime(context.monotonic)
        self._on_turn = on_turn
        self._turning: threading.Thread | None = None
        self._ticked = {name: context.monotonic() for name in SCAN_NAMES}
        self._running_since: dict[str, float | None] = dict.fromkeys(SCAN_NAMES)
        self._due: dict[str, datetime | None] = dict.fromkeys(SCAN_NAMES)
        self._first_diagnosis_done = False
        self._watch = DriftWatch()
        self._looking = False
        self._apscheduler = BackgroundScheduler(
            timezone=self._time,
            executors={"default": DaemonThreads()},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )
        self._apscheduler.add_listener(self._on_due, EVENT_JOB_SUBMITTED | EVENT_JOB_MAX_INSTANCES)

    def start(self) -> None:
        """Start both scans, the first diagnosis at once."""
        for name in SCAN_NAMES:
            self._ticked[name] = self._context.monotonic()
            interval = self._intervals.of(name)
            delay = 0.0 if name == "diagnose" else interval
            self._apscheduler.add_job(self._run, Every(interval, delay), args=(name,), id=name, name=name)
        self._apscheduler.add_job(self._look_around, Every(_LOOK_AROUND_SECONDS, _LOOK_AROUND_SECONDS), id=_LOOK_AROUND)
        self._apscheduler.start()

    def stop(self) -> None:
        """Start no further scan; a running one is left alone, its thread does not hold the process."""
        if self._apscheduler.running:
            self._apscheduler.shutdown(wait=False)

    def reload(self, context: Context, intervals: Intervals) -> None:
        """Use another context from the next run on, and other intervals from now on."""
        changed = [name for name in SCAN_NAMES if intervals.of(name) != self._intervals.of(name)]
        self._context, self._intervals = context, intervals
        for name in changed:
            self._due[name] = None
            self._apscheduler.reschedule_job(name, trigger=Every(intervals.of(name)))

    @property
    def intervals(self) -> Intervals:
        """The intervals in force."""
        return self._intervals

    def find_hang(self) -> str | None:
        """Return which scan hangs or is no longer started, in one sentence; None when all is well.

        A hung engine is none: each scan ends at its deadline, failed or partial.
        """
        now = self._context.monotonic()
        for name in SCAN_NAMES:
            since = self._running_since[name]
            if since is not None and now - since > max(self._patience(name), HUNG_AFTER_SECONDS):
                return f"the {name} scan hangs: it has run for {now - since:.0f} s; restart bcon-exporter"
        is_dead = self._turning is not None and not self._turning.is_alive()
        for name in SCAN_NAMES:
            seconds = now - self._ticked[name]
            if seconds > max(self._patience(name), 0.0 if is_dead else HUNG_AFTER_SECONDS):
                return f"the {name} scan has not been started for {seconds:.0f} s; restart bcon-exporter"
        return None

    def _patience(self, name: ScanName) -> float:
        return DEAD_AFTER_INTERVALS * self._intervals.of(name)

    def _look_around(self) -> None:
        """Start the drift scan before its time when something has happened that it would see."""
        context = self._context
        if self._looking or context.store.drift is None:
            return
        files_changed = context.compose.files_changed()
        if self._watch.is_due(context.host.changes(), context.monotonic(), files_changed=files_changed):
            self._start_drift_now()

    def _on_due(self, event: JobSubmissionEvent) -> None:
        self._turning = threading.current_thread()
        self._on_turn()
        if event.job_id == _LOOK_AROUND:
            return
        name: ScanName = event.job_id
        due: datetime = event.scheduled_run_times[-1]
        missed = count_missed(self._due[name], due, self._intervals.of(name))
        if event.code == EVENT_JOB_MAX_INSTANCES:
            missed += 1
        self._due[name] = due
        self._ticked[name] = self._context.monotonic()
        self._context.store.record_missed(name, missed)

    def _run(self, name: ScanName) -> None:
        """Run one scan; nothing that goes wrong in it stops the next."""
        context = self._context
        started = context.monotonic()
        changes, before = context.host.changes(), context.store.drift
        failure = context.store.status(name).error
        self._looking = self._looking or name == "drift"
        self._running_since[name] = started
        try:
            self._jobs[name].run(context)
            if failure is not None:
                _log.info("the %s scan works again", name)
        except BconError as error:
            self._record(context, name, started, error)
        except BaseException:  # noqa: BLE001 -- the job boundary, in a thread of its own: also SystemExit ends this run only
            _log.exception("the %s scan failed because of a defect", name)
            self._record(context, name, started, InternalError("the scan failed because of a defect; see the log"))
        if name == "drift":
            self._note_look(context, changes, started, before)
        self._finish(context, name)

    def _note_look(self, context: Context, changes: int, started: float, before: DriftScan | None) -> None:
        self._looking = False
        now = context.monotonic()
        found = not is_same_drift(before, context.store.drift)
        self._watch.note_look(changes, now, now - started, self._intervals.drift_seconds, found=found)

    def _record(self, context: Context, name: ScanName, started: float, error: BconError) -> None:
        error = hide_in_error(error, context.secrets.hide)
        said = context.store.status(name).error
        level = logging.DEBUG if said is not None and said.message == error.message else logging.WARNING
        _log.log(level, "the %s scan failed: %s", name, error.message)
        context.errors.add(error.code)
        context.store.record_failure(name, context.now(), context.monotonic() - started, error)

    def _finish(self, context: Context, name: ScanName) -> None:
        try:
            self._on_finished(name)
        except Exception:  # noqa: BLE001 -- the job boundary: the faces keep what they had
            _log.exception("rendering after the %s scan failed because of a defect", name)
            context.errors.add(InternalError.code)
        self._running_since[name] = None
        if name == "diagnose" and not self._first_diagnosis_done:
            self._first_diagnosis_done = True
            self._start_drift_now()

    def _start_drift_now(self) -> None:
        job: Any = self._apscheduler.get_job("drift")
        if job is not None and self._apscheduler.running:
            self._due["drift"] = None
            job.modify(next_run_time=self._time.now())
