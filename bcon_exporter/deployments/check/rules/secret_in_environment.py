"""secret_in_environment: a secret stands in the clear in an environment."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import ADVICE, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    for service in planned.services:
        if service.secret_variables:
            names = ", ".join(service.secret_variables)
            message = f"Everybody who may inspect the container reads {names}. Use a secret, and its file."
            key = f"services.{service.name}.environment"
            yield Found(ADVICE, message, service.name, key=key, item=service.secret_variables[0])


SECRET_IN_ENVIRONMENT = CheckRule(
    CheckCode.SECRET_IN_ENVIRONMENT, "A secret stands in an environment.", "moby: inspect shows it", _find
)
