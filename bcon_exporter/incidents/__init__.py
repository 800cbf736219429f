"""Incidents: symptoms and differences of a host joined into one failure each, with what changed before it. Pure."""

from bcon_exporter.incidents.changes import EVIDENCE, LOOKED_BACK, find_telling_change
from bcon_exporter.incidents.grouping import (
    OUTAGE_STEPS,
    RESTART_STEPS,
    FoldedIncidents,
    IncidentNews,
    IncidentStep,
    KnownPast,
    acknowledge,
    is_ahead,
    is_outage_open,
    journal_step,
    observe_outage,
    observe_troubles,
)
from bcon_exporter.incidents.host_sentence import (
    HostSentence,
    HostSituation,
    HostTone,
    describe_host,
    show_clock,
    sort_incidents,
)
from bcon_exporter.incidents.notices import Scene, decide_message, note_arrival
from bcon_exporter.incidents.quiet import find_muting, is_container_quiet, is_muted
from bcon_exporter.incidents.titles import ENDED_BY, NOT_MENDED, list_left_down
from bcon_exporter.incidents.troubles import HostTroubles, Life, Trouble, Who, find_troubles
from bcon_exporter.incidents.when_to_notify import follow_merges, has_waited, waits_for_first_look

__all__ = [
    "ENDED_BY",
    "EVIDENCE",
    "LOOKED_BACK",
    "NOT_MENDED",
    "OUTAGE_STEPS",
    "RESTART_STEPS",
    "FoldedIncidents",
    "HostSentence",
    "HostSituation",
    "HostTone",
    "HostTroubles",
    "IncidentNews",
    "IncidentStep",
    "KnownPast",
    "Life",
    "Scene",
    "Trouble",
    "Who",
    "acknowledge",
    "decide_message",
    "describe_host",
    "find_muting",
    "find_telling_change",
    "find_troubles",
    "follow_merges",
    "has_waited",
    "is_ahead",
    "is_container_quiet",
    "is_muted",
    "is_outage_open",
    "journal_step",
    "list_left_down",
    "note_arrival",
    "observe_outage",
    "observe_troubles",
    "show_clock",
    "sort_incidents",
    "waits_for_first_look",
]
