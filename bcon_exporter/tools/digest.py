"""What a period was like: what is new, over, flapping, drifted longest, and which deployments failed."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from bcon_exporter.errors import InvalidInputError
from bcon_exporter.journal import EntryFilter, IncidentFilter
from bcon_exporter.memory import read_deployment
from bcon_exporter.model.digest import DigestInput, DigestReport, FailedDeployment, Flapping, LongDrift
from bcon_exporter.model.incidents import Incident
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.verify_report import DeploymentVerdict
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.incidents import find_open, to_line
from bcon_exporter.tools.tool import Tool

WEEK = timedelta(days=7)
FLAPPING_FROM = 3
_SHOWN = 5
_DEPLOYMENTS_READ = 500


def write_digest(context: Context, request: DigestInput) -> DigestReport:
    """Return what a period was like; a command reads the daemon's state file.

    Raises:
        InvalidInputError: It begins in the future.
    """
    until = context.now()
    since = request.since or until - WEEK
    if since >= until:
        msg = "since must lie in the past"
        raise InvalidInputError(msg, {"errors": [{"field": "since", "message": "not in the past"}]})
    going_on = find_open(context)
    ended = [one for one in context.memory.find_ended_incidents(IncidentFilter(since)) if one.merged_into is None]
    began = [one for one in (*going_on, *ended) if one.started_at >= since]
    began.sort(key=lambda one: (-one.severity.rank, -one.started_at.timestamp()))
    return DigestReport(
        since=since,
        until=until,
        began=len(began),
        ended=len(ended),
        worst=tuple(map(to_line, began[:_SHOWN])),
        going_on=tuple(map(to_line, going_on)),
        flapping=_find_flapping(began),
        drifted=_find_drifted(context),
        failed_deployments=_find_failed_deployments(context, since, until),
        known_since=context.memory.observed_since,
    )


def _find_flapping(incidents: Iterable[Incident]) -> tuple[Flapping, ...]:
    counts = Counter((one.root.project, one.root.service or one.root.name, one.root.code) for one in incidents)
    return tuple(
        Flapping(name=name, project=project, code=code, count=count)
        for (project, name, code), count in counts.most_common(_SHOWN)
        if count >= FLAPPING_FROM
    )


def _find_drifted(context: Context) -> tuple[LongDrift, ...]:
    found = sorted(context.memory.first_seen("drift").items(), key=lambda item: item[1])
    split = ((key.split("\x1f"), since) for key, since in found[:_SHOWN])
    return tuple(
        LongDrift(project=project, service=service, drift_type=drift_type, since=since)
        for (project, service, drift_type), since in split
    )


def _find_failed_deployments(context: Context, since: datetime, until: datetime) -> tuple[FailedDeployment, ...]:
    wanted = EntryFilter(since, until, kinds=(JournalKind.DEPLOYMENT,))
    entries = context.memory.find_entries(wanted, _DEPLOYMENTS_READ)
    records = (record for entry in entries if (record := read_deployment(entry)) is not None)
    failed = [record for record in records if record.verdict is DeploymentVerdict.BAD]
    return tuple(
        FailedDeployment(project=record.project, at=record.since, summary=record.summary) for record in failed[:_SHOWN]
    )


DIGEST = Tool("digest", "What a period was like.", DigestInput, DigestReport, write_digest, works=False, of_past=True)
