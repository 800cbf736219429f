"""secret_missing: the file of a secret is not there."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.mounted_files import find_missing_files
from bcon_exporter.deployments.check.rule import CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode, NotChecked


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    secrets = planned.deployment.secrets
    return find_missing_files(planned, "secret", secrets, lambda service: service.secrets)


SECRET_MISSING = CheckRule(
    CheckCode.SECRET_MISSING, "The file of a secret is not there.", "Compose mounts it from the host", _find
)
