"""waits_for: it was created and never started, for a dependency's sake."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule
from bcon_exporter.model.hooks import describe_hook
from bcon_exporter.model.verify_report import VerifyCode


def _find(case: ServiceCase) -> str | None:
    dependency = case.dependency
    if dependency is None:
        hook = case.ailing_hook
        if hook is None:
            return None
        return f"It was created and never started: its {describe_hook(hook)} is still running, and shows errors."
    return f"It was created and never started: it waits for {dependency.service}, which {dependency.lacks}."


RULE = VerifyRule(
    code=VerifyCode.WAITS_FOR,
    find=_find,
    description="It was created and has never been started, since a service that it depends on is not ready, or "
    "its hook is still running and shows errors.",
)
