"""The two scans at their intervals: observe, judge, keep."""

from bcon_exporter.schedule.scheduler import Intervals, Scheduler

__all__ = ["Intervals", "Scheduler"]
