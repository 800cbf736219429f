"""The samples of the exporter's own state, read at each scrape: bcon_up must not be as old as the last scan."""

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate

from bcon_exporter.engine import DURATION_BUCKETS_SECONDS, EndpointCounts
from bcon_exporter.latest_scans import SCAN_NAMES, ScanName, ScanStatus
from bcon_exporter.model.alerts import MessageReceiverState
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.incidents import IncidentState
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.verify_report import DeploymentVerdict
from bcon_exporter.outputs.addresses import Addresses
from bcon_exporter.outputs.metrics.families import BY_NAME
from bcon_exporter.outputs.metrics.writing import Samples, family_samples, label_set, number
from bcon_exporter.tools import Context

_DURATIONS = BY_NAME["bcon_docker_request_duration_seconds"]
_VERDICTS = {DeploymentVerdict.GOOD: 1.0, DeploymentVerdict.BAD: 0.0}
"""Of an unsure one there is no number."""
_SEVERITIES = (Severity.ERROR, Severity.CRITICAL)
_NAMED_INCIDENTS = 100
Row = tuple[tuple[str | None, ...], float | None]


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """Counts of what is remembered: gaps in the event stream, failed uses of the state file, entries, incidents."""

    event_gaps: int = 0
    state_errors: int = 0
    entries: Mapping[JournalKind, int] = field(default_factory=dict)
    incidents: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AlertCounts:
    """What fires and how it was pushed.

    Attributes:
        firing: Alerts that fire now; None before the first round.
        pushed: Alertmanager → rounds sent to it, and those of them that it did not take.
        messages: How messages to each receiver are doing.
    """

    firing: int | None = None
    pushed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    messages: tuple[MessageReceiverState, ...] = ()


class OwnState:
    """Reads the exporter's own state.

    Args:
        context: Returns the context in force.
        interval_of: Returns a scan's interval in seconds.
        counted: Returns the counts so far.
        insecure_bind: Returns whether everything is served beyond loopback without users (web.allow-insecure).
        loaded_at: When the settings were first loaded.
        alerting: Returns how many alerts fire and were pushed.
        addresses: Returns where people are led.
    """

    def __init__(  # noqa: PLR0913 -- put together in one place
        self,
        context: Callable[[], Context],
        interval_of: Callable[[ScanName], float],
        counted: Callable[[], MemoryCounts],
        *,
        insecure_bind: Callable[[], bool],
        loaded_at: datetime,
        alerting: Callable[[], AlertCounts] = AlertCounts,
        addresses: Callable[[], Addresses] = Addresses,
    ) -> None:
        self._context = context
        self._interval_of = interval_of
        self._counted = counted
        self._insecure_bind = insecure_bind
        self._alerting, self._addresses = alerting, addresses
        self._reload: tuple[bool, datetime] = (True, loaded_at)

    def interval_seconds(self, name: ScanName) -> float:
        """Return a scan's interval in force."""
        return self._interval_of(name)

    @property
    def is_reload_successful(self) -> bool:
        """Whether the settings were read without a fault when they were last read."""
        return self._reload[0]

    @property
    def addresses(self) -> Addresses:
        """Where people are led."""
        return self._addresses()

    @property
    def state_errors(self) -> int:
        """How often the state file could not be used."""
        return self._counted().state_errors

    def record_reload(self, at: datetime, *, successful: bool) -> None:
        """Remember the outcome of a reload; the time of the last good one stays."""
        self._reload = (successful, at if successful else self._reload[1])

    def samples(self, statuses: Mapping[ScanName, ScanStatus], series_dropped: int) -> tuple[Samples, ...]:
        """Return all families of source "own"; see `rows`."""
        requests = self._context().host.requests().endpoints
        rows = {
            **self.rows(statuses, series_dropped),
            "bcon_docker_requests_total": [((name,), counts.requests) for name, counts in requests.items()],
            "bcon_docker_request_failures_total": [((name,), counts.failures) for name, counts in requests.items()],
        }
        durations = Samples.of(_DURATIONS, (_histogram(endpoint, counts) for endpoint, counts in requests.items()))
        return (*(family_samples(BY_NAME[name], family) for name, family in rows.items()), durations)

    def rows(self, statuses: Mapping[ScanName, ScanStatus], series_dropped: int) -> dict[str, Iterable[Row]]:
        """Return all families but those on requests, as label values and numbers.

        Args:
            statuses: The scans' statuses, of the generation that is shown.
            series_dropped: Samples that this generation leaves out.
        """
        context = self._context()
        counted, (reloaded, loaded_at) = self._counted(), self._reload
        alerts = self._alerting()
        deployments = context.memory.memory.deployments.latest.values()
        return {
            "bcon_build_info": [((context.version, platform.python_version()), 1.0)],
            "bcon_address_info": _address_rows(self.addresses),
            "bcon_up": [((), int(context.host.is_up()))],
            "bcon_docker_endpoint_up": [((kind,), int(up)) for kind, up in context.host.endpoints_up().items()],
            **self._scan_rows(statuses),
            "bcon_errors_total": [((code.value,), n) for code, n in context.errors.counts().items()],
            "bcon_rule_errors_total": [((rule,), n) for rule, n in context.scans.rule_errors.items()],
            "bcon_event_gaps_total": [((), counted.event_gaps)],
            "bcon_journal_entries_total": [((kind.value,), n) for kind, n in counted.entries.items()],
            "bcon_state_errors_total": [((), counted.state_errors)],
            "bcon_insecure_bind": [((), int(self._insecure_bind()))],
            "bcon_config_last_reload_successful": [((), int(reloaded))],
            "bcon_config_last_reload_success_timestamp_seconds": [((), loaded_at.timestamp())],
            "bcon_alertmanager_notifications_total": [((url,), n) for url, (n, _) in alerts.pushed.items()],
            "bcon_alertmanager_notification_failures_total": [((url,), n) for url, (_, n) in alerts.pushed.items()],
            "bcon_messages_total": [((receiver.name,), receiver.sent) for receiver in alerts.messages],
            "bcon_message_failures_total": [((receiver.name,), receiver.failures) for receiver in alerts.messages],
            "bcon_message_receiver_usable": [((receiver.name,), receiver.usable) for receiver in alerts.messages],
            "bcon_deployment_verdict": [((one.project,), _VERDICTS.get(one.verdict)) for one in deployments],
            "bcon_deployment_timestamp_seconds": [((one.project,), one.since.timestamp()) for one in deployments],
            **_incident_rows(context.memory.memory.incidents, counted),
            "bcon_alerts_firing": [((), alerts.firing)],
            "bcon_series_dropped": [((), series_dropped)],
        }

    def _scan_rows(self, statuses: Mapping[ScanName, ScanStatus]) -> dict[str, Iterable[Row]]:
        values: dict[str, Callable[[ScanName, ScanStatus], float | None]] = {
            "bcon_scan_success": lambda _, status: None if status.success is None else int(status.success),
            "bcon_scan_last_duration_seconds": lambda _, status: status.last_duration_seconds,
            "bcon_scan_last_run_timestamp_seconds": lambda _, status: _timestamp(status.last_run_at),
            "bcon_scan_last_success_timestamp_seconds": lambda _, status: _timestamp(status.last_success_at),
            "bcon_scan_interval_seconds": lambda name, _: self._interval_of(name),
            "bcon_scan_incomplete_containers": lambda _, s: None if s.success is None else s.incomplete,
            "bcon_scans_total": lambda _, status: status.total,
            "bcon_scan_failures_total": lambda _, status: status.failures,
            "bcon_scans_missed_total": lambda _, status: status.missed,
        }
        return {
            family: [((name,), value_of(name, statuses[name])) for name in SCAN_NAMES]
            for family, value_of in values.items()
        }


def _address_rows(addresses: Addresses) -> list[Row]:
    known = (addresses.page, addresses.runbooks)
    return [(known, 1.0)] if any(known) else []


def _incident_rows(state: IncidentState, counted: MemoryCounts) -> dict[str, Iterable[Row]]:
    going_on = [tracked.incident for tracked in state.open]
    by_severity = Counter(incident.severity for incident in going_on)
    named = [(one.id, one.root.name, one.root.project or "", one.root.code) for one in going_on]
    return {
        "bcon_incidents_open": [((severity.value,), by_severity[severity]) for severity in _SEVERITIES],
        "bcon_incidents_total": [((code,), n) for code, n in counted.incidents.items()],
        "bcon_incident_info": [(labels, 1.0) for labels in named[:_NAMED_INCIDENTS]],
    }


def _timestamp(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()


def _histogram(endpoint: str, counts: EndpointCounts) -> str:
    name, labels = _DURATIONS.name, label_set(("endpoint",), (endpoint,))
    bounds = (*(repr(bound) for bound in DURATION_BUCKETS_SECONDS), "+Inf")
    below = zip(bounds, accumulate(counts.buckets), strict=True)
    buckets = "".join(f'{name}_bucket{{{labels},le="{bound}"}} {number_below}\n' for bound, number_below in below)
    return f"{buckets}{name}_sum{{{labels}}} {number(counts.seconds)}\n{name}_count{{{labels}}} {sum(counts.buckets)}\n"
