"""The alerts, as one table: rendered as Prometheus rules, and evaluated here for the push to Alertmanager. Pure."""

from bcon_exporter.alerting.evaluation import Counters, Labels, Vector
from bcon_exporter.alerting.rule import AlertRule, AlertSeverity, Scope
from bcon_exporter.alerting.table import ALERTS
from bcon_exporter.alerting.tracking import AlertState, Tracked, Watched, remember_counters, step

__all__ = [
    "ALERTS",
    "AlertRule",
    "AlertSeverity",
    "AlertState",
    "Counters",
    "Labels",
    "Scope",
    "Tracked",
    "Vector",
    "Watched",
    "remember_counters",
    "step",
]
