"""crash_loop: it was restarted twice or more without anybody asking."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule, sentence
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.quantities import show_times
from bcon_exporter.model.verify_report import VerifyCode

RESTARTS = 2


def _find(case: ServiceCase) -> str | None:
    counts = {container.name: case.restarts(container) for container in case.containers}
    most = max(case.containers, key=lambda container: counts[container.name], default=None)
    if most is not None and counts[most.name] >= RESTARTS:
        codes = [str(end.exit_code) for container, end in case.ends if container is most and end.exit_code is not None]
        last = f", the last time after exit code {codes[-1]}" if codes else ""
        return sentence(f"{case.name(most)} was restarted {show_times(counts[most.name])} since the deployment{last}.")
    symptom = case.new_symptom(SymptomType.RESTART_LOOP)
    return None if symptom is None else symptom.description


RULE = VerifyRule(
    code=VerifyCode.CRASH_LOOP,
    find=_find,
    symptoms=frozenset({SymptomType.RESTART_LOOP}),
    description="Its restart policy restarted it twice or more since the deployment.",
)
