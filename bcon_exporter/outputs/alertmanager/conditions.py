"""What is wrong with the exporter itself, or keeps it from seeing: told beside the incidents."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from bcon_exporter.alerting import AlertSeverity, Condition, Counters, find_growth
from bcon_exporter.incidents import is_outage_open
from bcon_exporter.latest_scans import SCAN_NAMES, ScanName, ScanStatus
from bcon_exporter.model.desired import ProjectProblem
from bcon_exporter.model.verify_report import DeploymentVerdict
from bcon_exporter.outputs.metrics import OwnState
from bcon_exporter.outputs.metrics.writing import plain_label
from bcon_exporter.tools import Context
from bcon_exporter.tools.quiet import find_quiet_now

STALE_AFTER_INTERVALS = 3
SLOW_SHARE = 0.8
MISSED_AT_MOST = 3
_MISSED_WITHIN = timedelta(minutes=30)
_STATE_ERRORS_WITHIN = timedelta(minutes=10)
_DEPLOYMENT_TOLD_FOR = timedelta(hours=1)
_STATE_ERRORS = "state_errors"


def count_troubles(context: Context, own: OwnState) -> Mapping[str, float]:
    """Return the counters that conditions look back on, by name."""
    missed = {f"missed/{name}": float(context.scans.status(name).missed) for name in SCAN_NAMES}
    return {**missed, _STATE_ERRORS: float(own.state_errors)}


def find_conditions(
    context: Context, own: OwnState, counters: Counters, series_dropped: int, here: str
) -> tuple[Condition, ...]:
    """Return what is wrong now.

    Args:
        context: For the engine, the scans and what is remembered.
        own: For settings and state file.
        counters: With those of now as the newest.
        series_dropped: Samples that /metrics leaves out.
        here: How texts name this host.
    """
    return tuple(_Finder(context, own, counters, here).find(series_dropped))


class _Finder:
    def __init__(self, context: Context, own: OwnState, counters: Counters, here: str) -> None:
        self._context, self._own, self._counters = context, own, counters
        self._here = here
        self._now, self._muting = context.now(), find_quiet_now(context)

    def find(self, series_dropped: int) -> Iterator[Condition]:
        yield self._make(
            "BconWatchdog",
            0,
            "Alerting works.",
            "Always fires. When it stops arriving, the way from bcon-exporter to you is broken.",
            severity=AlertSeverity.NONE,
        )
        is_away = not self._context.host.is_up()
        if not is_away:
            yield from self._find_partial_hangs()
        if not is_outage_open(self._context.memory.memory.incidents):
            yield from self._find_stale_scans()
        if not is_away:
            yield from self._find_troubled_scans()
        yield from self._find_own_troubles(series_dropped)
        yield from self._find_of_projects()

    def _make(
        self,
        name: str,
        wait_minutes: int,
        summary: str,
        description: str,
        labels: Mapping[str, str] | None = None,
        severity: AlertSeverity = AlertSeverity.WARNING,
    ) -> Condition:
        texts = {"summary": summary, "description": description, **self._own.addresses.annotate_runbook(name)}
        pairs = tuple(sorted((key, plain_label(value)) for key, value in (labels or {}).items()))
        return Condition(name, severity, timedelta(minutes=wait_minutes), texts, pairs)

    def _find_partial_hangs(self) -> Iterator[Condition]:
        for endpoint, is_up in self._context.host.endpoints_up().items():
            if not is_up:
                yield self._make(
                    "BconDockerEndpointDown",
                    5,
                    f"The engine's endpoint {endpoint} on {self._here} does not answer.",
                    "The engine answers otherwise: it hangs in part, and the facts that come from there are missing.",
                    {"endpoint": endpoint},
                )

    def _find_stale_scans(self) -> Iterator[Condition]:
        for name, status, interval in self._scans():
            if status.last_success_at is None:
                continue
            if self._now - status.last_success_at > STALE_AFTER_INTERVALS * interval:
                yield self._make(
                    "BconScanStale",
                    2,
                    f"The {name} scan on {self._here} is stale.",
                    "The last good scan is older than three intervals; its metrics are withheld, no incident can open.",
                    {"scan": name},
                )

    def _find_troubled_scans(self) -> Iterator[Condition]:
        for name, status, interval in self._scans():
            if (status.last_duration_seconds or 0.0) > SLOW_SHARE * interval.total_seconds():
                yield self._make(
                    "BconScanSlow",
                    15,
                    f"The {name} scan on {self._here} takes almost its whole interval.",
                    "Scans have taken more than 80 % of their interval for 15 minutes: soon some will be missed.",
                    {"scan": name},
                )
            if find_growth(self._counters, f"missed/{name}", _MISSED_WITHIN) > MISSED_AT_MOST:
                yield self._make(
                    "BconScanMissed",
                    0,
                    f"The {name} scan on {self._here} misses its turn.",
                    "More than three scans within 30 minutes could not start, since the one before was not over.",
                    {"scan": name},
                )

    def _scans(self) -> Iterator[tuple[ScanName, ScanStatus, timedelta]]:
        for name in SCAN_NAMES:
            interval = timedelta(seconds=self._own.interval_seconds(name))
            yield name, self._context.scans.status(name), interval

    def _find_own_troubles(self, series_dropped: int) -> Iterator[Condition]:
        if not self._own.is_reload_successful:
            yield self._make(
                "BconConfigReloadFailed",
                5,
                f"bcon-exporter on {self._here} could not reload its settings.",
                "The settings in force are the old ones: the next start would fail. The log names the line.",
            )
        if series_dropped > 0:
            yield self._make(
                "BconSeriesDropped",
                5,
                f"bcon-exporter on {self._here} leaves series out.",
                "The cap on series is reached: whole families of informational metrics are missing.",
            )
        if find_growth(self._counters, _STATE_ERRORS, _STATE_ERRORS_WITHIN) > 0:
            yield self._make(
                "BconStateErrors",
                5,
                f"bcon-exporter on {self._here} cannot use its state file.",
                "The history is kept in memory only; it will be lost with the next restart.",
            )

    def _find_of_projects(self) -> Iterator[Condition]:
        drift = self._context.scans.drift
        for report in drift.reports if drift is not None else ():
            if report.unknown_reason is ProjectProblem.PARSE_ERROR:
                yield self._make_of_project(
                    report.project_name,
                    "BconComposeUnreadable",
                    5,
                    f"Compose refuses the files of {report.project_name} on {self._here}.",
                    "The files have an error, so whether the project runs as they say cannot be told.",
                )
        memory = self._context.memory.memory
        ill = {member.project for tracked in memory.incidents.open for member in tracked.incident.members}
        for record in memory.deployments.latest.values():
            is_bad = record.verdict is DeploymentVerdict.BAD and _is_recent(record.since, self._now)
            if is_bad and record.project not in ill:  # the incident tells it
                yield self._make_of_project(
                    record.project,
                    "BconDeploymentFailed",
                    0,
                    f"The last deployment of {record.project} on {self._here} failed",
                    "A minute after it went quiet, a service had crashed, waited, or was not as the Compose files ask.",
                )

    def _make_of_project(self, project: str, name: str, wait_minutes: int, summary: str, description: str) -> Condition:
        made = self._make(name, wait_minutes, summary, description, {"project": project})
        return replace(made, is_muted=self._muting.find(None, project, None) is not None)


def _is_recent(at: datetime, now: datetime) -> bool:
    return now - at < _DEPLOYMENT_TOLD_FOR
