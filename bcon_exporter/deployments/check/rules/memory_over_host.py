"""memory_over_host: limits, or reservations, of all that would run exceed the host's memory."""

from collections.abc import Iterator

from bcon_exporter.deployments.check.rule import RISK, CheckRule, Found
from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.diagnosis.usage_in_words import in_bytes
from bcon_exporter.model.check_report import CheckCode


def _find(planned: PlannedDeployment) -> Iterator[Found]:
    engine = planned.snapshot.engine
    memory = engine.memory_bytes if engine is not None else None
    if memory is None:
        return
    limits = {service.name: (service.memory_limit_bytes or 0) * service.replicas for service in planned.services}
    reserved = {
        service.name: (service.memory_reservation_bytes or 0) * service.replicas for service in planned.services
    }
    others = sum(
        container.limits.memory_bytes or 0
        for container in planned.staying
        if container.is_running and container.limits is not None
    )
    if any(limits.values()) and (total := sum(limits.values()) + others) > memory:
        yield _found("limits", total, memory, limits, others)
    elif (total := sum(reserved.values())) > memory:
        yield _found("reservations", total, memory, reserved, 0)


def _found(what: str, total: int, memory: int, by_service: dict[str, int], others: int) -> Found:
    evidence = [f"{name}: {in_bytes(amount)}" for name, amount in by_service.items() if amount]
    if others:
        evidence.append(f"other containers: {in_bytes(others)}")
    largest = max(by_service, key=lambda name: by_service[name])
    return Found(
        RISK,
        f"The memory {what} of all that would run are {in_bytes(total)}, more than the host's {in_bytes(memory)}. "
        "Lower some, or the kernel ends processes when all use what they may.",
        evidence=tuple(evidence),
        key=f"services.{largest}",
    )


MEMORY_OVER_HOST = CheckRule(
    CheckCode.MEMORY_OVER_HOST,
    "Memory limits, or reservations, of all that would run exceed the host's memory.",
    "moby: GET /info, MemTotal",
    _find,
)
