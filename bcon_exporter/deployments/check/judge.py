"""Runs the rules of `check` over one deployment. Pure."""

from collections.abc import Collection, Mapping, Sequence
from posixpath import normpath

from bcon_exporter.deployments.check.plan import make_plan
from bcon_exporter.deployments.check.rule import Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.deployments.check.rules import CHECK_RULES
from bcon_exporter.model.check_report import (
    CheckCode,
    CheckFinding,
    CheckInput,
    CheckReport,
    CheckSeverity,
    CheckVerdict,
    NotChecked,
)
from bcon_exporter.model.deployment import FilePlace, KeyLocation, WantedDeployment
from bcon_exporter.model.quantities import show_count
from bcon_exporter.model.rule_faults import describe_fault

_SEVERITIES = tuple(CheckSeverity)
_CODES = tuple(CheckCode)


def check_deployment(given: CheckInput) -> CheckReport:
    """Return whether a deployment would come up, and what it would do."""
    planned = PlannedDeployment(given, given.deployment or WantedDeployment(project=""), make_plan(given))
    findings: list[CheckFinding] = []
    not_checked: dict[NotChecked, None] = {}
    failed: dict[str, str] = {}
    for rule in CHECK_RULES:
        try:
            for said in rule.find(planned):
                if isinstance(said, NotChecked):
                    not_checked[said] = None
                else:
                    findings.append(_finding(rule.code, said, given.places))
        except Exception as error:  # noqa: BLE001 -- one rule's defect must not hide what the others find
            failed[rule.code.value] = describe_fault(rule.code.value, error)
    findings.sort(key=lambda one: (_SEVERITIES.index(one.severity), _CODES.index(one.code), one.service or ""))
    if given.problem is not None:
        not_checked[NotChecked(what="the deployment", reason=given.problem)] = None
    verdict = _verdict(given, findings, failed)
    return CheckReport(
        timestamp=given.snapshot.taken_at,
        project=planned.deployment.project,
        verdict=verdict,
        summary=_summary(verdict, findings, given, failed),
        findings=tuple(findings),
        not_checked=tuple(not_checked),
        plan=planned.plan,
        services=tuple(service.name for service in planned.services),
        files=given.files,
        rule_errors=tuple(failed),
        rule_faults=failed,
    )


def _verdict(given: CheckInput, findings: Sequence[CheckFinding], failed: Collection[str]) -> CheckVerdict:
    severities = {finding.severity for finding in findings}
    if CheckSeverity.FAILS in severities:
        return CheckVerdict.FAILS
    if given.problem is not None or given.deployment is None or failed:
        return CheckVerdict.UNKNOWN
    return CheckVerdict.RISK if CheckSeverity.RISK in severities else CheckVerdict.OK


def _summary(
    verdict: CheckVerdict, findings: Sequence[CheckFinding], given: CheckInput, failed: Collection[str]
) -> str:
    counts = [sum(finding.severity is severity for finding in findings) for severity in _SEVERITIES]
    match verdict:
        case CheckVerdict.FAILS:
            return f"It would not come up: {show_count(counts[0], 'thing')} in the way."
        case CheckVerdict.RISK:
            return f"It may come up: {show_count(counts[1], 'risk')}."
        case CheckVerdict.OK:
            return "It would come up, as far as can be seen from here."
        case CheckVerdict.UNKNOWN if given.problem is None and given.deployment is not None:
            return f"Not everything could be judged: {', '.join(failed)} failed, a defect of bcon-exporter."
        case CheckVerdict.UNKNOWN:
            return f"Nothing could be judged: {given.problem or 'the files could not be read'}"


def _finding(code: CheckCode, found: Found, places: Mapping[str, KeyLocation]) -> CheckFinding:
    place = _find_place(found, places)
    return CheckFinding(
        severity=found.severity,
        code=code,
        service=found.service,
        message=found.message,
        evidence=found.evidence,
        file=found.file or (place.file if place else None),
        line=found.line or (place.line if place else None),
    )


def _find_place(found: Found, places: Mapping[str, KeyLocation]) -> FilePlace | None:
    """Return where a key stands, or the nearest one above it that stands in a file."""
    key = found.key
    while key:
        known = places.get(key)
        if known is not None:
            item = _find_item(found.item, known) if key == found.key else None
            return item or known.place
        key = key.rpartition(".")[0]
    return None


def _find_item(wanted: str, known: KeyLocation) -> FilePlace | None:
    """Return where the text in a list stands that has a wanted part, or that is the end of a wanted path."""
    if not wanted:
        return None
    for text, place in known.items.items():
        parts = text.replace("=", ":").replace("/", ":").split(":")
        if text == wanted or wanted in parts or (text and wanted.endswith(normpath(text).lstrip("./"))):
            return place
    return None
