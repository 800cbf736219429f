"""recreates: what `up` would do to each service, by the drift engine's plan."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import ADVICE, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode, NotChecked, ServicePlan

_SAYS = {
    "create": "`up` creates it",
    "recreate": "`up` replaces its container",
    "restart": "`up` stops its container and starts it again",
    "start": "`up` starts its container",
    "remove": "`up` removes containers of it",
    "orphan": "its service is not in the files: `up` leaves its container as it is, unless --remove-orphans is given",
}


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    for step in planned.plan:
        if step.action == "unknown":
            yield NotChecked(what=f"what `up` would do to {step.service}", reason="; ".join(step.why))
        elif step.action != "leave":
            yield Found(ADVICE, _message(step), step.service, evidence=step.why, key=f"services.{step.service}")


def _message(step: ServicePlan) -> str:
    away = f" {step.service} is away meanwhile." if step.is_away else ""
    why = f" ({', '.join(step.why)})" if step.why else ""
    hooks = f" Before that it runs {', '.join(step.hooks)}." if step.hooks else ""
    return f"{_SAYS[step.action]}{why}.{hooks}{away}"


RECREATES = CheckRule(
    CheckCode.RECREATES,
    "What `up` would create, replace, start or remove.",
    "docs/drift.md: what Compose would do",
    _find,
)
