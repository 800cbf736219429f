"""An incident's title: one sentence of ours, with names and nothing that a container printed."""

from collections.abc import Sequence

from bcon_exporter.model.incidents import HOST_CODE, EndedBy, IncidentMember, IncidentRoot
from bcon_exporter.model.quantities import show_count

NAMED_AT_MOST = 3
OUTAGE_TITLE = "the Docker engine does not answer"

_WORDS = {
    "oom_killed": "was killed for want of memory",
    "restart_loop": "crashes again and again",
    "exit_error": "has failed",
    "start_failed": "could not be started",
    "never_started": "was created and never started",
    "unhealthy": "is unhealthy",
    "health_flapping": "is healthy and unhealthy by turns",
    "paused": "is paused",
    "starting": "does not get ready",
    "high_cpu": "uses all of its CPU",
    "cpu_throttled": "is held back by its CPU limit",
    "high_memory": "is almost out of memory",
    "pids_limit": "has used up its processes",
    "disk_pressure": "has no space left on disk",
    "network_error": "cannot reach what it needs",
    "slow_response": "answers too slowly",
    "log_error": "reports errors",
    "log_unbounded": "fills the disk with its log",
    "missing_service": "is missing",
    "not_running": "does not run",
    "replica_mismatch": "lacks replicas",
    "image_mismatch": "runs another image than its file says",
    "config_mismatch": "is set up otherwise than its file says",
    "extra_container": "is in no file",
}

ENDED_BY = {
    EndedBy.RECREATED: "it was recreated",
    EndedBy.RESTARTED: "it was restarted by a person",
    EndedBy.STARTED: "it was started by a person",
    EndedBy.RESUMED: "it was resumed",
    EndedBy.RECONNECTED: "it was connected to its network again",
    EndedBy.CHANGED_BACK: "its image was changed back",
    EndedBy.REMOVED: "it was removed",
    EndedBy.BY_ITSELF: "it got well by itself",
}


def name_incident(root: IncidentRoot, members: Sequence[IncidentMember]) -> str:
    """Return its title."""
    if root.code == HOST_CODE:
        count = sum(member.container is not None for member in members)
        return f"the engine or its host was down, or failed as a whole: {show_count(count, 'container')} affected"
    return say_failure(root.name, root.code, [member.name for member in members if member.role == "suffers"])


def say_failure(name: str, code: str, suffering: Sequence[str] = ()) -> str:
    """Return what has happened to a container or service, by the code of a symptom, a difference or a cause."""
    said = _WORDS.get(code)
    title = f"{name} {said}" if said else f"{name}: {code.replace('_', ' ')}"
    if not suffering:
        return title
    return f"{title}; {list_names(suffering)} {'suffers' if len(suffering) == 1 else 'suffer'} from it"


def list_names(names: Sequence[str]) -> str:
    """Return "db, api and web", or the first of many."""
    if len(names) > NAMED_AT_MOST:
        return f"{', '.join(names[:NAMED_AT_MOST])} and {len(names) - NAMED_AT_MOST} more"
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
