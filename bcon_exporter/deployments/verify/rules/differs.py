"""differs: it runs, made of something else than the files ask for."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule
from bcon_exporter.model.findings import DriftType
from bcon_exporter.model.quantities import show_count
from bcon_exporter.model.verify_report import VerifyCode

_TYPES = (DriftType.IMAGE_MISMATCH, DriftType.CONFIG_MISMATCH)


def _find(case: ServiceCase) -> str | None:
    difference = case.difference(*_TYPES)
    if difference is None:
        return None
    others = sum(one.drift_type in _TYPES for one in case.differences) - 1
    return f"{difference.message} And {show_count(others, 'more difference')}." if others else difference.message


RULE = VerifyRule(
    code=VerifyCode.DIFFERS,
    find=_find,
    drift_types=frozenset(_TYPES),
    description="It runs with another image or configuration than the files ask for.",
)
