"""Pure comparison of desired Compose projects with a snapshot."""

from bcon_exporter.drift.actions import compare_hash
from bcon_exporter.drift.compare import detect_drift
from bcon_exporter.drift.host_index import HostIndex, index_host
from bcon_exporter.drift.ignoring import IgnoreRule, parse_ignore_rule
from bcon_exporter.drift.projects import find_projects, find_untracked, is_stack_task

__all__ = [
    "HostIndex",
    "IgnoreRule",
    "compare_hash",
    "detect_drift",
    "find_projects",
    "find_untracked",
    "index_host",
    "is_stack_task",
    "parse_ignore_rule",
]
