"""Tools about incidents: one failure each, with its root, who suffers, what changed before, and how it ended."""

from datetime import timedelta

from bcon_exporter.errors import NotFoundError
from bcon_exporter.journal import IncidentFilter
from bcon_exporter.model.incidents import Incident, IncidentLine, IncidentsReport
from bcon_exporter.model.name_suggestions import did_you_mean, nearest_names
from bcon_exporter.model.tool_inputs import GetIncidentInput, ListIncidentsInput
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.notes import with_notes_of_incident
from bcon_exporter.tools.tool import Tool

_LISTED_BY_DEFAULT = timedelta(days=7)


def list_incidents(context: Context, request: ListIncidentsInput) -> IncidentsReport:
    """Return the incidents that the daemon has seen, newest first; a command reads its state file."""
    since = request.since or context.now() - _LISTED_BY_DEFAULT
    found: list[Incident] = []
    if request.open is not False:
        found += find_open(context, request.project)
    if request.open is not True:
        found += context.memory.find_ended_incidents(IncidentFilter(since, request.project))
    found.sort(key=lambda incident: (incident.started_at, incident.id), reverse=True)
    chosen = found[request.offset : request.offset + request.limit]
    return IncidentsReport(
        since=since,
        total=len(found),
        incidents=tuple(map(to_line, chosen)),
        known_since=context.memory.observed_since,
    )


def find_open(context: Context, project: str | None = None) -> list[Incident]:
    """Return the incidents that go on, oldest first."""
    tracked = context.memory.memory.incidents.open
    return [one.incident for one in tracked if project is None or one.incident.root.project == project]


def find_pauses(context: Context) -> frozenset[str]:
    """Return the ids of incidents that are no news; see `TrackedIncident.was_a_pause`."""
    return frozenset(one.incident.id for one in context.memory.memory.incidents.open if one.was_a_pause)


def get_incident(context: Context, request: GetIncidentInput) -> Incident | IncidentsReport:
    """Return all that is known of one incident; without an id those that go on.

    Raises:
        NotFoundError: There is no such incident; `details["near_matches"]`.
    """
    if request.incident_id is None:
        return list_incidents(context, ListIncidentsInput(open=True, limit=200))
    return find_incident(context, request.incident_id)


def find_incident(context: Context, incident_id: str) -> Incident:
    """Return all that is known of one incident.

    Raises:
        NotFoundError: There is no such incident; `details["near_matches"]`.
    """
    open_ones = {incident.id: incident for incident in find_open(context)}
    incident = open_ones.get(incident_id) or context.memory.find_ended_incident(incident_id)
    if incident is None:
        known = [one.id for one in list_incidents(context, ListIncidentsInput(limit=200)).incidents]
        msg = f"there is no such incident{did_you_mean(incident_id, known)}"
        raise NotFoundError(msg, {"near_matches": nearest_names(incident_id, known)})
    return with_notes_of_incident(context, incident)


def to_line(incident: Incident) -> IncidentLine:
    """Return an incident as one line of a list."""
    return IncidentLine(
        id=incident.id,
        started_at=incident.started_at,
        ended_at=incident.ended_at,
        severity=incident.severity,
        root=incident.root,
        title=incident.title,
        suffers=tuple(member.name for member in incident.members if member.role == "suffers"),
        ended_by=incident.ended_by,
        merged_into=incident.merged_into,
        acknowledged_at=incident.acknowledged_at,
    )


INCIDENT_TOOLS = (
    Tool(
        "list_incidents",
        "List failures, newest first: one line for each, with its root and who suffers from it.",
        ListIncidentsInput,
        IncidentsReport,
        list_incidents,
        works=False,
        of_past=True,
        rows="incidents",
    ),
    Tool(
        "get_incident",
        "Say all of one failure: root, members, cause, what to do, what changed before, how it ended; or which go on.",
        GetIncidentInput,
        Incident | IncidentsReport,
        get_incident,
        works=False,
        of_past=True,
        toolset="core",
        rows="incidents",
    ),
)
