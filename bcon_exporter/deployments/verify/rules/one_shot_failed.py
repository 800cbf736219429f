"""one_shot_failed: it should have ended with 0, another service waits for that, and it did not."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule, sentence
from bcon_exporter.model.verify_report import VerifyCode


def _find(case: ServiceCase) -> str | None:
    if not case.service.runs_once or not case.failed_ends:
        return None
    container, end = case.failed_ends[-1]
    return sentence(f"{case.name(container)} ended with code {end.exit_code}, and its success is waited for.")


RULE = VerifyRule(
    code=VerifyCode.ONE_SHOT_FAILED,
    find=_find,
    description="It ended with a code other than 0, and another service waits for its completion.",
)
