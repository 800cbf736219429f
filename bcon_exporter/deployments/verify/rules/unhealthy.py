"""unhealthy: its own health check fails."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule
from bcon_exporter.model.container_facts import ContainerState, HealthStatus
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.verify_report import VerifyCode


def _find(case: ServiceCase) -> str | None:
    symptom = case.symptom(SymptomType.UNHEALTHY)
    if symptom is not None:
        return symptom.description
    sick = [
        one
        for one in case.in_state(ContainerState.RUNNING)
        if one.health is not None and one.health.status is HealthStatus.UNHEALTHY
    ]
    return f"The health check of {sick[0].name} fails." if sick else None


RULE = VerifyRule(
    code=VerifyCode.UNHEALTHY,
    find=_find,
    symptoms=frozenset({SymptomType.UNHEALTHY}),
    description="It runs, and its own health check fails.",
)
