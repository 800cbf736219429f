"""env_file_missing: an env file that the files or the command line name is not there."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    for missing in planned.deployment.missing_env_files:
        key = f"services.{missing.service}.env_file" if missing.service else ""
        advice = "Create it, or write `required: false` beside its path." if missing.service else "Create it."
        message = f"The env file {missing.path} is not there. {advice}"
        yield Found(FAILS, message, missing.service, key=key, item=missing.path)


ENV_FILE_MISSING = CheckRule(
    CheckCode.ENV_FILE_MISSING, "An env file is not there.", "compose-spec: env_file, required", _find
)
