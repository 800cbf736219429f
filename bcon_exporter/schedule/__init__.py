"""The two scans at their intervals: observe, judge, keep."""

from bcon_exporter.schedule.scheduler import Intervals, Scheduler
from bcon_exporter.schedule.watchdog import Watchdog, watchdog_seconds

__all__ = ["Intervals", "Scheduler", "Watchdog", "watchdog_seconds"]
