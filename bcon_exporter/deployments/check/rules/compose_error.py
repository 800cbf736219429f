"""compose_error: Compose refuses the files."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    refusal = planned.given.refusal
    missing = planned.deployment.missing_env_files
    if refusal is not None and not any(_is_about(refusal.message, env_file.path) for env_file in missing):
        yield Found(FAILS, refusal.message, file=refusal.file, line=refusal.line)
    for service, hook in planned.hooks:
        if hook.per_replica:
            message = (
                f"The hook {hook.name} asks for per_replica, which Compose refuses when it is to run: leave it out."
            )
            yield Found(FAILS, message, service.name, key=f"services.{service.name}.pre_start")


def _is_about(message: str, env_file: str) -> bool:
    """Return whether Compose refuses the files for an env file that is missing, of which env_file_missing says more."""
    return f"The env file {env_file} does not exist" in message


COMPOSE_ERROR = CheckRule(
    CheckCode.COMPOSE_ERROR, "Compose refuses the files.", "`docker compose config`, docker/compose v5", _find
)
