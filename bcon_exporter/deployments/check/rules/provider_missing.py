"""provider_missing: a program that Compose calls for a provider or for models is not on this machine."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode, NotChecked


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    for service, key, program in planned.deployment.programs:
        is_there = planned.given.programs.get(program)
        if is_there is None:
            yield NotChecked(what=f"the program {program} of {service}", reason="this machine's programs are not seen")
        elif not is_there:
            yield Found(FAILS, _message(key, program), service, key=f"services.{service}.{key}")


def _message(key: str, program: str) -> str:
    if key == "models":
        return f"`models` needs the plug-in {program} (Docker Model Runner), which is not on this machine. Install it."
    return (
        f"The provider {program} is neither a plug-in of Docker (docker-{program}) nor a program in PATH. Install it."
    )


PROVIDER_MISSING = CheckRule(
    CheckCode.PROVIDER_MISSING,
    "A `provider` or `models` needs a program or plug-in that is not on this machine.",
    "docker/compose v5.6.1, measured; docker/cli: plug-in folders",
    _find,
)
