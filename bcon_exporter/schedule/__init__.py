"""The two scans at their intervals: observe, judge, keep."""

from bcon_exporter.schedule.deployment_verdicts import DeploymentJudge
from bcon_exporter.schedule.disk_watch import DiskWatch
from bcon_exporter.schedule.incident_watch import watch_outage
from bcon_exporter.schedule.scheduler import Intervals, Scheduler
from bcon_exporter.schedule.watchdog import Watchdog, watchdog_seconds

__all__ = ["DeploymentJudge", "DiskWatch", "Intervals", "Scheduler", "Watchdog", "watch_outage", "watchdog_seconds"]
