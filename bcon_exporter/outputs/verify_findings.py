"""What `verify` says, as findings for CI systems."""

from bcon_exporter.deployments.verify import VERIFY_RULES
from bcon_exporter.model.verify_report import DeploymentVerdict, ServiceVerdict, VerifyReport
from bcon_exporter.outputs.ci_formats import CiFinding, CiReport, FindingLevel

UNSURE = "unsure"


def find_findings(report: VerifyReport) -> CiReport:
    """Return a finding for each service that is not good, and for what makes the whole unsure."""
    findings = [
        _finding(service, report) for service in report.services if service.verdict is not DeploymentVerdict.GOOD
    ]
    if report.reason is not None:
        findings.append(CiFinding(level=FindingLevel.UNSURE, code=UNSURE, message=report.reason, file=_file(report)))
    return CiReport(
        command="verify",
        project=report.project,
        verdict=report.verdict.value,
        summary=report.summary,
        findings=tuple(findings),
        passed=tuple(one.service for one in report.services if one.verdict is DeploymentVerdict.GOOD),
        meanings={rule.code.value: rule.description for rule in VERIFY_RULES},
    )


def _finding(service: ServiceVerdict, report: VerifyReport) -> CiFinding:
    bad = service.verdict is DeploymentVerdict.BAD
    root = f"It suffers from {service.root}." if service.root is not None else ""
    causes = [f"Likely cause: {cause.full_text}" for cause in service.causes[:1]]
    changes = [f"Changed: {change}" for change in service.changes]
    return CiFinding(
        level=FindingLevel.FAILURE if bad else FindingLevel.UNSURE,
        code=service.code.value if service.code is not None else UNSURE,
        message="\n".join(filter(None, (service.message, root, *causes, *changes))),
        service=service.service,
        evidence=service.evidence,
        file=_file(report),
    )


def _file(report: VerifyReport) -> str | None:
    return report.config_files[0] if report.config_files else None
