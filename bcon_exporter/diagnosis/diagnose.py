"""Evaluates every symptom rule for every container of a snapshot, and makes the reports."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from bcon_exporter.diagnosis.causes import Conclusion, find_causes, with_earlier_causes, with_fallback_cause
from bcon_exporter.diagnosis.container_lookup import ContainerLookup
from bcon_exporter.diagnosis.container_policy import LabelSettings, Policy, read_labels
from bcon_exporter.diagnosis.evidence import collect_hits, group_failures
from bcon_exporter.diagnosis.failed_connections import Failure
from bcon_exporter.diagnosis.host_outages import find_shutdowns
from bcon_exporter.diagnosis.hysteresis import hold_symptoms, keep_until_over
from bcon_exporter.diagnosis.log_cache import LogReader
from bcon_exporter.diagnosis.peer_state import HostContext
from bcon_exporter.diagnosis.removed_containers import remember
from bcon_exporter.diagnosis.root_causes import build_root_causes, find_roots, group_names_by_root
from bcon_exporter.diagnosis.rule import Case, SymptomRule, Verdicts, missing_facts, unknown
from bcon_exporter.diagnosis.rules import RULE_OF, SYMPTOM_RULES
from bcon_exporter.diagnosis.server_rejections import find_rejected_logins
from bcon_exporter.diagnosis.wording import RootLinks, explain_report, summarise_report, top_issue
from bcon_exporter.errors import ContainerNotFoundError
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HostSnapshot
from bcon_exporter.model.findings import STATUS_RANK, STATUSES, NotEvaluated, Status, Symptom, SymptomType
from bcon_exporter.model.hysteresis import EarlierConclusion, Hold, HoldState
from bcon_exporter.model.reports import ContainerHealthSummary, DiagnoseAllReport, DiagnosisReport, RootCause
from bcon_exporter.model.rule_faults import describe_fault
from bcon_exporter.model.signatures import Catalogue
from bcon_exporter.model.thresholds import Thresholds

NO_TIME = "the scan's time was over before this container was judged"
NO_TIME_FOR_CAUSES = "The scan's time was over before causes were looked for."
_NO_HOLDS: Mapping[SymptomType, Hold] = MappingProxyType({})


_NO_VERDICTS = Verdicts()
_NO_CAUSES = Conclusion()
_OUT_OF_TIME = Conclusion(out_of_time=True)
_NO_EARLIER_CONCLUSION = EarlierConclusion()


def diagnose_host(  # noqa: PLR0913 -- the station's one way in
    snapshot: HostSnapshot,
    thresholds: Thresholds,
    catalogue: Catalogue,
    holds: HoldState | None = None,
    policy: Policy | None = None,
    *,
    log_reader: LogReader | None = None,
    rules: Sequence[SymptomRule] = SYMPTOM_RULES,
    too_late_to_judge: Callable[[], bool] = lambda: False,
    too_late_for_causes: Callable[[], bool] = lambda: False,
) -> tuple[DiagnoseAllReport, HoldState]:
    """Diagnose every container that the policy admits.

    Args:
        snapshot: Facts of one host; `taken_at` is "now".
        thresholds: Before the containers' own labels.
        catalogue: Signatures for the logs.
        holds: Holds that the last scan returned; None for a first or a single run.
        policy: Filters; None judges all.
        log_reader: The log reader of the scans before; None for a first or a single run.
        rules: In report order.
        too_late_to_judge: Called before each container; once True, all further rules are reported as not evaluated.
        too_late_for_causes: Called before each container with symptoms; once True, no further causes are searched, and
            the reports say so.

    Returns:
        The report with every container's own report in `reports` (snapshot order) and the unhealthy ones in
        `summaries` (worst first), and the holds for the next scan.
    """
    holds = holds if holds is not None else HoldState()
    log_reader = log_reader or LogReader()
    inputs = _JudgeInputs(
        thresholds, catalogue, policy or Policy(), rules, log_reader, too_late_to_judge, too_late_for_causes
    )
    remembered = remember(snapshot, holds.remembered)
    lookup = ContainerLookup(snapshot, remembered)
    judged, holds_after = _judge_all(snapshot, inputs, holds.holds, lookup)
    reports, roots, points_to, out_of_time = _conclude_all(snapshot, inputs, judged, holds.conclusions, lookup)
    last_conclusions = {
        container_id: EarlierConclusion(
            reports[container_id].likely_causes, reports[container_id].suggestions, points_to.get(container_id)
        )
        for container_id in holds_after
    }
    report = _host_report(snapshot, list(reports.values()), roots, out_of_time)
    return report, HoldState(MappingProxyType(holds_after), MappingProxyType(last_conclusions), remembered)


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
    if all(container.id != container_id for container in snapshot.containers):
        msg = "The container is not there any more. List the containers to see which are."
        raise ContainerNotFoundError(msg, {"container_id": container_id[:64]})
    # The other containers are judged too: they may be the cause, or suffer from this one.
    inputs = _JudgeInputs(thresholds, catalogue, policy or Policy(), SYMPTOM_RULES, LogReader())
    lookup = ContainerLookup(snapshot)
    judged, _ = _judge_all(snapshot, inputs, {}, lookup, always=container_id)
    return _conclude_all(snapshot, inputs, judged, {}, lookup).reports[container_id]


class _JudgeInputs(NamedTuple):
    """What the scan judges all containers by."""

    thresholds: Thresholds
    catalogue: Catalogue
    policy: Policy
    rules: Sequence[SymptomRule]
    log_reader: LogReader
    too_late_to_judge: Callable[[], bool] = lambda: False
    too_late_for_causes: Callable[[], bool] = lambda: False


class _Judged(NamedTuple):
    """One container and its verdicts, before the search for causes."""

    case: Case
    label_settings: LabelSettings
    verdicts: Verdicts


def _judge_all(
    snapshot: HostSnapshot,
    inputs: _JudgeInputs,
    holds_before: Mapping[str, Mapping[SymptomType, Hold]],
    lookup: ContainerLookup,
    always: str | None = None,
) -> tuple[dict[str, _Judged], dict[str, Mapping[SymptomType, Hold]]]:
    """Evaluate the rules for every admitted container; return the verdicts and the holds, both by container id."""
    shutdowns = find_shutdowns(snapshot)
    judged: dict[str, _Judged] = {}
    holds_after: dict[str, Mapping[SymptomType, Hold]] = {}
    too_late = False
    for container in snapshot.containers:
        if container.id != always and not inputs.policy.admits(container):
            continue
        label_settings = read_labels(container.labels, inputs.thresholds)
        case = Case(
            container=container,
            host=snapshot,
            thresholds=label_settings.thresholds,
            catalogue=inputs.catalogue,
            use_logs=inputs.policy.use_logs,
            shutdowns=shutdowns,
            lookup=lookup,
            log_reader=inputs.log_reader,
        )
        too_late = too_late or inputs.too_late_to_judge()
        verdicts = (
            _not_evaluated_for_time(case, inputs.rules)
            if too_late
            else judge(case, inputs.rules, label_settings.ignored)
        )
        verdicts, kept_holds = _apply_hysteresis(
            verdicts, case, holds_before.get(container.id, _NO_HOLDS), label_settings
        )
        if kept_holds:
            holds_after[container.id] = kept_holds
        judged[container.id] = _Judged(case, label_settings, verdicts)
    return judged, holds_after


class _Concluded(NamedTuple):
    """The reports of all containers, and what they have in common.

    Attributes:
        reports: By full container id.
        points_to: Container id → the one that its likeliest cause points to.
        out_of_time: Ids of containers for whose causes there was no time.
    """

    reports: Mapping[str, DiagnosisReport]
    roots: tuple[RootCause, ...]
    points_to: Mapping[str, str]
    out_of_time: tuple[str, ...]


def _conclude_all(
    snapshot: HostSnapshot,
    inputs: _JudgeInputs,
    judged: Mapping[str, _Judged],
    earlier_conclusions: Mapping[str, EarlierConclusion],
    lookup: ContainerLookup,
) -> _Concluded:
    """Find the causes of all symptoms, across containers, and make the reports.

    `earlier_conclusions` are those of the last scan, of containers whose symptoms are held.
    """
    conclusions = _find_causes(
        inputs, judged, earlier_conclusions, lookup, _build_context(snapshot, inputs, judged, lookup)
    )
    names = {container.id: container.name for container in (*lookup.removed, *snapshot.containers)}
    points_to = {
        container_id: conclusion.points_to
        for container_id, conclusion in conclusions.items()
        if conclusion.points_to in names
    }
    confidences = {
        container_id: causes[0].confidence for container_id in points_to if (causes := conclusions[container_id].causes)
    }
    roots = find_roots(points_to, confidences)
    explained = group_names_by_root(roots, names)
    reports = {}
    for container_id, (case, label_settings, verdicts) in judged.items():
        links = RootLinks(names.get(roots.get(container_id, "")), explained.get(container_id, ()))
        reports[container_id] = _report(
            case, verdicts, label_settings, conclusions.get(container_id, _NO_CAUSES), links
        )
    issues = {
        root: top_issue(reports[root].symptoms, reports[root].likely_causes) for root in explained if root in reports
    }
    out_of_time = tuple(container_id for container_id, conclusion in conclusions.items() if conclusion.out_of_time)
    return _Concluded(reports, build_root_causes(explained, reports, issues, names), points_to, out_of_time)


def _symptoms_of(judged: Mapping[str, _Judged]) -> dict[str, tuple[Symptom, ...]]:
    """Return the symptoms of each container that has some."""
    return {
        container_id: judgement.verdicts.symptoms
        for container_id, judgement in judged.items()
        if judgement.verdicts.symptoms
    }


def _build_context(
    snapshot: HostSnapshot, inputs: _JudgeInputs, judged: Mapping[str, _Judged], lookup: ContainerLookup
) -> HostContext:
    """Return the facts of the host that every search for causes uses."""
    symptoms = _symptoms_of(judged)
    cases = {container_id: judged[container_id].case for container_id in symptoms}
    only_denials = frozenset(container_id for container_id, case in cases.items() if case.only_rejects_logins)
    rejected_logins = find_rejected_logins(_failed_connections(cases, symptoms), lookup) if only_denials else {}
    rejected_clients = {login.client.id for logins in rejected_logins.values() for login in logins}
    return HostContext(
        now=snapshot.taken_at,
        thresholds=inputs.thresholds,
        symptoms=symptoms,
        shutdowns=next((judgement.case.shutdowns for judgement in judged.values()), ()),
        engine_started_at=snapshot.engine_started_at,
        removed=frozenset(container.id for container in lookup.removed),
        rejecting_logins=only_denials - rejected_clients,
        rejected_logins=rejected_logins,
        disk_full_since={
            container_id: at for container_id, case in cases.items() if (at := case.disk_full_since) is not None
        },
    )


def _find_causes(
    inputs: _JudgeInputs,
    judged: Mapping[str, _Judged],
    earlier_conclusions: Mapping[str, EarlierConclusion],
    lookup: ContainerLookup,
    context: HostContext,
) -> dict[str, Conclusion]:
    """Find the causes for each container that has symptoms, by id; once time is over, only those of the last scan."""
    conclusions = {}
    too_late = False
    for container_id, symptoms in _symptoms_of(judged).items():
        case, verdicts = judged[container_id].case, judged[container_id].verdicts
        too_late = too_late or inputs.too_late_for_causes()
        fresh = _OUT_OF_TIME if too_late else find_causes(case, symptoms, inputs.rules, lookup, context)
        earlier = earlier_conclusions.get(container_id, _NO_EARLIER_CONCLUSION)
        conclusions[container_id] = with_fallback_cause(
            with_earlier_causes(fresh, earlier, case, verdicts), symptoms, case
        )
    return conclusions


def _failed_connections(
    cases: Mapping[str, Case], symptoms: Mapping[str, Sequence[Symptom]]
) -> list[tuple[ContainerFacts, list[Failure]]]:
    """Return the failed connections of each container that has symptoms."""
    return [
        (case.container, group_failures(collect_hits(case, symptoms[container_id])))
        for container_id, case in cases.items()
    ]


def judge(case: Case, rules: Sequence[SymptomRule], ignored: frozenset[SymptomType] = frozenset()) -> Verdicts:
    """Evaluate every rule that applies; a rule that raises is reported and does not stop the others."""
    symptoms: list[Symptom] = []
    not_evaluated: list[NotEvaluated] = []
    faults: dict[SymptomType, str] = {}
    for rule in _rules_for(case.container.state, tuple(rules)):
        if rule.type in ignored:
            continue
        try:
            verdict = _verdict(rule, case)
        except Exception as error:  # noqa: BLE001 - the rule boundary: one bad rule must not hide the others' verdicts
            faults[rule.type] = describe_fault(rule.type, error)
            continue
        if verdict is None:
            continue
        if isinstance(verdict, Symptom):
            symptoms.append(verdict)
        else:
            not_evaluated.append(verdict)
    if not (symptoms or not_evaluated or faults):
        return _NO_VERDICTS
    return Verdicts(tuple(symptoms), tuple(not_evaluated), faults)


def _not_evaluated_for_time(case: Case, rules: Sequence[SymptomRule]) -> Verdicts:
    """Report every rule that applies as not evaluated for want of time."""
    applying = _rules_for(case.container.state, tuple(rules))
    return Verdicts((), tuple(NotEvaluated(symptom=rule.type, missing=(), reason=NO_TIME) for rule in applying))


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


def _apply_hysteresis(
    verdicts: Verdicts, case: Case, holds_before: Mapping[SymptomType, Hold], label_settings: LabelSettings
) -> tuple[Verdicts, Mapping[SymptomType, Hold]]:
    if not holds_before and not verdicts.symptoms:
        return verdicts, _NO_HOLDS
    holds = {kind: hold for kind, hold in holds_before.items() if kind not in label_settings.ignored}
    unclear = (*(entry.symptom for entry in verdicts.not_evaluated), *verdicts.rule_errors)
    holds = keep_until_over(holds, case.is_over, case.thresholds)
    step = hold_symptoms(verdicts.symptoms, unclear, case.container, case.now, case.thresholds, holds)
    held_types = frozenset(symptom.type for symptom in step.symptoms) - {symptom.type for symptom in verdicts.symptoms}
    return verdicts._replace(symptoms=step.symptoms, held=held_types), step.holds


def _report(
    case: Case, verdicts: Verdicts, label_settings: LabelSettings, conclusion: Conclusion, links: RootLinks
) -> DiagnosisReport:
    container, symptoms, causes = case.container, verdicts.symptoms, conclusion.causes
    started = container.started_at if container.is_running else None
    status, checked = status_of(symptoms), is_checked(verdicts)
    notices = (*label_settings.notices, NO_TIME_FOR_CAUSES) if conclusion.out_of_time else label_settings.notices
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
        detailed_explanation=explain_report(case, symptoms, causes, verdicts.not_evaluated, notices, links),
        not_evaluated=verdicts.not_evaluated,
        rule_errors=verdicts.rule_errors,
        rule_faults={rule.value: fault for rule, fault in verdicts.rule_faults.items()},
        project=container.compose.project if container.compose is not None else None,
        service=container.compose.service if container.compose is not None else None,
        root=links.root,
        explains=links.explains,
    )


def is_checked(verdicts: Verdicts) -> bool:
    """Whether every deciding rule could be evaluated."""
    if not (verdicts.not_evaluated or verdicts.rule_errors):
        return True
    unjudged = {entry.symptom for entry in verdicts.not_evaluated}.union(verdicts.rule_errors)
    return not any(RULE_OF[symptom].decides for symptom in unjudged)


def status_of(symptoms: Sequence[Symptom]) -> Status:
    """Return the severity of the worst symptom; info counts as healthy."""
    if not symptoms:
        return "healthy"
    return STATUSES[max(symptom.severity.rank for symptom in symptoms)]


def _host_report(
    snapshot: HostSnapshot, reports: list[DiagnosisReport], roots: tuple[RootCause, ...], out_of_time: Sequence[str]
) -> DiagnoseAllReport:
    counts = dict.fromkeys(STATUSES, 0)
    for report in reports:
        counts[report.status] += 1
    unhealthy = sorted((report for report in reports if report.status != "healthy"), key=_worst_first)
    names = {container.id: container.name for container in snapshot.containers}
    unread = [names.get(container_id, container_id[:12]) for container_id in (*snapshot.incomplete, *out_of_time)]
    unjudged = [
        report.container_name for report in reports if any(rule.reason == NO_TIME for rule in report.not_evaluated)
    ]
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
        summaries=tuple(summary_of(report) for report in unhealthy),
        ignored=len(snapshot.containers) - len(reports),
        incomplete=tuple(dict.fromkeys([*unread, *unjudged])),
        unread=dict(snapshot.unread),
        roots=roots,
        ended=snapshot.failed_runs,
        reports=tuple(reports),
    )


def summary_of(report: DiagnosisReport) -> ContainerHealthSummary:
    """Summarise one container's report for the report of the host."""
    return ContainerHealthSummary(
        container_id=report.container_id,
        container_name=report.container_name,
        status=report.status,
        checked=report.checked,
        top_issue=top_issue(report.symptoms, report.likely_causes),
        root=report.root,
    )


def _worst_first(report: DiagnosisReport) -> tuple[int, str]:
    return -STATUS_RANK[report.status], report.container_name
