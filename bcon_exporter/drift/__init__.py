"""Pure comparison of desired Compose projects with a snapshot."""

from bcon_exporter.drift.engine import detect_drift
from bcon_exporter.drift.projects import find_projects, find_untracked

__all__ = ["detect_drift", "find_projects", "find_untracked"]
