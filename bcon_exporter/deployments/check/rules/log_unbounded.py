"""log_unbounded: nothing bounds a service's log file."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import ADVICE, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode
from bcon_exporter.model.deployment import WantedService

_UNBOUNDED = "json-file"


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    for service in planned.services:
        if _is_unbounded(service, planned):
            message = "Its log file grows without bound. Give `logging` the option max-size, or the driver local."
            yield Found(ADVICE, message, service.name, key=f"services.{service.name}.logging")


def _is_unbounded(service: WantedService, planned: PlannedDeployment) -> bool:
    """Return whether a log is certainly unbounded: the engine's settings hold for its default driver."""
    engine = planned.snapshot.engine
    default = engine.log_driver if engine is not None else None
    driver = service.log_driver or default
    if driver != _UNBOUNDED or "max-size" in service.log_options:
        return False
    return driver != default or planned.host.default_log_is_bounded is False


LOG_UNBOUNDED = CheckRule(
    CheckCode.LOG_UNBOUNDED, "Nothing bounds a service's log file.", "moby: json-file keeps all by default", _find
)
