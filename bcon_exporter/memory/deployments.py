"""Which deployments a daemon has seen, and which of them are due to be judged."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.verify_report import DeploymentRecord, DeploymentVerdict

QUIET_FOR = timedelta(seconds=60)
"""A deployment is judged when so long no container of its project was made, or started for the first time."""

JUDGED_WITHIN = timedelta(hours=1)
"""What was deployed while no daemon watched is judged when one starts within this time."""

_SEVERITIES = {
    DeploymentVerdict.GOOD: Severity.INFO,
    DeploymentVerdict.UNSURE: Severity.WARNING,
    DeploymentVerdict.BAD: Severity.ERROR,
}


@dataclass(frozen=True, slots=True)
class Deployments:
    """What is known of deployments.

    Attributes:
        judged: Project → the newest moment that has had its verdict; None before the first scan.
        latest: Project → the last verdict.
        seen_until: Until when an earlier process has watched; None where there was none.
    """

    judged: Mapping[str, datetime] | None = None
    latest: Mapping[str, DeploymentRecord] = field(default_factory=dict)
    seen_until: datetime | None = None


def find_due(known: Deployments, snapshot: HostSnapshot) -> tuple[Deployments, tuple[str, ...]]:
    """Return what is known after a scan, and the projects of which a deployment is to be judged now.

    What was there at the first scan was deployed before anybody watched, but for what was made within the last hour and
    had no verdict when an earlier process ended. Projects that are gone are forgotten.
    """
    if snapshot.partial:
        return known, ()
    newest = _find_newest(snapshot)
    latest = {project: record for project, record in known.latest.items() if project in newest}
    if known.judged is None:
        return _go_on(known, newest, snapshot.taken_at), ()
    judged = {project: known.judged[project] for project in newest if project in known.judged}
    due = tuple(
        project
        for project, at in sorted(newest.items())
        if (project not in judged or at > judged[project]) and snapshot.taken_at - at >= QUIET_FOR
    )
    return Deployments({**judged, **{project: newest[project] for project in due}}, latest), due


def find_deploying(snapshot: HostSnapshot) -> frozenset[str]:
    """Return the projects of which a container was made, or started for the first time, less than a minute ago."""
    return frozenset(project for project, at in _find_newest(snapshot).items() if snapshot.taken_at - at < QUIET_FOR)


def _find_newest(snapshot: HostSnapshot) -> dict[str, datetime]:
    """Return project → when the newest of its containers was made, or started for the first time."""
    newest: dict[str, datetime] = {}
    for container in snapshot.containers:
        claim = container.compose
        if claim is None or not claim.is_replica or claim.config_hash is None:
            continue
        for at in _moments(container):
            newest[claim.project] = max(at, newest.get(claim.project, at))
    return newest


def _go_on(known: Deployments, newest: Mapping[str, datetime], now: datetime) -> Deployments:
    """Return what is known after the first scan of a process, with what an earlier one has left."""
    latest = {
        project: record
        for project, record in known.latest.items()
        if project in newest and newest[project] <= record.at  # of a later deployment it tells nothing
    }
    judged = {
        project: at
        for project, at in newest.items()
        if project in latest
        or known.seen_until is None
        or at + QUIET_FOR <= known.seen_until
        or now - at > JUDGED_WITHIN
    }
    return Deployments(judged, latest)


def _moments(container: ContainerFacts) -> Iterator[datetime]:
    """Yield when it was made and first started: a restart, or a start after a stop, is no deployment."""
    yield container.created_at
    past = container.lifecycle
    has_run_before = bool(container.restart_count) or any(
        end.at >= container.created_at for end in (past.exits if past is not None and container.is_running else ())
    )
    if container.started_at is not None and not has_run_before:
        yield container.started_at


def add_verdict(known: Deployments, record: DeploymentRecord) -> Deployments:
    """Return what is known with a verdict, the last one of its project."""
    return replace(known, latest={**known.latest, record.project: record})


def journal_deployment(record: DeploymentRecord) -> JournalEntry:
    """Return the entry that tells of a verdict."""
    return JournalEntry(
        at=record.at,
        kind=JournalKind.DEPLOYMENT,
        project=record.project,
        code=record.verdict.value,
        severity=_SEVERITIES[record.verdict],
        text=f"deployment {record.verdict.value}: {record.summary}",
        data={"record": record.model_dump(mode="json")},
    )


def read_deployment(entry: JournalEntry) -> DeploymentRecord | None:
    """Return the verdict that an entry tells of; None for one that another version has written."""
    try:
        return DeploymentRecord.model_validate(entry.data.get("record"))
    except ValueError:
        return None
