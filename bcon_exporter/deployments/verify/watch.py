"""Folds the looks of a window into one state, and says after each what is known by then. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bcon_exporter.deployments.verify.begin import find_begin, has_begun_since, newest_moment
from bcon_exporter.deployments.verify.judge import Look, judge, overall, replicas_of, summarise
from bcon_exporter.deployments.verify.rule_context import CLOCK_SLACK
from bcon_exporter.deployments.verify.slower_start import find_slower_starts
from bcon_exporter.deployments.verify.used_files import find_other_files
from bcon_exporter.memory import identity_of
from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot
from bcon_exporter.model.desired import DesiredProject
from bcon_exporter.model.findings import DriftType, SymptomType
from bcon_exporter.model.lifecycle import LifecycleEvent
from bcon_exporter.model.reports import DiagnosisReport, DriftReport
from bcon_exporter.model.verify_report import DeploymentVerdict, ServiceVerdict, VerifyReport

SETTLED_AFTER = timedelta(seconds=10)
"""Before that nothing is certain: `docker compose up` may just be about to begin."""
QUIET_FOR = timedelta(seconds=5)
"""So long nothing was made, started or has ended: nothing more is under way."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What is carried from one look to the next.

    Attributes:
        watched_from: When the watch began, by the wall clock.
        window_seconds: How long it is to go on.
        given_since: When the deployment began, where somebody said so.
        begun: When it began, once it is known to have begun in the window.
        first_symptoms: Short id → what it showed at the first look.
        earlier: Identity → the container that had it when the watch began, with its configuration.
        replaced: Full id → the container in whose place it was put.
        roots: Service → the root that was named of it last.
        services: The verdicts of the last look.
        notes: What changes no verdict, in the order in which it was seen.
        notes_of_look: The same, of the last look alone.
        desired: What the files asked for at the last look.
        looks: How often the host was read.
    """

    watched_from: datetime
    window_seconds: float
    given_since: datetime | None = None
    begun: datetime | None = None
    first_symptoms: Mapping[str, frozenset[SymptomType]] | None = None
    earlier: Mapping[str, ContainerFacts] = field(default_factory=dict)
    replaced: Mapping[str, ContainerFacts] = field(default_factory=dict)
    roots: Mapping[str, str] = field(default_factory=dict)
    services: tuple[ServiceVerdict, ...] = ()
    notes: tuple[str, ...] = ()
    notes_of_look: tuple[str, ...] = ()
    desired: DesiredProject | None = None
    looks: int = 0


def find_since(watch: Watch, project: str, snapshot: HostSnapshot) -> datetime:
    """Return when the deployment began, as far as this look tells."""
    if watch.given_since is not None:
        return watch.given_since
    if watch.begun is not None:
        return watch.begun
    containers = [one for found in replicas_of(project, snapshot).values() for one in found]
    return find_begin(containers, watch.watched_from) or watch.watched_from


def observe(
    watch: Watch,
    snapshot: HostSnapshot,
    desired: DesiredProject,
    drift: DriftReport,
    diagnosis: tuple[DiagnosisReport, ...],
    events: Mapping[str, Sequence[LifecycleEvent]] | None = None,
) -> tuple[Watch, VerifyReport]:
    """Return the state after one more look at the host, and the report as it would be if the window ended now.

    Args:
        watch: The state before.
        snapshot: The host.
        desired: What the files ask for.
        drift: Where the host differs from that.
        diagnosis: Reports of every container that was judged.
        events: Of each container's identity, oldest first.
    """
    containers = [one for found in replicas_of(desired.name, snapshot).values() for one in found]
    since = find_since(watch, desired.name, snapshot)
    if watch.begun is None and has_begun_since(containers, watch.watched_from):
        watch = replace(watch, begun=since)
    watch = _remember(watch, containers, diagnosis)
    look = Look(
        snapshot=snapshot,
        desired=desired,
        drift=drift,
        diagnosis=diagnosis,
        since=since,
        before=_find_before(watch, containers, diagnosis, since),
        replaced=watch.replaced,
        unreplaced=_find_unreplaced(watch, containers, since),
    )
    services = _keep_certain(_with_roots_of_before(judge(look), watch.roots), watch, containers, snapshot.taken_at)
    watch = replace(
        watch,
        services=services,
        roots={one.service: one.root for one in services if one.root is not None},
        notes=tuple(dict.fromkeys((*watch.notes, *_notes(watch, desired, drift, snapshot)))),
        notes_of_look=(
            *find_other_files(containers, desired, since),
            *find_slower_starts(containers, events or {}, since, snapshot.taken_at),
        ),
        desired=desired,
        looks=watch.looks + 1,
    )
    return watch, _report(watch, snapshot.taken_at, since, desired)


def note(watch: Watch, text: str) -> Watch:
    """Return the state with one more thing to be told, once."""
    return watch if text in watch.notes else replace(watch, notes=(*watch.notes, text))


def give_up(watch: Watch, now: datetime, project: str, reason: str) -> VerifyReport:
    """Return the report of a window at whose end the host, or the files, could not be read: all that is not bad."""
    services = tuple(
        one
        if one.verdict is DeploymentVerdict.BAD
        else one.model_copy(update={"verdict": DeploymentVerdict.UNSURE, "message": f"Not known any more: {reason}"})
        for one in watch.services
    )
    verdict = overall(services) if services else DeploymentVerdict.UNSURE
    verdict = DeploymentVerdict.UNSURE if verdict is DeploymentVerdict.GOOD else verdict
    return VerifyReport(
        project=project,
        verdict=verdict,
        summary=summarise(project, services) if services else f"{project}: nothing is known: {reason}",
        since=watch.given_since or watch.begun or watch.watched_from,
        watched_from=watch.watched_from,
        watched_until=now,
        window_seconds=watch.window_seconds,
        services=services,
        notes=(*watch.notes, *watch.notes_of_look),
        config_files=watch.desired.config_files if watch.desired is not None else (),
        reason=reason,
    )


def _remember(watch: Watch, containers: list[ContainerFacts], diagnosis: tuple[DiagnosisReport, ...]) -> Watch:
    """Keep what the first look shows, and who was put in whose place since."""
    own = {one.short_id for one in containers}
    if watch.first_symptoms is None:
        first = {
            report.container_id: frozenset(symptom.type for symptom in report.symptoms)
            for report in diagnosis
            if report.container_id in own
        }
        return replace(watch, first_symptoms=first, earlier={identity_of(one): one for one in containers})
    replaced = dict(watch.replaced)
    for container in containers:
        before = watch.earlier.get(identity_of(container))
        if before is not None and before.id != container.id:
            replaced[container.id] = before
    return replace(watch, replaced=replaced)


def _find_unreplaced(watch: Watch, containers: list[ContainerFacts], since: datetime) -> frozenset[str]:
    """Return the containers of which it is known that they replaced none: they are older, or nothing was there."""
    return frozenset(
        one.id
        for one in containers
        if one.created_at + CLOCK_SLACK < since
        or (identity_of(one) not in watch.earlier and one.created_at >= watch.watched_from)
    )


def _find_before(
    watch: Watch, containers: list[ContainerFacts], diagnosis: tuple[DiagnosisReport, ...], since: datetime
) -> frozenset[tuple[str, SymptomType]]:
    """Return the symptoms that were there before the deployment: a state file knows, or the first look showed them.

    What a run shows that began with the deployment is new.
    """
    old = {one.short_id for one in containers if (one.started_at or one.created_at) < since}
    first = watch.first_symptoms or {}
    return frozenset(
        (report.container_id, symptom.type)
        for report in diagnosis
        for symptom in report.symptoms
        if report.container_id in old
        and (
            symptom.type in first.get(report.container_id, ())
            if symptom.first_seen is None
            else symptom.first_seen < since
        )
    )


def _with_roots_of_before(services: tuple[ServiceVerdict, ...], roots: Mapping[str, str]) -> tuple[ServiceVerdict, ...]:
    """Name the root that an earlier look has shown of a service that is still bad and of which none is seen now."""
    bad = {one.service for one in services if one.verdict is DeploymentVerdict.BAD}
    return tuple(
        one.model_copy(update={"root": roots[one.service]})
        if one.service in bad and one.root is None and roots.get(one.service) in bad
        else one
        for one in services
    )


def _keep_certain(
    services: tuple[ServiceVerdict, ...], watch: Watch, containers: list[ContainerFacts], now: datetime
) -> tuple[ServiceVerdict, ...]:
    """Let nothing be certain as long as something may be under way."""
    newest = newest_moment(containers)
    settled = now - watch.watched_from >= SETTLED_AFTER and (newest is None or now - newest >= QUIET_FOR)
    if settled:
        return services
    return tuple(one.model_copy(update={"certain": False}) for one in services)


def _notes(watch: Watch, desired: DesiredProject, drift: DriftReport, snapshot: HostSnapshot) -> list[str]:
    found = [one.message for one in drift.differences if one.drift_type is DriftType.EXTRA_CONTAINER]
    before = watch.desired
    if before is not None and (before.services, before.networks) != (desired.services, desired.networks):
        found.append("The Compose files changed while they were watched; judged is what they ask for now.")
    if "events" in snapshot.unread:
        found.append(f"Events could not be read at times: {snapshot.unread['events']}.")
    return found


def _report(watch: Watch, now: datetime, since: datetime, desired: DesiredProject) -> VerifyReport:
    verdict, reason = overall(watch.services), None
    summary = summarise(desired.name, watch.services)
    if desired.services is None:
        verdict, reason = DeploymentVerdict.UNSURE, desired.problem_detail or "the Compose files could not be resolved"
        summary = f"{desired.name}: nothing is known: {reason}"
    return VerifyReport(
        project=desired.name,
        verdict=verdict,
        summary=summary,
        since=since,
        watched_from=watch.watched_from,
        watched_until=now,
        window_seconds=watch.window_seconds,
        services=watch.services,
        notes=(*watch.notes, *watch.notes_of_look),
        config_files=desired.config_files,
        reason=reason,
    )
