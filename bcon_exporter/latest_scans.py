"""The latest reports and how the scans are doing, swapped whole: a reader never sees half a scan."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Literal

from bcon_exporter.errors import BconError
from bcon_exporter.memory import DiskMemory
from bcon_exporter.model.alerts import AlertsReport
from bcon_exporter.model.base import UtcDatetime
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.incidents import FirstLook
from bcon_exporter.model.quiet import Muting
from bcon_exporter.model.reports import DiagnoseAllReport, DriftReport
from bcon_exporter.model.thresholds import Thresholds

ScanName = Literal["diagnose", "drift"]
SCAN_NAMES: tuple[ScanName, ...] = ("diagnose", "drift")


@dataclass(frozen=True, slots=True)
class DiagnoseScan:
    """One finished diagnosis of the host, with the snapshot that it judged.

    Attributes:
        finished_monotonic: The same moment on the clock that never steps; ages are counted on it.
        log_events: Container id → level → events read from its log since the exporter started.
        muting: Who was quiet when it ended.
        disk: What was known then of who fills the disk.
        explained_since: Container id → since when another one explains its trouble, of those that are explained.
    """

    snapshot: HostSnapshot
    report: DiagnoseAllReport
    thresholds: Thresholds
    finished_at: UtcDatetime
    finished_monotonic: float
    duration_seconds: float
    log_events: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    muting: Muting = field(default_factory=Muting)
    disk: DiskMemory = field(default_factory=DiskMemory)
    explained_since: Mapping[str, UtcDatetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DriftScan:
    """One finished comparison of all projects with their Compose files.

    Attributes:
        untracked: Names of running containers that no known Compose file defines.
        finished_monotonic: See `DiagnoseScan`.
        incomplete: Number of containers of which not all facts could be read.
    """

    reports: tuple[DriftReport, ...]
    untracked: tuple[str, ...]
    finished_at: UtcDatetime
    finished_monotonic: float
    duration_seconds: float
    incomplete: int = 0


@dataclass(frozen=True, slots=True)
class AlertRound:
    """The alerts as they were last judged; `finished_monotonic`: see `DiagnoseScan`."""

    report: AlertsReport
    finished_monotonic: float


@dataclass(frozen=True, slots=True)
class ScanStatus:
    """How one of the two scans is doing.

    Attributes:
        success: Of the last finished run; None before the first.
        last_run_at, last_success_at: When the last run and the last good run ended.
        last_success_monotonic: The same on the clock that never steps.
        incomplete: Containers of the last run of which not all facts could be read.
        missed: Runs that did not start because the run before was not over, or the scheduler was late.
        error: Why the last run failed; its message is the hint on `/-/ready`.
    """

    success: bool | None = None
    last_duration_seconds: float | None = None
    last_run_at: UtcDatetime | None = None
    last_success_at: UtcDatetime | None = None
    last_success_monotonic: float | None = None
    incomplete: int = 0
    total: int = 0
    failures: int = 0
    missed: int = 0
    error: BconError | None = None

    def succeeded(self, at: UtcDatetime, monotonic: float, seconds: float, incomplete: int) -> "ScanStatus":
        """Return the status after one more good run."""
        return replace(
            self,
            success=True,
            last_duration_seconds=seconds,
            last_run_at=at,
            last_success_at=at,
            last_success_monotonic=monotonic,
            incomplete=incomplete,
            total=self.total + 1,
            error=None,
        )

    def failed(self, at: UtcDatetime, seconds: float, error: BconError) -> "ScanStatus":
        """Return the status after one more failed run; the last success stays as it was."""
        return replace(
            self,
            success=False,
            last_duration_seconds=seconds,
            last_run_at=at,
            total=self.total + 1,
            failures=self.failures + 1,
            error=error,
        )


class LatestScans:
    """Holds the last good scan of each kind and both statuses. Reads are single references, without a lock."""

    def __init__(self) -> None:
        self._writing = Lock()
        self._diagnosis: DiagnoseScan | None = None
        self._drift: DriftScan | None = None
        self._alerts: AlertRound | None = None
        self._first_look: FirstLook | None = None
        self._statuses: dict[ScanName, ScanStatus] = {name: ScanStatus() for name in SCAN_NAMES}
        self._rule_errors: dict[str, int] = {}

    @property
    def diagnosis(self) -> DiagnoseScan | None:
        """The last good diagnosis; None before the first."""
        return self._diagnosis

    @property
    def drift(self) -> DriftScan | None:
        """The last good drift scan; None before the first."""
        return self._drift

    @property
    def alerts(self) -> AlertRound | None:
        """The alerts of the last round; None before the first."""
        return self._alerts

    @property
    def first_look(self) -> FirstLook | None:
        """When this process looked first; None where an earlier one has watched."""
        return self._first_look

    def note_first_look(self, at: UtcDatetime, took_seconds: float, *, is_whole: bool) -> None:
        """Note that nothing is known from before this diagnosis, or that it goes on with what the one before left."""
        files_at = self._drift.finished_at if self._drift is not None else None
        diagnoses = self._first_look.diagnoses + 1 if self._first_look is not None else 1
        self._first_look = FirstLook(
            at=at, took_seconds=took_seconds, diagnoses=diagnoses, is_whole=is_whole, files_at=files_at
        )

    def publish_alerts(self, alerts: AlertRound) -> None:
        """Replace the alerts."""
        self._alerts = alerts

    def publish_diagnosis(self, scan: DiagnoseScan) -> None:
        """Replace the diagnosis and record the good run."""
        with self._writing:
            self._diagnosis = scan
            look = self._first_look
            if look is not None and look.files_at is not None and look.at < scan.report.timestamp >= look.files_at:
                self._first_look = look.model_copy(update={"is_over": True})
            status = self._statuses["diagnose"].succeeded(
                scan.finished_at, scan.finished_monotonic, scan.duration_seconds, len(scan.report.incomplete)
            )
            self._replace_status("diagnose", status)

    def publish_drift(self, scan: DriftScan) -> None:
        """Replace the drift reports and record the good run."""
        with self._writing:
            self._drift = scan
            look = self._first_look
            if look is not None and look.files_at is None:
                self._first_look = look.model_copy(update={"files_at": scan.finished_at})
            status = self._statuses["drift"].succeeded(
                scan.finished_at, scan.finished_monotonic, scan.duration_seconds, scan.incomplete
            )
            self._replace_status("drift", status)

    def record_failure(self, name: ScanName, at: UtcDatetime, seconds: float, error: BconError) -> None:
        """Record a failed run and its error; the last good scan stays."""
        with self._writing:
            self._replace_status(name, self._statuses[name].failed(at, seconds, error))

    def record_missed(self, name: ScanName, runs: int) -> None:
        """Count runs that did not start in their turn."""
        if runs > 0:
            with self._writing:
                status = self._statuses[name]
                self._replace_status(name, replace(status, missed=status.missed + runs))

    def status(self, name: ScanName) -> ScanStatus:
        """Return how one scan is doing."""
        return self._statuses[name]

    @property
    def statuses(self) -> dict[ScanName, ScanStatus]:
        """Both statuses of one moment; never changed after it was handed out."""
        return self._statuses

    def age_seconds(self, name: ScanName, monotonic_now: float) -> float | None:
        """Return how long ago the last good scan ended; None before the first."""
        ended = self._statuses[name].last_success_monotonic
        return None if ended is None else max(0.0, monotonic_now - ended)

    def count_rule_errors(self, rules: Iterable[str]) -> frozenset[str]:
        """Count rules that raised; return those that had not before."""
        with self._writing:
            before = self._rule_errors
            counted = Counter(before)
            counted.update(rules)
            self._rule_errors = dict(counted)
        return frozenset(counted.keys() - before.keys())

    @property
    def rule_errors(self) -> dict[str, int]:
        """Raising rules so far by name; never changed after it was handed out."""
        return self._rule_errors

    def _replace_status(self, name: ScanName, status: ScanStatus) -> None:
        self._statuses = {**self._statuses, name: status}
