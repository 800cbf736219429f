"""env_file_missing: an env file that the files or the command line name is not there."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    files = planned.deployment.missing_env_files
    for path in dict.fromkeys(missing.path for missing in files):
        services = [missing.service for missing in files if missing.path == path and missing.service]
        first = services[0] if services else None
        key = f"services.{first}.env_file" if first else ""
        advice = "Create it, or write `required: false` beside its path." if first else "Create it."
        for_whom = f", which {', '.join(services[:-1])} and {services[-1]} name," if len(services) > 1 else ""
        message = f"The env file {path}{for_whom} is not there. {advice}"
        yield Found(FAILS, message, first, key=key, item=path)


ENV_FILE_MISSING = CheckRule(
    CheckCode.ENV_FILE_MISSING, "An env file is not there.", "compose-spec: env_file, required", _find
)
