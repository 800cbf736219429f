"""Which alerts the daemon pushes: one for each open incident, and one for each trouble of its own. Pure."""

from bcon_exporter.alerting.counters import Counters, find_growth, remember_counters
from bcon_exporter.alerting.pushed_alerts import (
    INCIDENT_ALERT,
    AlertInputs,
    AlertSeverity,
    AlertState,
    Condition,
    PushedAlert,
    follow_alerts,
)

__all__ = [
    "INCIDENT_ALERT",
    "AlertInputs",
    "AlertSeverity",
    "AlertState",
    "Condition",
    "Counters",
    "PushedAlert",
    "find_growth",
    "follow_alerts",
    "remember_counters",
]
