"""name_taken: a container that `up` would make has the name of one that stays."""

from collections.abc import Collection, Iterator

import re2

from bcon_exporter.deployments.check.rule import FAILS, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment, describe_owner
from bcon_exporter.model.check_report import CheckCode
from bcon_exporter.model.deployment import WantedService

_NUMBER = re2.compile(r"[1-9][0-9]{0,9}")


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    taken = {container.name: container for container in planned.staying}
    for service in planned.services:
        if service.container_name is not None and service.replicas > 1:
            yield Found(
                FAILS,
                f"{service.replicas} replicas of {service.name} cannot all be called {service.container_name}. "
                "Leave container_name out.",
                service.name,
                key=f"services.{service.name}.container_name",
            )
            continue
        for name in _find_wanted(taken, service, planned):
            owner = describe_owner(taken[name], planned.deployment.project)
            yield Found(
                FAILS,
                f"The name {name} is taken by {owner} ({taken[name].state.value}). Remove or rename one of them.",
                service.name,
                evidence=(f"{name}: {taken[name].short_id}, {taken[name].state.value}",),
                key=f"services.{service.name}.container_name",
            )


def _find_wanted(taken: Collection[str], service: WantedService, planned: PlannedDeployment) -> Iterator[str]:
    """Yield those of the names that containers of a service need which are not there yet."""
    if service.container_name is not None:
        yield from [service.container_name] if service.container_name in taken else []
        return
    numbers = {one.compose.number for one in planned.containers_of(service) if one.compose is not None}
    prefix = f"{planned.deployment.project}-{service.name}-"
    for name in taken:
        number = name.removeprefix(prefix) if name.startswith(prefix) else ""
        if _NUMBER.fullmatch(number) and int(number) <= service.replicas and int(number) not in numbers:
            yield name


NAME_TAKEN = CheckRule(
    CheckCode.NAME_TAKEN,
    "A container's name belongs to a container that stays, or several replicas share one.",
    "moby: names of containers, stopped ones included, are unique",
    _find,
)
