"""port_refused: it runs, and its port refuses connections."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.verify_report import VerifyCode

NOBODY_LISTENS = "nothing_listens"


def _find(case: ServiceCase) -> str | None:
    if case.symptom(SymptomType.UNHEALTHY) is not None and _is_refused(case):
        return "It runs, and its health check finds nobody at its port."
    return case.refused_by[0] if case.refused_by else None


def _is_refused(case: ServiceCase) -> bool:
    """Whether its own probes are refused: one that gets no answer in time may ask anybody."""
    return any(
        cause.id == NOBODY_LISTENS and any("refused" in line.lower() for line in cause.evidence)
        for report in case.reports.values()
        for cause in report.likely_causes
    )


RULE = VerifyRule(
    code=VerifyCode.PORT_REFUSED,
    find=_find,
    description="It runs, and its port refuses connections, as its failing health check or the log of another "
    "container tells; verify opens no connection itself.",
)
