"""Which alerts the daemon pushes: one for each open incident, and one for each trouble of its own. Pure."""

from bcon_exporter.alerting.counters import Counters, find_growth, remember_counters
from bcon_exporter.alerting.pushed_alerts import (
    INCIDENT_ALERT,
    AlertSeverity,
    AlertState,
    Condition,
    PushedAlert,
    Situation,
    follow_alerts,
)

__all__ = [
    "INCIDENT_ALERT",
    "AlertSeverity",
    "AlertState",
    "Condition",
    "Counters",
    "PushedAlert",
    "Situation",
    "find_growth",
    "follow_alerts",
    "remember_counters",
]
