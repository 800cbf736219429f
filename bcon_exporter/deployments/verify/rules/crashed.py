"""crashed: it ended without being asked to, whether it runs again or not."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule, sentence
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.model.quantities import show_duration
from bcon_exporter.model.verify_report import VerifyCode


def _find(case: ServiceCase) -> str | None:
    restarted = tuple((container, end) for container, end in case.ends if case.restarts(container))
    ends = case.failed_ends or restarted
    if ends:
        container, end = ends[-1]
        lived = "" if end.lifetime_seconds is None else f" after {show_duration(end.lifetime_seconds)}"
        again = "; it runs again" if container.state is ContainerState.RUNNING else ""
        by = "somebody killed it" if end.killed else "nobody asked it to"
        return sentence(f"{case.name(container)} ended with code {end.exit_code}{lived}, {by}{again}.")
    symptom = case.new_symptom(SymptomType.EXIT_ERROR)
    return None if symptom is None else symptom.description


RULE = VerifyRule(
    code=VerifyCode.CRASHED,
    find=_find,
    symptoms=frozenset({SymptomType.EXIT_ERROR}),
    description="It ended with a code other than 0 and nobody had asked it to, at least once since the deployment, "
    "whether it is up again or not; or its restart policy had to restart it once after an exit with 0.",
)
