"""not_created: the files define the service, and no container of it exists."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule
from bcon_exporter.model.findings import DriftType
from bcon_exporter.model.verify_report import VerifyCode


def _find(case: ServiceCase) -> str | None:
    difference = case.difference(DriftType.MISSING_SERVICE)
    return None if difference is None else difference.message


RULE = VerifyRule(
    code=VerifyCode.NOT_CREATED,
    find=_find,
    drift_types=frozenset({DriftType.MISSING_SERVICE}),
    description="The files define it, and no container of it exists.",
)
