"""Runs every symptom rule on every container of a snapshot, and puts the verdicts into reports."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from bcon_exporter.diagnosis.causes import Conclusion, conclude, never_silent, with_remembered
from bcon_exporter.diagnosis.failure import Failure
from bcon_exporter.diagnosis.holds import hold_symptoms, keep_until_over
from bcon_exporter.diagnosis.log_reader import LogReader
from bcon_exporter.diagnosis.neighbours import Neighbours
from bcon_exporter.diagnosis.peer_state import Around
from bcon_exporter.diagnosis.policy import LabelOrders, Policy, read_labels
from bcon_exporter.diagnosis.rejections import find_denied
from bcon_exporter.diagnosis.removed import remember
from bcon_exporter.diagnosis.roots import explained_by, find_roots, root_causes
from bcon_exporter.diagnosis.rule import Case, SymptomRule, Verdicts, missing_facts, unknown
from bcon_exporter.diagnosis.rules import RULE_OF, SYMPTOM_RULES
from bcon_exporter.diagnosis.shutdowns import find_shutdowns
from bcon_exporter.diagnosis.signs import failures_in, signs_of
from bcon_exporter.diagnosis.wording import Place, explain_report, summarise_report, top_issue
from bcon_exporter.errors import ContainerNotFoundError
from bcon_exporter.model.facts import ContainerFacts, ContainerState, HostSnapshot
from bcon_exporter.model.findings import NotEvaluated, Severity, Symptom, SymptomType
from bcon_exporter.model.holds import Hold, HoldState, Told
from bcon_exporter.model.reports import ContainerHealthSummary, DiagnoseAllReport, DiagnosisReport, RootCause, Status
from bcon_exporter.model.signatures import Catalogue
from bcon_exporter.model.thresholds import Thresholds

_STATUS: dict[Severity, Status] = {
    Severity.INFO: "healthy",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
    Severity.CRITICAL: "critical",
}
_RANK = {status: rank for rank, status in enumerate(("critical", "error", "warning", "healthy"))}
NO_TIME = "the scan's time was over before this container was judged"
NO_TIME_FOR_CAUSES = "The scan's time was over before causes were looked for."
_NO_HOLDS: Mapping[SymptomType, Hold] = MappingProxyType({})


_ALL_WELL = Verdicts()
_NO_CAUSES = Conclusion()
_HURRIED = Conclusion(hurried=True)
_NOTHING_TOLD = Told()


def diagnose_host(  # noqa: PLR0913 -- the station's one way in
    snapshot: HostSnapshot,
    thresholds: Thresholds,
    catalogue: Catalogue,
    holds: HoldState | None = None,
    policy: Policy | None = None,
    *,
    log_reader: LogReader | None = None,
    rules: Sequence[SymptomRule] = SYMPTOM_RULES,
    is_overdue: Callable[[], bool] = lambda: False,
    is_over: Callable[[], bool] = lambda: False,
) -> tuple[DiagnoseAllReport, HoldState]:
    """Diagnose every container that the policy admits.

    Args:
        snapshot: Facts of one host; `taken_at` is "now".
        thresholds: Before the containers' own labels.
        catalogue: Signatures for the logs.
        holds: What earlier scans left to be held; None for a first or a single run.
        policy: Filters; None judges all.
        log_reader: Of the scans before this one; None for a first or a single run.
        rules: In report order.
        is_overdue: Asked before each container; once True, no rule is evaluated any more, and the report says so.
        is_over: Asked before each container with symptoms; once True, no causes are looked for any more, and the report
            says so.

    Returns:
        The report with every container's own report in `reports` (snapshot order) and the unhealthy ones in
        `summaries` (worst first), and the holds for the next scan.
    """
    holds = holds if holds is not None else HoldState()
    log_reader = log_reader or LogReader()
    terms = _Terms(thresholds, catalogue, policy or Policy(), rules, log_reader, is_overdue, is_over)
    remembered = remember(snapshot, holds.remembered)
    neighbours = Neighbours(snapshot, remembered)
    judged, after = _judge_all(snapshot, terms, holds.holds, neighbours)
    log_reader.end_scan()
    reports, roots, points_to, hurried = _conclude_all(snapshot, terms, judged, holds.told, neighbours)
    told = {one: Told(reports[one].likely_causes, reports[one].suggestions, points_to.get(one)) for one in after}
    report = _host_report(snapshot, list(reports.values()), roots, hurried)
    return report, HoldState(MappingProxyType(after), MappingProxyType(told), remembered)


def diagnose_one(
    snapshot: HostSnapshot,
    container_id: str,
    thresholds: Thresholds,
    catalogue: Catalogue,
    policy: Policy | None = None,
) -> DiagnosisReport:
    """Diagnose one container by its full id, even one that filters leave out.

    Raises:
        ContainerNotFoundError: The snapshot does not hold it.
    """
    if all(one.id != container_id for one in snapshot.containers):
        msg = "The container is not there any more. List the containers to see which are."
        raise ContainerNotFoundError(msg, {"container_id": container_id[:64]})
    # The others are judged too: they may be why this one is ill, or ill because of it.
    terms = _Terms(thresholds, catalogue, policy or Policy(), SYMPTOM_RULES, LogReader())
    neighbours = Neighbours(snapshot)
    judged, _ = _judge_all(snapshot, terms, {}, neighbours, always=container_id)
    reports, *_ = _conclude_all(snapshot, terms, judged, {}, neighbours)
    return reports[container_id]


class _Terms(NamedTuple):
    """What all containers are judged by."""

    thresholds: Thresholds
    catalogue: Catalogue
    policy: Policy
    rules: Sequence[SymptomRule]
    log_reader: LogReader
    is_overdue: Callable[[], bool] = lambda: False
    is_over: Callable[[], bool] = lambda: False


class _Judged(NamedTuple):
    """One container with its verdicts, before causes are looked for."""

    case: Case
    orders: LabelOrders
    verdicts: Verdicts


def _judge_all(
    snapshot: HostSnapshot,
    terms: _Terms,
    before: Mapping[str, Mapping[SymptomType, Hold]],
    neighbours: Neighbours,
    always: str | None = None,
) -> tuple[dict[str, _Judged], dict[str, Mapping[SymptomType, Hold]]]:
    """Ask the rules about every container that the policy admits; return the verdicts by id, and the holds."""
    shutdowns = find_shutdowns(snapshot)
    judged: dict[str, _Judged] = {}
    after: dict[str, Mapping[SymptomType, Hold]] = {}
    overdue = False
    for container in snapshot.containers:
        if container.id != always and not terms.policy.admits(container):
            continue
        orders = read_labels(container.labels, terms.thresholds)
        case = Case(
            container=container,
            host=snapshot,
            thresholds=orders.thresholds,
            catalogue=terms.catalogue,
            use_logs=terms.policy.use_logs,
            shutdowns=shutdowns,
            neighbours=neighbours,
            log_reader=terms.log_reader,
        )
        overdue = overdue or terms.is_overdue()
        verdicts = _unjudged(case, terms.rules) if overdue else judge(case, terms.rules, orders.ignored)
        verdicts, held = _hold(verdicts, case, before.get(container.id, _NO_HOLDS), orders)
        if held:
            after[container.id] = held
        judged[container.id] = _Judged(case, orders, verdicts)
    return judged, after


def _conclude_all(
    snapshot: HostSnapshot,
    terms: _Terms,
    judged: Mapping[str, _Judged],
    told: Mapping[str, Told],
    neighbours: Neighbours,
) -> tuple[dict[str, DiagnosisReport], tuple[RootCause, ...], dict[str, str], list[str]]:
    """Look for the causes of all symptoms, across containers.

    `told` is what the last scan said about containers whose symptoms are held.

    Returns:
        The reports by id, the roots, who points to whom, and for whom there was no time.
    """
    symptoms = {container_id: one.verdicts.symptoms for container_id, one in judged.items() if one.verdicts.symptoms}
    shutdowns = next((one.case.shutdowns for one in judged.values()), ())
    cases = {one: judged[one].case for one in symptoms}
    denying = frozenset(one for one, case in cases.items() if case.only_denies)
    around = Around(
        now=snapshot.taken_at,
        thresholds=terms.thresholds,
        symptoms=symptoms,
        shutdowns=shutdowns,
        engine_started_at=snapshot.engine_started_at,
        removed=frozenset(container.id for container in neighbours.removed),
        denying=denying,
        denied=find_denied(_failed_connections(cases, symptoms), neighbours) if denying else {},
        first_full={one: at for one, case in cases.items() if (at := case.full_since) is not None},
    )
    found = {}
    over = False
    for one, shown in symptoms.items():
        case, verdicts = judged[one].case, judged[one].verdicts
        over = over or terms.is_over()
        fresh = _HURRIED if over else conclude(case, shown, terms.rules, neighbours, around)
        found[one] = never_silent(with_remembered(fresh, told.get(one, _NOTHING_TOLD), case, verdicts), shown)
    names = {container.id: container.name for container in (*neighbours.removed, *snapshot.containers)}
    points_to = {one: said.points_to for one, said in found.items() if said.points_to in names}
    roots = find_roots(points_to, {one: found[one].causes[0].confidence for one in points_to if found[one].causes})
    explained = explained_by(roots, names)
    reports = {}
    for container_id, (case, orders, verdicts) in judged.items():
        place = Place(names.get(roots.get(container_id, "")), explained.get(container_id, ()))
        reports[container_id] = _report(case, verdicts, orders, found.get(container_id, _NO_CAUSES), place)
    issues = {
        root: top_issue(reports[root].symptoms, reports[root].likely_causes) for root in explained if root in reports
    }
    return (
        reports,
        root_causes(explained, reports, issues, names),
        points_to,
        [one for one, said in found.items() if said.hurried],
    )


def _failed_connections(
    cases: Mapping[str, Case], symptoms: Mapping[str, Sequence[Symptom]]
) -> list[tuple[ContainerFacts, list[Failure]]]:
    """The failed connections of each container that has symptoms."""
    return [(case.container, failures_in(signs_of(case, symptoms[one]))) for one, case in cases.items()]


def judge(case: Case, rules: Sequence[SymptomRule], ignored: frozenset[SymptomType] = frozenset()) -> Verdicts:
    """Ask every rule that applies; one that raises is named and does not stop the others."""
    symptoms: list[Symptom] = []
    not_evaluated: list[NotEvaluated] = []
    errors: list[SymptomType] = []
    for rule in _rules_for(case.container.state, tuple(rules)):
        if rule.type in ignored:
            continue
        try:
            verdict = _verdict(rule, case)
        except Exception:  # noqa: BLE001 - the rule boundary: one bad rule must not hide the others' verdicts
            errors.append(rule.type)
            continue
        if verdict is None:
            continue
        if isinstance(verdict, Symptom):
            symptoms.append(verdict)
        else:
            not_evaluated.append(verdict)
    if not (symptoms or not_evaluated or errors):
        return _ALL_WELL
    return Verdicts(tuple(symptoms), tuple(not_evaluated), tuple(errors))


def _unjudged(case: Case, rules: Sequence[SymptomRule]) -> Verdicts:
    """Say of every rule that applies that there was no time for it."""
    applying = _rules_for(case.container.state, tuple(rules))
    return Verdicts((), tuple(NotEvaluated(symptom=rule.type, missing=(), reason=NO_TIME) for rule in applying), ())


@lru_cache(maxsize=64)
def _rules_for(state: ContainerState, rules: tuple[SymptomRule, ...]) -> tuple[SymptomRule, ...]:
    return tuple(rule for rule in rules if state in rule.states)


def _verdict(rule: SymptomRule, case: Case) -> Symptom | NotEvaluated | None:
    if rule.applies is not None and not rule.applies(case):
        return None
    if rule.needs:
        missing = missing_facts(case.container, rule.needs)
        if missing:
            return unknown(case, rule.type, missing)
    return rule.judge(case)


def _hold(
    verdicts: Verdicts, case: Case, before: Mapping[SymptomType, Hold], orders: LabelOrders
) -> tuple[Verdicts, Mapping[SymptomType, Hold]]:
    if not before and not verdicts.symptoms:
        return verdicts, _NO_HOLDS
    wanted = {kind: hold for kind, hold in before.items() if kind not in orders.ignored}
    unclear = (*(entry.symptom for entry in verdicts.not_evaluated), *verdicts.rule_errors)
    wanted = keep_until_over(wanted, case.is_over, case.thresholds)
    step = hold_symptoms(verdicts.symptoms, unclear, case.container, case.now, case.thresholds, wanted)
    held = frozenset(one.type for one in step.symptoms) - {one.type for one in verdicts.symptoms}
    return verdicts._replace(symptoms=step.symptoms, held=held), step.holds


def _report(
    case: Case, verdicts: Verdicts, orders: LabelOrders, conclusion: Conclusion, place: Place
) -> DiagnosisReport:
    container, symptoms, causes = case.container, verdicts.symptoms, conclusion.causes
    started = container.started_at if container.is_running else None
    status, checked = status_of(symptoms), is_checked(verdicts)
    notices = (*orders.notices, NO_TIME_FOR_CAUSES) if conclusion.hurried else orders.notices
    return DiagnosisReport(
        container_id=container.short_id,
        container_name=container.name,
        timestamp=case.now,
        state=container.state,
        uptime=None if started is None else max(0.0, (case.now - started).total_seconds()),
        status=status,
        checked=checked,
        symptoms=symptoms,
        likely_causes=causes,
        suggestions=conclusion.suggestions,
        summary=summarise_report(case, status, verdicts, causes, checked=checked),
        detailed_explanation=explain_report(case, symptoms, causes, verdicts.not_evaluated, notices, place),
        not_evaluated=verdicts.not_evaluated,
        rule_errors=verdicts.rule_errors,
        project=container.compose.project if container.compose is not None else None,
        service=container.compose.service if container.compose is not None else None,
        root=place.root,
        explains=place.explains,
    )


def is_checked(verdicts: Verdicts) -> bool:
    """Whether all rules that decide could be judged."""
    if not (verdicts.not_evaluated or verdicts.rule_errors):
        return True
    unjudged = {entry.symptom for entry in verdicts.not_evaluated}.union(verdicts.rule_errors)
    return not any(RULE_OF[symptom].decides for symptom in unjudged)


def status_of(symptoms: Sequence[Symptom]) -> Status:
    """The worst symptom's severity; info counts as healthy."""
    if not symptoms:
        return "healthy"
    return _STATUS[max((symptom.severity for symptom in symptoms), key=lambda severity: severity.rank)]


def _host_report(
    snapshot: HostSnapshot, reports: list[DiagnosisReport], roots: tuple[RootCause, ...], hurried: Sequence[str]
) -> DiagnoseAllReport:
    counts = dict.fromkeys(_RANK, 0)
    for report in reports:
        counts[report.status] += 1
    ailing = sorted((report for report in reports if report.status != "healthy"), key=_worst_first)
    names = {container.id: container.name for container in snapshot.containers}
    unread = [names.get(one, one[:12]) for one in (*snapshot.incomplete, *hurried)]
    unjudged = [one.container_name for one in reports if any(rule.reason == NO_TIME for rule in one.not_evaluated)]
    unchecked = sorted((report for report in reports if report.is_unchecked), key=_worst_first)
    return DiagnoseAllReport(
        timestamp=snapshot.taken_at,
        total_containers=len(reports),
        healthy=counts["healthy"],
        warning=counts["warning"],
        error=counts["error"],
        critical=counts["critical"],
        not_checked=len(unchecked),
        unchecked=tuple(summary_of(report) for report in unchecked),
        summaries=tuple(summary_of(report) for report in ailing),
        ignored=len(snapshot.containers) - len(reports),
        incomplete=tuple(dict.fromkeys([*unread, *unjudged])),
        unread=dict(snapshot.unread),
        roots=roots,
        reports=tuple(reports),
    )


def summary_of(report: DiagnosisReport) -> ContainerHealthSummary:
    """One container's line in the host's report."""
    return ContainerHealthSummary(
        container_id=report.container_id,
        container_name=report.container_name,
        status=report.status,
        checked=report.checked,
        top_issue=top_issue(report.symptoms, report.likely_causes),
        root=report.root,
    )


def _worst_first(report: DiagnosisReport) -> tuple[int, str]:
    return _RANK[report.status], report.container_name
