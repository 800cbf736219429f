"""not_running: its containers are there and do not run, without a failure seen."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.findings import DriftType, SymptomType
from bcon_exporter.model.verify_report import VerifyCode


def _find(case: ServiceCase) -> str | None:
    difference = case.difference(DriftType.NOT_RUNNING)
    if difference is not None:
        waiting = case.never_started
        is_under_way = case.running_hook is not None or (bool(waiting) and all(map(case.is_new, waiting)))
        return None if is_under_way else difference.message
    paused = case.in_state(ContainerState.PAUSED)
    if paused and case.service.replicas:
        return f"{paused[0].name} is paused."
    return None


RULE = VerifyRule(
    code=VerifyCode.NOT_RUNNING,
    find=_find,
    symptoms=frozenset({SymptomType.PAUSED, SymptomType.NEVER_STARTED, SymptomType.NOT_STARTED_AGAIN}),
    drift_types=frozenset({DriftType.NOT_RUNNING}),
    description="It is there and does not run, without a failure seen: somebody stopped it in the window, it is "
    "paused, or nothing ever started it.",
)
