"""compose_error: Compose refuses the files."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    refusal = planned.given.refusal
    if refusal is not None:
        yield Found(FAILS, refusal.message, file=refusal.file, line=refusal.line)
    for service, hook in planned.hooks:
        if hook.per_replica:
            message = (
                f"The hook {hook.name} asks for per_replica, which Compose refuses when it is to run: leave it out."
            )
            yield Found(FAILS, message, service.name, key=f"services.{service.name}.pre_start")


COMPOSE_ERROR = CheckRule(
    CheckCode.COMPOSE_ERROR, "Compose refuses the files.", "`docker compose config`, docker/compose v5", _find
)
