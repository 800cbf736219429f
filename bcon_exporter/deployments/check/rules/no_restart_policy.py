"""no_restart_policy: a service does not come back after a crash or a reboot."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import ADVICE, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    for service in planned.services:
        if not service.restart and not service.runs_once:
            message = 'It stays down after a crash or a reboot. Write `restart: unless-stopped`, or `restart: "no"`.'
            yield Found(ADVICE, message, service.name, key=f"services.{service.name}")


NO_RESTART_POLICY = CheckRule(
    CheckCode.NO_RESTART_POLICY, "A service does not come back after a crash.", "compose-spec: restart", _find
)
