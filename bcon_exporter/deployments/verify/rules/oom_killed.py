"""oom_killed: the kernel killed it for want of memory."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule, sentence
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.quantities import show_times
from bcon_exporter.model.verify_report import VerifyCode


def _find(case: ServiceCase) -> str | None:
    if case.oom_ends:
        container, _ = case.oom_ends[-1]
        count = show_times(sum(other is container for other, _ in case.oom_ends))
        return sentence(f"{case.name(container)} was killed {count} for want of memory.")
    symptom = case.new_symptom(SymptomType.OOM_KILLED)
    return None if symptom is None else symptom.description


RULE = VerifyRule(
    code=VerifyCode.OOM_KILLED,
    find=_find,
    symptoms=frozenset({SymptomType.OOM_KILLED}),
    description="The kernel killed its process for want of memory, at least once since the deployment.",
)
