"""wrong_replicas: it runs, with another number of containers than the files ask for."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule
from bcon_exporter.model.findings import DriftType
from bcon_exporter.model.verify_report import VerifyCode


def _find(case: ServiceCase) -> str | None:
    difference = case.difference(DriftType.REPLICA_MISMATCH)
    if difference is None or any(map(case.is_new, case.never_started)):
        return None
    by_hand = " Somebody stopped the others." if difference.stop_requested else ""
    return f"{difference.message}{by_hand}"


RULE = VerifyRule(
    code=VerifyCode.WRONG_REPLICAS,
    find=_find,
    drift_types=frozenset({DriftType.REPLICA_MISMATCH}),
    description="It runs with more or fewer containers than the files ask for.",
)
