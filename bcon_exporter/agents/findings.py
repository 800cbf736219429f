"""Findings: what is wrong, as agents of other tools read it. Projected from diagnoses and from drift."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bcon_exporter.agents.finding_categories import SEVERITY_OF, AgentCategory, AgentSeverity, category_of
from bcon_exporter.agents.untrusted_text import find_odd_names, hide_odd_names, is_safe_field
from bcon_exporter.model.findings import LikelyCause, ServiceDrift, Suggestion, Symptom, SymptomType
from bcon_exporter.model.odd_names import is_odd_name
from bcon_exporter.model.quantities import show_time
from bcon_exporter.model.reports import ContainerHealthSummary, DiagnoseAllReport, DiagnosisReport, DriftReport

API_VERSION = "docker/v1.41"
"""The version of the Engine API in whose words a container is told of, whatever the engine speaks."""
_CAUSES_AT_MOST = 3
_SUGGESTIONS_AT_MOST = 3
_DRIFT_OF_A_FREE_FIELD = "A field of {} differs from the Compose file; its name and values are in `untrusted`."
_WOULD = {
    "recreate": "`docker compose up` would recreate it.",
    "start": "`docker compose up` would start it.",
    "create": "`docker compose up` would create it.",
    "remove_orphan": "`docker compose up --remove-orphans` would remove it.",
    "nothing": "`docker compose up` would leave it as it is.",
}


def project_container(report: DiagnosisReport, *, detail: bool) -> list[dict[str, Any]]:
    """Return a finding for each symptom of one container, the worst first."""
    symptoms = sorted(report.symptoms, key=lambda symptom: -symptom.severity.rank)
    unexplained = [cause for cause in report.likely_causes if not _explains_any(cause, symptoms)]
    findings = []
    for number, symptom in enumerate(symptoms):
        causes = [cause for cause in report.likely_causes if symptom.type in cause.related_symptoms]
        if number == 0:
            causes += unexplained
        likely = f" Likely {_name_cause(causes[0])}" if causes else ""
        root = f" Root: {report.root}." if report.root is not None and number == 0 else ""
        finding = _finding(
            severity=SEVERITY_OF[symptom.severity],
            category=category_of(symptom.type, symptom.signatures),
            code=symptom.type.value,
            resource=_container(report.container_name, report.project),
            summary=f"{symptom.type.value}: {symptom.description}{likely}{root}",
        )
        if detail:
            finding |= _detail(symptom, causes, report.suggestions if number == 0 else ())
        findings.append(_hide_odd_names(finding, report))
    return findings


def project_host(report: DiagnoseAllReport, *, detail: bool) -> list[dict[str, Any]]:
    """Return a finding for each container that is told of, the worst first."""
    reports = {one.container_id: one for one in report.reports or report.judged}
    return [_of_summary(one, reports.get(one.container_id), detail=detail) for one in report.summaries]


def _of_summary(summary: ContainerHealthSummary, report: DiagnosisReport | None, *, detail: bool) -> dict[str, Any]:
    """Return the worst of one container; without its full report what the summary alone tells."""
    code = (summary.top_issue or "").partition(":")[0]
    symptom = next((one for one in report.symptoms if one.type.value == code), None) if report is not None else None
    if symptom is not None:
        category = category_of(symptom.type, symptom.signatures)
    elif code in _CODES:
        category = category_of(SymptomType(code))
    else:
        code, category = "not_checked" if summary.is_unchecked else summary.status, AgentCategory.LIFECYCLE
    unsure = AgentSeverity.INFO if summary.is_unchecked else SEVERITY_OF[summary.status]
    root = f" Root: {summary.root}." if summary.root is not None else ""
    finding = _finding(
        severity=unsure,
        category=category,
        code=code,
        resource=_container(summary.container_name, report.project if report is not None else None),
        summary=f"{summary.top_issue or _without_issue(summary)}{root}",
    )
    if detail and report is not None and symptom is not None:
        finding |= _detail(symptom, report.likely_causes, report.suggestions)
    return _hide_odd_names(finding, report or summary)


_CODES = frozenset(symptom.value for symptom in SymptomType)


def _without_issue(summary: ContainerHealthSummary) -> str:
    if summary.is_unchecked:
        return "not checked: facts are missing, so it is not known to be healthy."
    return f"{summary.status}."


def project_drift(report: DriftReport, *, detail: bool) -> list[dict[str, Any]]:
    """Return a finding for each difference; those in doubt and mere remarks come last, as information."""
    told = [(one, "") for one in report.differences]
    told += [(one, "In doubt: ") for one in report.doubts]
    told += [(one, "No drift, to be known: ") for one in report.remarks]
    return [_of_difference(one, report.project_name, beginning, detail=detail) for one, beginning in told]


def _of_difference(one: ServiceDrift, project: str, beginning: str, *, detail: bool) -> dict[str, Any]:
    root = (one.field or "").partition(".")[0]
    safe = is_safe_field(one.field)
    message = one.message if safe else _DRIFT_OF_A_FREE_FIELD.format(root)
    would = f" {_WOULD[one.compose_would]}" if one.compose_would is not None and not safe else ""
    kind, name = ("Container", one.container_name) if one.container_name else ("Service", one.service_name)
    finding = _finding(
        severity=AgentSeverity.INFO if beginning else SEVERITY_OF[one.severity],
        category=AgentCategory.DRIFT,
        code=one.drift_type.value,
        resource=_resource(kind, name, project),
        summary=f"{one.drift_type.value}: {beginning}{message}{would}",
    )
    if detail:
        since = f" Since {show_time(one.first_seen)}." if one.first_seen is not None else ""
        sure = f" Confidence {one.confidence:.0%}." if one.confidence < 1 else ""
        outside = f" Origin: {one.origin}." if one.origin is not None else ""
        if text := f"{outside}{sure}{since}".strip():
            finding["detail"] = text
        finding["suggestion"] = _WOULD[one.compose_would] if one.compose_would is not None else ""
        finding["untrusted"] = [f"{one.field or 'service'}: expected {one.expected}; actual {one.actual}"]
        finding = {name: item for name, item in finding.items() if item}
    return _hide_odd_names(finding, one, project)


def _hide_odd_names(finding: dict[str, Any], value: Any, *names: str) -> dict[str, Any]:
    """Return a finding in which no odd name of the value, or of these, stands outside of `untrusted`."""
    odd = (*find_odd_names(value), *filter(is_odd_name, names))
    if not odd:
        return finding
    untrusted = finding.get("untrusted", ())
    shown: dict[str, Any] = hide_odd_names({name: one for name, one in finding.items() if name != "untrusted"}, odd)
    return {**shown, "untrusted": list(dict.fromkeys((*untrusted, *odd)))}


def _finding(
    *, severity: AgentSeverity, category: AgentCategory, code: str, resource: dict[str, str], summary: str
) -> dict[str, Any]:
    return {
        "severity": severity.value,
        "category": category.value,
        "code": code,
        "resource": resource,
        "summary": " ".join(summary.split()),
    }


def _container(name: str, project: str | None) -> dict[str, str]:
    return _resource("Container", name, project)


def _resource(kind: str, name: str, project: str | None) -> dict[str, str]:
    namespace = {"namespace": project} if project else {}
    return {"kind": kind, **namespace, "name": name, "apiVersion": API_VERSION}


def _explains_any(cause: LikelyCause, symptoms: Iterable[Symptom]) -> bool:
    return any(symptom.type in cause.related_symptoms for symptom in symptoms)


def _name_cause(cause: LikelyCause) -> str:
    return f"{cause.id} ({cause.confidence:.0%}): {cause.description}"


def _detail(symptom: Symptom, causes: Sequence[LikelyCause], suggestions: Sequence[Suggestion]) -> dict[str, Any]:
    """Return the rest of what is known of a symptom."""
    parts = [f"Since {show_time(symptom.first_seen)}."] if symptom.first_seen is not None else []
    if symptom.confidence < 1:
        parts.append(f"Confidence {symptom.confidence:.0%}.")
    if causes:
        parts.append(f"Causes: {'; '.join(_name_cause(cause) for cause in causes[:_CAUSES_AT_MOST])}")
    told = {
        "detail": " ".join(parts),
        "suggestion": " ".join(_tell(one) for one in suggestions[:_SUGGESTIONS_AT_MOST]),
        "untrusted": list(dict.fromkeys((*_evidence(symptom, causes), *_requests_of_program(suggestions)))),
    }
    return {name: item for name, item in told.items() if item}


def _tell(suggestion: Suggestion) -> str:
    check = f" Look with `{suggestion.check}`." if suggestion.check is not None else ""
    return f"{suggestion.action}{check}"


def _requests_of_program(suggestions: Sequence[Suggestion]) -> Iterator[str]:
    """Yield what programs themselves ask for, where a suggestion is to follow that."""
    return (suggestion.says for suggestion in suggestions[:_SUGGESTIONS_AT_MOST] if suggestion.says is not None)


def _evidence(symptom: Symptom, causes: Iterable[LikelyCause]) -> Iterator[str]:
    yield from symptom.evidence
    for cause in causes:
        yield from cause.evidence
        if cause.peer is not None:
            yield f"{cause.id} points to {cause.peer}"
