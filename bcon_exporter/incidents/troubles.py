"""What is wrong on the host at one scan, and how each container lives: what incidents are made of."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bcon_exporter.diagnosis.rule import Hysteresis
from bcon_exporter.diagnosis.rules import RULE_OF
from bcon_exporter.incidents.changes import Attachments, list_attachments
from bcon_exporter.incidents.evidence import find_log_line
from bcon_exporter.memory import find_deploying
from bcon_exporter.memory.identity import identity_of
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus, HostSnapshot
from bcon_exporter.model.findings import (
    DriftType,
    LikelyCause,
    ServiceDrift,
    Severity,
    Suggestion,
    Symptom,
    SymptomType,
    Urgency,
)
from bcon_exporter.model.lifecycle import SELF_REMOVAL_TAKES
from bcon_exporter.model.naming import normalise_name
from bcon_exporter.model.reports import DiagnoseAllReport, DiagnosisReport, DriftReport, DriftStatus

ROOT_CONFIDENCE = 0.6
"""So sure must a cause be to make a container the root that shows no trouble of its own."""

DIFFERENCE_STANDS_FOR = timedelta(minutes=1)
"""Whoever makes, starts or takes down containers makes differences on the way; a failure shows symptoms at once."""

LOOKING_BACK = frozenset(kind for kind, rule in RULE_OF.items() if rule.hysteresis is Hysteresis.EVENT)
"""They stay for minutes after the last sign of them; of a container that runs, only new signs count. One that is
measured too is so now: a file system stays full while nobody writes to it."""


JOB_TOLD_FOR = timedelta(hours=23)
"""A job that has failed is told of until it ran well, or for so long: failed runs are remembered for a day."""
_INTERRUPTED = 130
"""Somebody has pressed Ctrl-C."""
_JOB_STEPS = (
    Suggestion(
        urgency=Urgency.SHORT_TERM,
        action="Read what the job wrote, if its timer kept it; else run it again without `--rm`, and read its log.",
        rationale="The engine removes a container's log with the container.",
    ),
)
_LEFT_DOWN = SymptomType.NOT_STARTED_AGAIN.value
_ENDS = (SymptomType.EXIT_ERROR, SymptomType.START_FAILED, SymptomType.OOM_KILLED)
_STAND = frozenset({SymptomType.NOT_STARTED_AGAIN, SymptomType.START_FAILED})
"""They go on until something is done about them, however mild they are called by then."""
_NOT_THERE = frozenset({DriftType.MISSING_SERVICE, DriftType.NOT_RUNNING})
_DOWN = frozenset({ContainerState.EXITED, ContainerState.CREATED, ContainerState.DEAD})


@dataclass(frozen=True, slots=True)
class Who:
    """A container, or a service that has none."""

    identity: str
    container: str | None
    project: str | None = None
    service: str | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with one of them.

    Attributes:
        severity: Of the worst of its symptoms and differences.
        codes: The worst first.
        root: Who explains it; None where nobody does.
        root_code: The id of the cause that names the root.
        log_line: Of a log, the one that decided; "" where none did.
        goes_on: Something of it is so now, and is not only remembered.
    """

    who: Who
    severity: Severity
    codes: tuple[str, ...]
    since: datetime
    root: Who | None = None
    root_code: str = ""
    causes: tuple[LikelyCause, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    evidence: tuple[str, ...] = ()
    log_line: str = ""
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Life:
    """How a container is.

    Attributes:
        is_well: It runs and is not unhealthy, or it ended and nothing is wrong with that.
        signs: When something bad was seen of it, in any order.
        is_history: It is down since a failure that is too old to be told: nothing has mended it.
        is_job: It runs and removes itself, again and again: a run that ended with 0 has mended the one before.
    """

    is_well: bool
    signs: tuple[datetime, ...] = ()
    is_history: bool = False
    is_job: bool = False


@dataclass(frozen=True, slots=True)
class HostTroubles:
    """One scan, as incidents see it.

    Attributes:
        troubles: One for each identity.
        lives: By identity; of all containers that are there.
        shutdown_ended_at: When the engine or its host came back last; None when that is not known.
        has_watched: False at the first scan of an exporter without a past: an earlier shutdown is no news to it.
        unknown_drift: Project of which no file could be read → its services that have a container → whether one runs.
        attachments: What containers may share.
        is_set_back: Our clock was set back since the scan before: signs that lie ahead of it now are old.
    """

    at: datetime
    troubles: tuple[Trouble, ...]
    lives: Mapping[str, Life] = field(default_factory=dict)
    shutdown_ended_at: datetime | None = None
    has_watched: bool = True
    unknown_drift: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    attachments: Attachments = field(default_factory=dict)
    is_set_back: bool = False


def find_troubles(  # noqa: PLR0913 -- all that a scan brings together
    report: DiagnoseAllReport,
    snapshot: HostSnapshot,
    drift: Iterable[DriftReport] = (),
    *,
    logged_errors_at: Mapping[str, datetime] | None = None,
    shutdown_ended_at: datetime | None = None,
    has_watched: bool = True,
    first_look_at: datetime | None = None,
    is_quiet: Callable[[ContainerFacts], bool] = lambda _: False,
) -> HostTroubles:
    """Return what a scan has found, by container and service.

    Args:
        report: With the full reports of all containers.
        snapshot: What it was made of.
        drift: The newest reports of all projects.
        logged_errors_at: Full container id → when its log last told of a failure.
        shutdown_ended_at: When the engine or its host came back last.
        has_watched: See `HostTroubles`.
        first_look_at: When the files were compared first by an exporter without a past: what differed then has done so
            for longer than a minute.
        is_quiet: Whether a container is quiet now: one that an engine has left down is then meant to be.
    """
    drift = tuple(drift)
    troubles, ill = _find_ill(report, snapshot, is_quiet)
    _add_differences(troubles, drift, snapshot, report.timestamp, first_look_at)
    history = {one.container_id for one in report.reports if _is_history(one)}
    lives = _find_lives(snapshot, ill, history, logged_errors_at or {})
    _add_jobs(troubles, lives, snapshot, report.timestamp)
    return HostTroubles(
        report.timestamp,
        tuple(troubles.values()),
        lives,
        shutdown_ended_at,
        has_watched,
        _find_unknown_drift(drift, snapshot),
        list_attachments(snapshot.containers),
    )


def _find_ill(
    report: DiagnoseAllReport, snapshot: HostSnapshot, is_quiet: Callable[[ContainerFacts], bool]
) -> tuple[dict[str, Trouble], set[str]]:
    """Return what the containers show, by identity, and the full ids of those that are ill."""
    facts = {container.short_id: container for container in snapshot.containers}
    by_name = {container.name: container for container in snapshot.containers}
    troubles: dict[str, Trouble] = {}
    ill: set[str] = set()
    for diagnosis in report.reports:
        container = facts.get(diagnosis.container_id) if diagnosis.symptoms else None
        if container is None or _is_meant_to_be_down(diagnosis, container, is_quiet):
            continue
        if _is_removing_itself(container, report.timestamp):
            continue
        trouble = _of_container(diagnosis, container, by_name)
        if trouble is not None:
            _add_trouble(troubles, trouble)
            if trouble.severity.rank >= Severity.ERROR.rank or _LEFT_DOWN in trouble.codes:
                ill.add(container.id)
    return troubles, ill


def _add_differences(
    troubles: dict[str, Trouble],
    drift: Iterable[DriftReport],
    snapshot: HostSnapshot,
    now: datetime,
    first_look_at: datetime | None,
) -> None:
    """Add what differs from the files of the projects that are up, as far as it does so now."""
    by_name = {container.name: container for container in snapshot.containers}
    deploying = find_deploying(snapshot)
    here = {(one.compose.project, one.compose.service) for one in snapshot.containers if one.compose is not None}
    for project in drift:
        if project.project_name in deploying or project.project_name not in {name for name, _ in here}:
            continue  # what is being made or started is not there yet, and what was taken down need not be
        for difference in project.differences:
            who = _who_differs(project, difference, by_name)
            is_stale = difference.drift_type is DriftType.NOT_RUNNING and (who.project, who.service) not in here
            is_stale |= difference.drift_type in _NOT_THERE and _runs_since(snapshot, who, project.timestamp)
            if difference.severity.rank >= Severity.ERROR.rank and not is_stale:
                _add_difference(troubles, who, difference, now, first_look_at)


def _add_jobs(troubles: dict[str, Trouble], lives: dict[str, Life], snapshot: HostSnapshot, now: datetime) -> None:
    """Add the jobs (`docker run --rm`) whose newest run has failed; no container is left of them."""
    here = {container.name for container in snapshot.containers}
    for run in sorted(snapshot.failed_runs, key=lambda run: run.ended_at, reverse=True):
        identity = f"job\x1f{run.job}"
        if identity in lives or run.name in here or run.exit_code == _INTERRUPTED:
            continue
        is_old = run.is_from_before or now - run.ended_at >= JOB_TOLD_FOR
        lives[identity] = Life(is_well=True, is_history=is_old and run.mended_at is None, is_job=True)
        if is_old or run.mended_at is not None:
            continue
        code = SymptomType.OOM_KILLED if run.oom else SymptomType.EXIT_ERROR
        with_code = "" if run.exit_code is None else f" with code {run.exit_code}"
        troubles[identity] = Trouble(
            Who(identity, run.job, run.project),
            Severity.ERROR,
            (code.value,),
            run.ended_at,
            suggestions=_JOB_STEPS,
            evidence=(f"{run.name}, a run of {run.image or 'an unknown image'}, ended{with_code} and removed itself",),
            goes_on=True,
        )


def _runs_since(snapshot: HostSnapshot, who: Who, compared_at: datetime) -> bool:
    """Whether all containers of a service run, one of them since its files were compared: what was missing is there."""
    own = [
        container
        for container in snapshot.containers
        if container.compose is not None
        and container.compose.is_replica
        and (container.compose.project, container.compose.service) == (who.project, who.service)
    ]
    starts = [container.started_at for container in own if container.started_at is not None]
    return all(container.is_running for container in own) and any(started > compared_at for started in starts)


def _is_meant_to_be_down(
    diagnosis: DiagnosisReport, container: ContainerFacts, is_quiet: Callable[[ContainerFacts], bool]
) -> bool:
    """Whether a person knows that an engine has left it down, and wants to hear no more of it."""
    shown = {symptom.type for symptom in diagnosis.symptoms if symptom.severity is not Severity.INFO}
    return shown == {SymptomType.NOT_STARTED_AGAIN} and is_quiet(container)


def _is_removing_itself(container: ContainerFacts, now: datetime) -> bool:
    """Whether the engine is about to remove it (`--rm`): the events tell in a moment whether that was a failed job."""
    ended = container.finished_at
    if not container.removes_itself or container.is_running or ended is None:
        return False
    return abs(now - ended) <= SELF_REMOVAL_TAKES


def _find_unknown_drift(drift: Iterable[DriftReport], snapshot: HostSnapshot) -> dict[str, dict[str, bool]]:
    """Return what `HostTroubles` says of projects that were not compared; one that was taken down is none of them."""
    unread = {one.project_name for one in drift if one.status is DriftStatus.UNKNOWN and not one.services}
    found: dict[str, dict[str, bool]] = {}
    for container in snapshot.containers if unread else ():
        claim = container.compose
        if claim is not None and claim.is_replica and claim.project in unread:
            services = found.setdefault(claim.project, {})
            services[claim.service] = services.get(claim.service, False) or container.is_running
    return found


def _who(container: ContainerFacts) -> Who:
    compose = container.compose
    if compose is None:
        return Who(identity_of(container), container.name)
    return Who(identity_of(container), normalise_name(container.name), compose.project, compose.service)


def _of_container(
    diagnosis: DiagnosisReport, container: ContainerFacts, by_name: Mapping[str, ContainerFacts]
) -> Trouble | None:
    symptoms = sorted(
        (symptom for symptom in diagnosis.symptoms if symptom.severity is not Severity.INFO),
        key=lambda symptom: -symptom.severity.rank,
    )
    if not symptoms:
        return None
    root = by_name.get(diagnosis.root or "")
    naming = next((cause for cause in diagnosis.likely_causes if cause.peer == diagnosis.root), None)
    is_sure = naming is not None and naming.confidence >= ROOT_CONFIDENCE
    return Trouble(
        who=_who(container),
        severity=symptoms[0].severity,
        codes=tuple(symptom.type.value for symptom in symptoms),
        since=min(symptom.first_seen or symptom.detected_at for symptom in symptoms),
        root=_who(root) if root is not None else _find_removed(diagnosis, container),
        root_code=naming.id if naming is not None and is_sure else "",
        causes=diagnosis.likely_causes,
        suggestions=diagnosis.suggestions,
        evidence=tuple(line for symptom in symptoms for line in symptom.evidence),
        log_line=find_log_line(diagnosis, container, by_name),
        goes_on=any(_goes_on(symptom) for symptom in symptoms),
    )


def _find_removed(diagnosis: DiagnosisReport, client: ContainerFacts) -> Who | None:
    """Return the root that was removed: the service that is missing in the client's project, else by its name."""
    name = normalise_name(diagnosis.root or "")
    if not name:
        return None
    project = client.compose.project if client.compose is not None else None
    service, _, number = name.removeprefix(f"{project}-").rpartition("-")
    if project is None or not name.startswith(f"{project}-") or not service or not number.isdecimal():
        return Who(f"removed\x1f{name}", name)
    return Who(f"{project}\x1f{service}", None, project, service)


def _add_trouble(troubles: dict[str, Trouble], trouble: Trouble) -> None:
    """Add what a container shows; of two that claim the same identity the worse one speaks for both."""
    identity = trouble.who.identity
    known = troubles.get(identity)
    if known is None:
        troubles[identity] = trouble
        return
    worse, other = (trouble, known) if trouble.severity.rank > known.severity.rank else (known, trouble)
    troubles[identity] = replace(
        worse,
        codes=tuple(dict.fromkeys((*worse.codes, *other.codes))),
        since=min(worse.since, other.since),
        evidence=tuple(dict.fromkeys((*worse.evidence, *other.evidence))),
        log_line=worse.log_line or other.log_line,
        goes_on=worse.goes_on or other.goes_on,
    )


def _goes_on(symptom: Symptom) -> bool:
    is_now = not symptom.is_held and (symptom.type not in LOOKING_BACK or symptom.measured_now)
    return is_now and (symptom.severity.rank >= Severity.ERROR.rank or symptom.type in _STAND)


def _who_differs(project: DriftReport, difference: ServiceDrift, by_name: Mapping[str, ContainerFacts]) -> Who:
    name = difference.container_name
    if name is not None and name in by_name:
        return _who(by_name[name])
    identity = f"{project.project_name}\x1f{difference.service_name}"
    return Who(identity, None, project.project_name, difference.service_name)


def _add_difference(
    troubles: dict[str, Trouble], who: Who, difference: ServiceDrift, now: datetime, first_look_at: datetime | None
) -> None:
    """Add a difference to what is wrong with the service's container already, or as a trouble of its own."""
    code = difference.drift_type.value
    known = troubles.get(who.identity) or _find_of_service(troubles.values(), who)
    if known is not None:
        worst = max((known.severity, difference.severity), key=lambda severity: severity.rank)
        codes = tuple(dict.fromkeys((*known.codes, code)))
        troubles[known.who.identity] = replace(known, codes=codes, severity=worst, goes_on=True)
        return
    since = difference.first_seen or now
    stood_before = first_look_at is not None and since <= first_look_at
    if difference.first_seen is None or stood_before or now - since >= DIFFERENCE_STANDS_FOR:
        evidence = (difference.message,)
        troubles[who.identity] = Trouble(who, difference.severity, (code,), since, evidence=evidence, goes_on=True)


def _find_of_service(troubles: Iterable[Trouble], who: Who) -> Trouble | None:
    if who.container is not None:
        return None
    own = (who.project, who.service)
    return next((trouble for trouble in troubles if (trouble.who.project, trouble.who.service) == own), None)


def _find_lives(
    snapshot: HostSnapshot, ill: Collection[str], history: Collection[str], logged_errors_at: Mapping[str, datetime]
) -> dict[str, Life]:
    """Return how each identity is; of two containers that claim the same one, both must be well.

    Args:
        snapshot: With the containers.
        ill: Full ids of those with a symptom that is an error or worse.
        history: Short ids of those that are down since a failure of long ago.
        logged_errors_at: See `find_troubles`.
    """
    lives: dict[str, Life] = {}
    for container in snapshot.containers:
        identity = identity_of(container)
        life = Life(
            _is_well(container, is_ill=container.id in ill),
            _find_signs(container, logged_errors_at.get(container.id)),
            is_history=container.short_id in history and _has_failed(container),
        )
        other = lives.get(identity)
        if other is not None:
            is_history = life.is_history or other.is_history
            life = Life(life.is_well and other.is_well, (*other.signs, *life.signs), is_history=is_history)
        lives[identity] = life
    return lives


def _is_history(diagnosis: DiagnosisReport) -> bool:
    """Whether it is down, and all that is said of that failure is that it was."""
    failed = [symptom for symptom in diagnosis.symptoms if symptom.type in _ENDS]
    is_told = any(symptom.severity is not Severity.INFO for symptom in diagnosis.symptoms)
    return diagnosis.state in _DOWN and bool(failed) and not is_told


def _has_failed(container: ContainerFacts) -> bool:
    """Whether its last end is known not to have been asked for, or it never ran."""
    lifecycle = container.lifecycle
    return container.started_at is None or (lifecycle is not None and lifecycle.stop_requested is False)


def _is_well(container: ContainerFacts, *, is_ill: bool) -> bool:
    if container.state is ContainerState.RUNNING:
        return container.health is None or container.health.status is not HealthStatus.UNHEALTHY
    return not is_ill and container.state is not ContainerState.PAUSED


def _find_signs(container: ContainerFacts, logged_at: datetime | None) -> tuple[datetime, ...]:
    """Return when it crashed, lost a process to the OOM killer, changed its health, or logged a failure last."""
    logged = () if logged_at is None else (logged_at,)
    if container.lifecycle is None:
        return logged
    past = container.lifecycle
    crashes = (end.at for end in past.exits if not (end.requested or end.shutdown) and end.exit_code != 0)
    return (*logged, *crashes, *past.restarts, *past.oom_kills, *past.health_changes)
