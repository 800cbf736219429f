"""new_errors: any other symptom of at least error that was not there before."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.verify_report import VerifyCode

_OTHERS = frozenset(
    {
        SymptomType.HIGH_CPU,
        SymptomType.HIGH_MEMORY,
        SymptomType.NETWORK_ERROR,
        SymptomType.DISK_PRESSURE,
        SymptomType.SLOW_RESPONSE,
        SymptomType.LOG_ERROR,
        SymptomType.CPU_THROTTLED,
        SymptomType.PIDS_LIMIT,
        SymptomType.HEALTH_FLAPPING,
        SymptomType.STARTING,
        SymptomType.LOG_UNBOUNDED,
        SymptomType.STALE_NAMESPACE,
    }
)


def _find(case: ServiceCase) -> str | None:
    symptom = case.new_symptom(*_OTHERS)
    return None if symptom is None else symptom.description


RULE = VerifyRule(
    code=VerifyCode.NEW_ERRORS,
    find=_find,
    symptoms=_OTHERS,
    description="Any other symptom of at least error that was not there before the deployment.",
)
