"""What is remembered from scan to scan: one frozen value, and pure functions that fold observations into it."""

from bcon_exporter.memory.config_changes import find_config_changes
from bcon_exporter.memory.deployments import (
    Deployments,
    add_verdict,
    find_deploying,
    find_due,
    journal_deployment,
    read_deployment,
)
from bcon_exporter.memory.disk_usage import (
    DiskMemory,
    DiskSample,
    fold_disk,
    recall_samples,
)
from bcon_exporter.memory.event_coverage import Coverage, Gap, forget_before, join_coverage, join_told
from bcon_exporter.memory.exit_reasons import Shutdown
from bcon_exporter.memory.identity import identity_of, identity_of_event
from bcon_exporter.memory.journal_entries import (
    FAILED,
    FAILED_RUNS_FOR,
    add_failed_runs,
    journal_coverage,
    journal_findings,
    journal_lifecycles,
)
from bcon_exporter.memory.log_counts import CountedLog, LogCounts
from bcon_exporter.memory.lost_restarts import CountedContainer
from bcon_exporter.memory.memory import (
    FindingKind,
    Memory,
    conclude_first_seen,
    find_named,
    forget_absent,
    observe_events,
    observe_kills,
    observe_snapshot,
)
from bcon_exporter.memory.note_book import (
    NOTE_CODES,
    NoteChange,
    add_note,
    approve_note,
    check_room,
    drop_expired,
    find_approved,
    find_current,
    hide_in_notes,
    join_notes,
    refuse_note,
    remove_note,
)
from bcon_exporter.memory.runs import order_of
from bcon_exporter.memory.timeline import (
    EVENTS_PER_IDENTITY,
    NO_PAST,
    Configured,
    Past,
    counted_as,
    join_pasts,
    may_be_counted,
)
from bcon_exporter.memory.usage_slots import Spread, UsageSlot, add_usage, close_slot

__all__ = [
    "EVENTS_PER_IDENTITY",
    "FAILED",
    "FAILED_RUNS_FOR",
    "NOTE_CODES",
    "NO_PAST",
    "Configured",
    "CountedContainer",
    "CountedLog",
    "Coverage",
    "Deployments",
    "DiskMemory",
    "DiskSample",
    "FindingKind",
    "Gap",
    "LogCounts",
    "Memory",
    "NoteChange",
    "Past",
    "Shutdown",
    "Spread",
    "UsageSlot",
    "add_failed_runs",
    "add_note",
    "add_usage",
    "add_verdict",
    "approve_note",
    "check_room",
    "close_slot",
    "conclude_first_seen",
    "counted_as",
    "drop_expired",
    "find_approved",
    "find_config_changes",
    "find_current",
    "find_deploying",
    "find_due",
    "find_named",
    "fold_disk",
    "forget_absent",
    "forget_before",
    "hide_in_notes",
    "identity_of",
    "identity_of_event",
    "join_coverage",
    "join_notes",
    "join_pasts",
    "join_told",
    "journal_coverage",
    "journal_deployment",
    "journal_findings",
    "journal_lifecycles",
    "may_be_counted",
    "observe_events",
    "observe_kills",
    "observe_snapshot",
    "order_of",
    "read_deployment",
    "recall_samples",
    "refuse_note",
    "remove_note",
]
