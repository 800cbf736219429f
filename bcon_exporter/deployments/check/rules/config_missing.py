"""config_missing: the file of a config is not there."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.mounted_files import find_missing_files
from bcon_exporter.deployments.check.rule import CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode, NotChecked


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    configs = planned.deployment.configs
    return find_missing_files(planned, "config", configs, lambda service: service.configs)


CONFIG_MISSING = CheckRule(
    CheckCode.CONFIG_MISSING, "The file of a config is not there.", "Compose mounts it from the host", _find
)
