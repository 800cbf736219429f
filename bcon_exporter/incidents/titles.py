"""An incident's title: one sentence of ours, with names and nothing that a container printed."""

from collections.abc import Sequence

from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.incidents import HOST_CODE, EndedBy, IncidentMember, IncidentRoot

NAMED_AT_MOST = 3
OUTAGE_TITLE = "the Docker engine does not answer"

_WORDS = {
    "oom_killed": "ran out of memory",
    "restart_loop": "ends and is started again and again",
    "exit_error": "has failed",
    "start_failed": "could not be started",
    "never_started": "was created and never started",
    "not_started_again": "was not started again after the engine had stopped",
    "unhealthy": "is unhealthy",
    "health_flapping": "is healthy and unhealthy by turns",
    "paused": "is paused",
    "starting": "has not become ready",
    "high_cpu": "uses much of its CPU",
    "cpu_throttled": "is held back by its CPU limit",
    "high_memory": "uses much of its memory",
    "pids_limit": "is close to its limit of processes",
    "disk_pressure": "has little or no space left on disk",
    "network_error": "has network errors",
    "slow_response": "has slow answers",
    "log_error": "reports errors",
    "log_unbounded": "has a log without a limit",
    "stale_namespace": "is cut off from the container whose namespace it shares",
    "namespace_gone": "was started again or made anew",
    "missing_service": "is missing",
    "dependency_removed": "was removed",
    "not_running": "does not run",
    "replica_mismatch": "runs with another number of replicas than its file says",
    "image_mismatch": "runs another image than its file says",
    "config_mismatch": "is set up otherwise than its file says",
    "extra_container": "is in no file of its project",
}
"""What each code says, no more: an `oom_killed` may be of a child, a `high_cpu` begins at a threshold."""

_WORDS_OF_WARNINGS = {
    "exit_error": "ended with an error code, or could not be removed",
    "start_failed": "could not be started when that was tried last",
}
"""Of a warning it is not known that it is a failure that goes on."""

ENDED_BY = {
    EndedBy.RECREATED: "it was recreated",
    EndedBy.RESTARTED: "it was restarted on request",
    EndedBy.STARTED: "it was started",
    EndedBy.RESUMED: "it was resumed",
    EndedBy.RECONNECTED: "it was connected to its network again",
    EndedBy.CHANGED_BACK: "its image was changed back",
    EndedBy.REMOVED: "it was removed",
    EndedBy.BY_ITSELF: "it is well again",
}
"""What the journal tells. Who did it is not known: a person, a script, another tool; nor what was done elsewhere."""
NOT_MENDED = "it is as it was, and history by now"
"""What is said where nothing has ended a failure that is too old to be told."""


def name_incident(root: IncidentRoot, members: Sequence[IncidentMember]) -> str:
    """Return its title."""
    if root.code == HOST_CODE:
        return _name_restart(members)
    return say_failure(root.name, root.code, [member.name for member in members if member.role == "suffers"])


def _name_restart(members: Sequence[IncidentMember]) -> str:
    """Return what is known of an engine that came back: what it did not start again, and what fails since."""
    left = list_left_down(members)
    failing = [member.name for member in members if member.role == "suffers" and member.name not in left]
    parts = [f"{list_names(left)} {_was(left)} not started again"] if left else []
    parts += [f"{list_names(failing)} {'fails' if len(failing) == 1 else 'fail'} since"] if failing else []
    return f"the engine or its host was restarted: {', '.join(parts)}" if parts else OUTAGE_TITLE


def list_left_down(members: Sequence[IncidentMember]) -> list[str]:
    """Return the names of those that an engine has not started again, by name."""
    return sorted(member.name for member in members if SymptomType.NOT_STARTED_AGAIN in member.symptoms)


def _was(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"


def say_warning(name: str, code: str) -> str:
    """Return the same of a warning: it claims less."""
    said = _WORDS_OF_WARNINGS.get(code)
    return say_failure(name, code) if said is None else f"{name} {said}"


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
