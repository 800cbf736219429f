"""hook_failed: a hook that runs before the service is started failed, and so the service was not started."""

from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule
from bcon_exporter.model.hooks import describe_failure, describe_hook
from bcon_exporter.model.quantities import show_count
from bcon_exporter.model.verify_report import VerifyCode


def _find(case: ServiceCase) -> str | None:
    hook = case.failed_hook
    if hook is not None:
        return f"It was created and never started: its {describe_hook(hook)} {describe_failure(hook)}."
    return _find_gone(case)


def _find_gone(case: ServiceCase) -> str | None:
    """Return that no hook is left of a service that was not started: Compose keeps those that ran and failed."""
    waiting = case.never_started
    if not case.service.pre_start or case.hooks or not waiting or case.dependency is not None:
        return None
    if any(container.error or container.exit_code for container in waiting) or any(map(case.is_new, waiting)):
        return None
    hooks = show_count(case.service.pre_start, "pre_start hook")
    return (
        f"It was created and never started, and of its {hooks} no container is there: Compose refused a hook, the "
        "engine could not start it, or `up` was interrupted. What `docker compose up` prints says which."
    )


RULE = VerifyRule(
    code=VerifyCode.HOOK_FAILED,
    find=_find,
    description="A hook of it (`pre_start`) ended with a code other than 0 or could not be started, so that the "
    "service was not started.",
)
