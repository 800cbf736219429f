"""limit_below_use: a memory limit is below what the service uses."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import RISK, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.diagnosis.usage_in_words import in_bytes
from bcon_exporter.model.check_report import CheckCode, NotChecked
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.deployment import WantedService


def _find(planned: PlannedDeployment) -> Iterator[Found | NotChecked]:
    for service in planned.services:
        if service.memory_limit_bytes is None:
            continue
        for container in planned.containers_of(service):
            if not container.is_running:
                continue
            used = container.usage.memory_usage_bytes if container.usage is not None else None
            if used is None:
                reason = container.unread.get("usage", "the engine does not tell")
                yield NotChecked(what=f"the memory that {container.name} uses", reason=reason)
                continue
            peak = planned.given.peak_memory_bytes.get(container.id, 0)
            if max(used, peak) > service.memory_limit_bytes:
                yield _found(service, container, used, peak)
                break


def _found(service: WantedService, container: ContainerFacts, used: int, peak: int) -> Found:
    what = f"uses {in_bytes(used)} now"
    if peak > used:
        what = f"used up to {in_bytes(peak)} in the last day"
    limit = in_bytes(service.memory_limit_bytes)
    return Found(
        RISK,
        f"The limit of {limit} is below what {service.name} needs: {container.name} {what}. "
        "With it the kernel would end its processes.",
        service.name,
        evidence=(f"{container.name} {what}",),
        key=f"services.{service.name}.mem_limit",
    )


LIMIT_BELOW_USE = CheckRule(
    CheckCode.LIMIT_BELOW_USE,
    "A memory limit is below what the running container uses, or used in the last day.",
    "the working set, as docker stats shows it",
    _find,
)
