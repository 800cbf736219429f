"""What people tell the daemon: of whom they want to hear nothing for a while, and which incident they are on.

It changes the daemon's own state and nothing else. No tool of the registry does: they are for reading.
"""

from collections.abc import Iterable
from datetime import datetime

from bcon_exporter.errors import InvalidInputError, NotFoundError
from bcon_exporter.incidents import find_muting
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.incidents import Incident
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.name_suggestions import did_you_mean, nearest_names
from bcon_exporter.model.quantities import show_duration, show_time
from bcon_exporter.model.quiet import EndQuietInput, Muting, Quiet, QuietInput, QuietLine, QuietReport
from bcon_exporter.model.tool_inputs import AcknowledgeInput, Nothing
from bcon_exporter.secrets.masking import safe_text
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.incidents import find_incident
from bcon_exporter.tools.tool import Tool

QUIETS_AT_MOST = 500
_WHY_CHARS = 200


def find_quiet(context: Context, now: datetime, containers: Iterable[ContainerFacts]) -> Muting:
    """Return who is quiet at a time.

    Args:
        context: For what people have muted, and for the settings.
        now: In UTC.
        containers: For their labels.
    """
    quiets, hours = context.memory.memory.quiets, context.quiet_hours
    return find_muting(quiets, hours, containers, now, context.to_local)[0]


def find_quiet_now(context: Context) -> Muting:
    """Return who is quiet now, by the labels of the last scan."""
    return find_quiet(context, context.now(), _containers(context))


def _containers(context: Context) -> tuple[ContainerFacts, ...]:
    scan = context.scans.diagnosis
    return scan.snapshot.containers if scan is not None else ()


def list_quiet(context: Context, request: Nothing) -> QuietReport:  # noqa: ARG001 -- tools share a shape
    """Return all that is quiet now, what ends first on top."""
    now = context.now()
    muting, misread = find_muting(
        context.memory.memory.quiets, context.quiet_hours, _containers(context), now, context.to_local
    )
    lines = {*muting.containers.values(), *muting.projects.values()}
    if muting.host is not None:
        lines.add(muting.host)
    return QuietReport(
        timestamp=now, quiet=tuple(sorted(lines, key=lambda line: (line.until, line.name or ""))), misread=misread
    )


def begin_quiet(context: Context, request: QuietInput) -> QuietLine:
    """Mute a container or a project; one that is quiet already gets the new end.

    Raises:
        InvalidInputError: It lasts no time, or too much is quiet.
        NotFoundError: Neither a container nor a project has this name; `details["near_matches"]`.
    """
    now = context.now()
    if request.length.total_seconds() < 1:
        msg = "duration: must be at least 1s"
        raise InvalidInputError(msg, {"errors": [{"field": "duration", "message": "must be at least 1s"}]})
    quiet = _name_quiet(context, request, now)
    others = [one for one in context.memory.memory.quiets if one.name != quiet.name]
    if len(others) >= QUIETS_AT_MOST:
        msg = f"{QUIETS_AT_MOST} names are quiet already; end some of them first"
        raise InvalidInputError(msg, {})
    context.change_rates.count(context.monotonic(), is_agent=False)
    entry = _note(quiet, now, f"{quiet.name} is quiet until {show_time(quiet.ends_at)}", "quiet")
    context.memory.keep_quiets(lambda quiets: (*(one for one in quiets if one.name != quiet.name), quiet), entry)
    return QuietLine(name=quiet.name, source="command", until=quiet.ends_at, why=quiet.why, cut=request.is_cut)


def _name_quiet(context: Context, request: QuietInput, now: datetime) -> Quiet:
    """Return what is to be muted; a container's name counts before a project's."""
    why = " ".join(safe_text(request.why, max_chars=_WHY_CHARS).split())
    made = Quiet(name=request.name, began_at=now, ends_at=now + request.length, why=why)
    containers = {facts.name: facts for facts in _containers(context)}
    facts = containers.get(request.name)
    if facts is not None:
        compose = facts.compose
        project, service = (compose.project, compose.service) if compose is not None else (None, None)
        return made.model_copy(update={"container": facts.name, "project": project, "service": service})
    projects = _projects(context)
    if request.name in projects:
        return made.model_copy(update={"project": request.name})
    names = [*containers, *sorted(projects)]
    msg = f"there is no container or project {request.name}{did_you_mean(request.name, names)}"
    raise NotFoundError(msg, {"near_matches": nearest_names(request.name, names)})


def _projects(context: Context) -> set[str]:
    found = {facts.compose.project for facts in _containers(context) if facts.compose is not None}
    drift = context.scans.drift
    return found | {report.project_name for report in (drift.reports if drift is not None else ())}


def end_quiet(context: Context, request: EndQuietInput) -> QuietLine:
    """Let people be told of a container or project again; what a label or a setting mutes stays quiet.

    Raises:
        NotFoundError: No person has muted it; `details["near_matches"]`.
    """
    now = context.now()
    quiets = {quiet.name: quiet for quiet in context.memory.memory.quiets if quiet.ends_at > now}
    quiet = quiets.get(request.name)
    if quiet is None:
        msg = f"nobody has muted {request.name}{did_you_mean(request.name, quiets)}"
        raise NotFoundError(msg, {"near_matches": nearest_names(request.name, quiets)})
    context.change_rates.count(context.monotonic(), is_agent=False)
    entry = _note(quiet, now, f"{quiet.name} is not quiet any more", "unquiet")
    context.memory.keep_quiets(lambda kept: tuple(one for one in kept if one.name != quiet.name), entry)
    return QuietLine(name=quiet.name, source="command", until=now, why=quiet.why)


def acknowledge_incident(context: Context, request: AcknowledgeInput) -> Incident:
    """Note that somebody is on an incident: no more messages until it grows worse or ends.

    Raises:
        NotFoundError: There is no such incident.
        InvalidInputError: It is over.
    """
    incident = find_incident(context, request.incident_id)
    if not incident.is_open:
        msg = f"incident {incident.id} is over"
        raise InvalidInputError(msg, {"incident_id": incident.id})
    if incident.acknowledged_at is None:
        context.change_rates.count(context.monotonic(), is_agent=False)
        context.memory.acknowledge_incident(incident.id, _note_incident(incident, context.now()))
    return find_incident(context, request.incident_id)


def _note(quiet: Quiet, now: datetime, text: str, code: str) -> JournalEntry:
    return JournalEntry(
        at=now,
        kind=JournalKind.NOTE,
        project=quiet.project,
        service=quiet.service,
        container=quiet.container,
        code=code,
        text=text,
        data={"until": quiet.ends_at.isoformat(), "why": quiet.why},
    )


def _note_incident(incident: Incident, now: datetime) -> JournalEntry:
    after = show_duration((now - incident.started_at).total_seconds())
    return JournalEntry(
        at=now,
        kind=JournalKind.NOTE,
        project=incident.root.project,
        service=incident.root.service,
        container=incident.root.container,
        code="acknowledged",
        text=f"somebody is on incident {incident.id}, {after} after it began",
        data={"incident": incident.id},
    )


LIST_QUIET = Tool("list_quiet", "Who is quiet now, and until when.", Nothing, QuietReport, list_quiet, works=False)
BEGIN_QUIET = Tool("begin_quiet", "Mute a container or a project.", QuietInput, QuietLine, begin_quiet, works=False)
END_QUIET = Tool("end_quiet", "Let people be told of it again.", EndQuietInput, QuietLine, end_quiet, works=False)
ACKNOWLEDGE_INCIDENT = Tool(
    "acknowledge_incident",
    "Say that somebody is on an incident.",
    AcknowledgeInput,
    Incident,
    acknowledge_incident,
    works=False,
)
