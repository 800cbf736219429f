"""start_failed: the engine refused the start."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.verify_report import VerifyCode


def _find(case: ServiceCase) -> str | None:
    symptom = case.symptom(SymptomType.START_FAILED)
    return None if symptom is None else symptom.description


RULE = VerifyRule(
    code=VerifyCode.START_FAILED,
    find=_find,
    symptoms=frozenset({SymptomType.START_FAILED}),
    description="The engine refused the start: a command, a mount, a device, a port of the host that is taken.",
)
