"""Judges one moment of a deployment: what the diagnosis, the drift and the past of its containers say together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bcon_exporter.deployments.verify.changes import find_changes, find_remembered_changes
from bcon_exporter.deployments.verify.dependencies import Replicas, find_dependency
from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule
from bcon_exporter.deployments.verify.rules import VERIFY_RULES
from bcon_exporter.deployments.verify.unknown_health import explain_unknown_health
from bcon_exporter.diagnosis.last_exit import is_wanted
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HostSnapshot
from bcon_exporter.model.desired import DesiredProject, DesiredService
from bcon_exporter.model.findings import STATUS_RANK, SymptomType
from bcon_exporter.model.hooks import group_hooks
from bcon_exporter.model.quantities import show_count
from bcon_exporter.model.reports import DiagnosisReport, DriftReport
from bcon_exporter.model.rule_faults import describe_fault
from bcon_exporter.model.verify_report import DeploymentVerdict, ServiceVerdict, VerifyCode

PEER_NOT_LISTENING = "peer_not_listening"
"""The cause by which the log of one container tells that the port of another refuses."""
_BY_HOOK = (VerifyCode.HOOK_FAILED, VerifyCode.WAITS_FOR)
_ENDED_FOR_GOOD = frozenset(
    {
        VerifyCode.START_FAILED,
        VerifyCode.OOM_KILLED,
        VerifyCode.ONE_SHOT_FAILED,
        VerifyCode.CRASH_LOOP,
        VerifyCode.CRASHED,
    }
)
_EVIDENCE_LINES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look at the host shows of a deployment.

    Attributes:
        diagnosis: Reports of every container that was judged.
        since: When the deployment began.
        before: Short id and symptom of what was there before it.
        replaced: Full id → the container in whose place it was put.
        unreplaced: Full ids of those that are known to have replaced none, or were there when the watch began and ran
            before the deployment.
    """

    snapshot: HostSnapshot
    desired: DesiredProject
    drift: DriftReport
    diagnosis: tuple[DiagnosisReport, ...]
    since: datetime
    before: frozenset[tuple[str, SymptomType]] = frozenset()
    replaced: Mapping[str, ContainerFacts] = field(default_factory=dict)
    unreplaced: frozenset[str] = frozenset()


def judge(look: Look) -> tuple[ServiceVerdict, ...]:
    """Return the verdict of each service that is wanted now: bad ones first, each root before those it explains."""
    replicas = replicas_of(look.desired.name, look.snapshot)
    hooks = {
        service: found
        for (project, service), found in group_hooks(look.snapshot.containers).items()
        if project == look.desired.name
    }
    services = [service for service in look.desired.services or () if service.enabled]
    reports = {report.container_id: report for report in look.diagnosis}
    verdicts = {service.name: _judge_service(service, look, replicas, hooks, reports) for service in services}
    return tuple(sorted(_with_roots(verdicts, replicas, hooks, reports), key=_worst_first))


def replicas_of(project: str, snapshot: HostSnapshot) -> Replicas:
    """Return the containers of a project by service, lowest number first, without one-off runs."""
    found: dict[str, list[ContainerFacts]] = {}
    for container in snapshot.containers:
        claim = container.compose
        if claim is not None and claim.project == project and claim.is_replica and claim.config_hash is not None:
            found.setdefault(claim.service, []).append(container)
    return {
        service: sorted(containers, key=lambda one: (one.compose.number if one.compose else 0, one.name))
        for service, containers in found.items()
    }


def overall(services: Iterable[ServiceVerdict]) -> DeploymentVerdict:
    """Return the verdict of the whole: bad beats unsure."""
    verdicts = {service.verdict for service in services}
    return next((verdict for verdict in DeploymentVerdict if verdict in verdicts), DeploymentVerdict.GOOD)


def summarise(project: str, services: Sequence[ServiceVerdict]) -> str:
    """Return the whole in one line: how many of what, and the roots."""
    bad = [one for one in services if one.verdict is DeploymentVerdict.BAD]
    unsure = [one for one in services if one.verdict is DeploymentVerdict.UNSURE]
    if not bad and not unsure:
        return f"{project}: all of {show_count(len(services), 'service')} did what the files ask for."
    if not bad:
        return f"{project}: it is not known yet of {show_count(len(unsure), 'service')}: {_names(unsure)}."
    roots = [one for one in bad if one.root is None]
    first = f" Begin with {_names(roots)}." if roots and len(roots) < len(bad) else ""
    return f"{project}: {show_count(len(bad), 'service')} of {len(services)} failed: {_names(bad)}.{first}"


def _names(services: Sequence[ServiceVerdict]) -> str:
    return ", ".join(one.service for one in services[:5]) + (", ..." if len(services) > 5 else "")  # noqa: PLR2004 -- a line


def _judge_service(
    service: DesiredService,
    look: Look,
    replicas: Replicas,
    hooks: Replicas,
    reports: Mapping[str, DiagnosisReport],
) -> ServiceVerdict:
    containers = tuple(replicas.get(service.name, ()))
    own = {one.short_id: reports[one.short_id] for one in containers if one.short_id in reports}
    own_hooks = tuple(hooks.get(service.name, ()))
    of_hooks = {one.short_id: reports[one.short_id] for one in own_hooks if one.short_id in reports}
    case = ServiceCase(
        service=service,
        since=look.since,
        now=look.snapshot.taken_at,
        containers=containers,
        hooks=own_hooks,
        reports=own,
        hook_reports=of_hooks,
        differences=tuple(one for one in look.drift.differences if one.service_name == service.name),
        before=look.before,
        refused_by=tuple(_refusals(containers, look.diagnosis)),
        dependency=find_dependency(containers, replicas),
        doubt=_doubt_of_drift(service.name, look.drift),
    )
    changes, seen = _changes(containers, look)
    found, failed = find_first(case)
    if found is not None:
        verdict, code, message = DeploymentVerdict.BAD, found[0], found[1]
    elif failed is not None:
        verdict, code, message = DeploymentVerdict.UNSURE, None, f"The rule {failed} failed; please report this."
    elif (doubt := explain_unknown_health(case)) is not None:
        verdict, code, message = DeploymentVerdict.UNSURE, None, doubt
    else:
        verdict, code, message = DeploymentVerdict.GOOD, None, _well(case)
    by_hook = of_hooks if code in _BY_HOOK and (case.failed_hook or case.ailing_hook) else {}
    worst = max((by_hook or own).values(), key=lambda report: STATUS_RANK[report.status], default=None)
    bad = verdict is DeploymentVerdict.BAD
    return ServiceVerdict(
        service=service.name,
        verdict=verdict,
        code=code,
        message=message,
        certain=_is_certain(case, code, verdict),
        causes=worst.likely_causes if worst is not None and bad else (),
        evidence=_evidence(worst) if worst is not None and bad else (),
        changes=changes,
        changes_known=seen,
        containers=tuple(one.name for one in containers),
    )


def find_first(
    case: ServiceCase, rules: Sequence[VerifyRule] = VERIFY_RULES
) -> tuple[tuple[VerifyCode, str] | None, str | None]:
    """Return the most specific code that holds with its sentence, and which rule raised first: a defect of ours."""
    failed = None
    for rule in rules:
        try:
            text = rule.find(case)
        except Exception as error:  # noqa: BLE001 -- the rule boundary: what the others find must not be hidden
            failed = failed or describe_fault(rule.code, error)
            continue
        if text is not None:
            return (rule.code, text), failed
    return None, failed


def _well(case: ServiceCase) -> str:
    if not case.service.replicas:
        return "The files ask for no container of it."
    if all(one.state is ContainerState.EXITED for one in case.containers):
        return "It has done its work and ended with 0."
    healthy = " and healthy" if any(one.health is not None for one in case.containers) else ""
    return f"{show_count(len(case.containers), 'container')} running{healthy}."


def _evidence(report: DiagnosisReport) -> tuple[str, ...]:
    lines = dict.fromkeys(line for symptom in report.symptoms for line in symptom.evidence)
    return tuple(lines)[-_EVIDENCE_LINES:]


def _refusals(containers: Sequence[ContainerFacts], diagnosis: Iterable[DiagnosisReport]) -> Iterable[str]:
    """Yield what the diagnosis of others says of a port of these containers on which nobody listens."""
    names = {one.name for one in containers if one.state is ContainerState.RUNNING}
    for report in diagnosis:
        for cause in report.likely_causes[:1]:
            if cause.id == PEER_NOT_LISTENING and cause.peer in names and report.container_name not in names:
                yield f"{report.container_name} found nobody at its port: {cause.description}"


def _doubt_of_drift(service: str, drift: DriftReport) -> str | None:
    """Return why a service could not be compared with the files."""
    doubt = next((one for one in drift.doubts if one.service_name == service), None)
    if doubt is not None:
        return f"Whether it is as the files ask is not known: {drift.unknown_detail or doubt.message}"
    if any(one.service_name == service and one.unread for one in drift.services):
        return "What its containers are made of could not be read."
    if drift.rule_errors:
        return f"A rule of the comparison failed: {', '.join(drift.rule_errors)}."
    return None


def _changes(containers: Sequence[ContainerFacts], look: Look) -> tuple[tuple[str, ...], bool]:
    """Return the changes of the first replica that was put in another's place, and whether they are known."""
    for container in containers:
        if container.id in look.replaced:
            return find_changes(look.replaced[container.id], container), True
    if all(container.id in look.unreplaced for container in containers):
        return (), True
    return tuple(find_remembered_changes(containers[0])), False


def _is_certain(case: ServiceCase, code: VerifyCode | None, verdict: DeploymentVerdict) -> bool:
    """Whether nothing changes it any more: all that it has ended, and nothing starts it again."""
    over = bool(case.containers) and all(map(_is_over, case.containers))
    if verdict is DeploymentVerdict.GOOD:
        return over or not (case.service.replicas or case.containers)
    if code is VerifyCode.WAITS_FOR:
        return case.dependency is not None and case.dependency.is_final
    if code is VerifyCode.HOOK_FAILED:
        return case.failed_hook is not None
    return over and code in _ENDED_FOR_GOOD


def _is_over(container: ContainerFacts) -> bool:
    """Whether it has ended, or could not be started, and its restart policy leaves it there."""
    if container.state is ContainerState.CREATED:
        return bool(container.error)
    if container.state is not ContainerState.EXITED:
        return False
    on_failure = (container.restart_policy or "").startswith("on-failure")
    return not is_wanted(container) or (on_failure and container.exit_code == 0)


def _with_roots(
    verdicts: Mapping[str, ServiceVerdict],
    replicas: Replicas,
    hooks: Replicas,
    reports: Mapping[str, DiagnosisReport],
) -> Iterable[ServiceVerdict]:
    service_of = {
        one.name: service for of in (replicas, hooks) for service, containers in of.items() for one in containers
    }
    for name, verdict in verdicts.items():
        if verdict.verdict is not DeploymentVerdict.BAD:
            yield verdict
            continue
        own_hooks = hooks.get(name, ()) if verdict.code in _BY_HOOK else ()
        by_hook = _root_of(own_hooks, reports, service_of)
        if by_hook is not None:
            root: str | None = by_hook
        elif verdict.code is VerifyCode.WAITS_FOR:
            dependency = find_dependency(replicas.get(name, ()), replicas)
            root = dependency.root if dependency is not None else None
            behind = _root_of((*replicas.get(root or "", ()), *hooks.get(root or "", ())), reports, service_of)
            root = behind or root
        else:
            root = _root_of(replicas.get(name, ()), reports, service_of)
        yield verdict.model_copy(update={"root": root if root != name else None})


def _root_of(
    containers: Sequence[ContainerFacts], reports: Mapping[str, DiagnosisReport], service_of: Mapping[str, str]
) -> str | None:
    """Return the service, or the container outside of the project, that the diagnosis names as the root."""
    for container in containers:
        report = reports.get(container.short_id)
        if report is None:
            continue
        root = report.root
        if root is None and report.likely_causes and report.likely_causes[0].id == PEER_NOT_LISTENING:
            root = report.likely_causes[0].peer
        if root is not None:
            return service_of.get(root, root)
    return None


_RANKS = {verdict: rank for rank, verdict in enumerate(DeploymentVerdict)}


def _worst_first(verdict: ServiceVerdict) -> tuple[int, str, bool, str]:
    """Return what to sort by: bad, unsure, good; a root stands before those that suffer from it."""
    return _RANKS[verdict.verdict], verdict.root or verdict.service, verdict.root is not None, verdict.service
