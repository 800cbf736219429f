"""What fires: the alerts of the last round, as the API and the command line show them."""

from typing import Literal

from bcon_exporter.model.base import Frozen, UtcDatetime

AlertPhase = Literal["pending", "firing", "resolved"]


class Alert(Frozen):
    """One alert.

    Attributes:
        state: "pending" while it waits, "resolved" for 15 minutes after its end.
        labels: What it is about: container, project, service, symptom, ...
        annotations: Summary, description, top cause, first suggestion, a short masked log excerpt; untrusted text.
        since: When its condition came true.
        fired_at: When its wait was over; kept over restarts of the exporter. None while pending.
        resolved_at: When it ended.
    """

    name: str
    severity: str
    state: AlertPhase
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    since: UtcDatetime
    fired_at: UtcDatetime | None = None
    resolved_at: UtcDatetime | None = None


class AlertmanagerState(Frozen):
    """How the push to one Alertmanager is doing. `error`: why the last delivery failed; None when it did not."""

    url: str
    last_success_at: UtcDatetime | None = None
    error: str | None = None


class MessageReceiverState(Frozen):
    """How messages to one receiver are doing.

    Attributes:
        sent: Messages that arrived since the start.
        failures: Attempts that failed.
        usable: Whether its address can be used, and after an attempt whether that arrived; None until one is known.
        error: Why it is not usable.
    """

    name: str
    sent: int = 0
    failures: int = 0
    usable: bool | None = None
    error: str | None = None


class AlertsReport(Frozen):
    """All alerts of one round, the most severe first; and who is told, by push or by message."""

    timestamp: UtcDatetime
    alerts: tuple[Alert, ...] = ()
    alertmanagers: tuple[AlertmanagerState, ...] = ()
    receivers: tuple[MessageReceiverState, ...] = ()
