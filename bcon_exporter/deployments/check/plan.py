"""What `up` would do to each service: the drift engine's differences, read as a plan."""

from collections.abc import Iterable, Mapping

from bcon_exporter.drift import detect_drift
from bcon_exporter.model.check_report import CheckInput, ServicePlan
from bcon_exporter.model.findings import DriftType, ServiceDrift
from bcon_exporter.model.reports import DriftReport, DriftStatus

_NETWORKS = "networks."
_STRONGEST_FIRST = ("recreate", "create", "remove", "start", "orphan")


def make_plan(given: CheckInput) -> tuple[ServicePlan, ...]:
    """Return what would be done, by service, orphans last; nothing where the files cannot be resolved."""
    if given.desired is None or given.desired.services is None:
        return ()
    report = detect_drift(given.desired, given.snapshot)
    by_service: dict[str, list[ServiceDrift]] = {}
    resources = [one for one in report.differences if _is_of_resource(one)]
    for difference in (*report.differences, *report.doubts):
        if difference in resources:
            continue
        by_service.setdefault(difference.service_name, []).append(difference)
    running = {replicas.service_name: replicas.running > 0 for replicas in report.services}
    steps = [
        _step(name, by_service.get(name, []), report, is_running=is_running) for name, is_running in running.items()
    ]
    strays = [_step(name, by_service[name], report, is_running=False) for name in by_service if name not in running]
    steps = _with_joined(_with_networks(steps, given, running, resources), given, running)
    steps = _with_hooks(_with_dependents(steps, given, running), given, running)
    return (*steps, *(step for step in strays if step.action == "orphan"))


def _with_networks(
    steps: list[ServicePlan], given: CheckInput, running: Mapping[str, bool], resources: Iterable[ServiceDrift]
) -> list[ServicePlan]:
    """Return the plan with all restarted whose network is made anew. A volume stays as it was made: it has data."""
    fields = [one.field or "" for one in resources]
    remade = {field.removeprefix(_NETWORKS) for field in fields if field.startswith(_NETWORKS)}
    if not remade or given.deployment is None:
        return steps
    keys = {network.key: network.name for network in given.deployment.networks}
    users = {
        service.name: [keys[key] for key in service.networks if keys.get(key) in remade]
        for service in given.deployment.services
    }
    return [
        ServicePlan(
            service=step.service,
            action="restart",
            why=(*step.why, *(f"{_NETWORKS}{name}" for name in users[step.service])),
            is_away=running[step.service],
        )
        if users.get(step.service) and running[step.service] and step.action in ("leave", "unknown")
        else step
        for step in steps
    ]


def _is_of_resource(difference: ServiceDrift) -> bool:
    return difference.drift_type is DriftType.CONFIG_MISMATCH and difference.container_name is None


def _with_joined(steps: list[ServicePlan], given: CheckInput, running: Mapping[str, bool]) -> list[ServicePlan]:
    """Return the plan with those replaced that use namespaces or volumes of a container that is made anew."""
    joins = {service.name: service.joins for service in given.deployment.services} if given.deployment else {}
    by_service = {step.service: step for step in steps}
    is_complete = False
    while not is_complete:
        is_complete = True
        for name, step in by_service.items():
            made = [other for other in joins.get(name, ()) if other in by_service and _is_made(by_service[other])]
            if step.action in ("leave", "restart", "start", "unknown") and made:
                why = tuple(f"shares with {other}" for other in made)
                by_service[name] = ServicePlan(service=name, action="recreate", why=why, is_away=running[name])
                is_complete = False
    return list(by_service.values())


def _with_dependents(steps: list[ServicePlan], given: CheckInput, running: Mapping[str, bool]) -> list[ServicePlan]:
    """Return the plan with those restarted that are to be when what they depend on is replaced."""
    replaced = {step.service for step in steps if step.action == "recreate"}
    services = given.deployment.services if given.deployment is not None else ()
    reasons = {
        service.name: tuple(
            f"restarts with {one.service}" for one in service.depends_on if one.restarts and one.service in replaced
        )
        for service in services
    }
    return [
        ServicePlan(service=step.service, action="restart", why=reasons[step.service], is_away=True)
        if reasons.get(step.service) and running[step.service] and step.action in ("leave", "unknown")
        else step
        for step in steps
    ]


def _with_hooks(steps: list[ServicePlan], given: CheckInput, running: Mapping[str, bool]) -> list[ServicePlan]:
    """Return the plan with the hooks that run: only where no container of the service runs when it is to be started."""
    hooks = {service.name: service.hooks for service in given.deployment.services} if given.deployment else {}
    return [
        step.model_copy(update={"hooks": tuple(f"{hook.name} ({hook.image})" for hook in hooks[step.service])})
        if hooks.get(step.service) and (step.action == "recreate" or _starts_first(step, running))
        else step
        for step in steps
    ]


def _starts_first(step: ServicePlan, running: Mapping[str, bool]) -> bool:
    return step.action in ("create", "start") and not running[step.service]


def _is_made(step: ServicePlan) -> bool:
    return step.action in ("recreate", "create")


def _step(name: str, differences: list[ServiceDrift], report: DriftReport, *, is_running: bool) -> ServicePlan:
    actions = {_action(difference) for difference in differences}
    why = tuple(dict.fromkeys(_why(difference) for difference in differences))
    action = next((known for known in _STRONGEST_FIRST if known in actions), None)
    match action:
        case "recreate":
            return ServicePlan(service=name, action="recreate", why=why, is_away=is_running)
        case "create" | "remove" | "start" | "orphan":
            return ServicePlan(service=name, action=action, why=why)
        case _ if None in actions or (report.status is DriftStatus.UNKNOWN and not differences):
            doubts = (report.unknown_detail,) if report.unknown_detail else why or ("not everything is known",)
            return ServicePlan(service=name, action="unknown", why=doubts)
        case _:
            return ServicePlan(service=name, action="leave")


def _action(difference: ServiceDrift) -> str | None:
    if difference.compose_would == "remove_orphan":
        return "remove" if difference.drift_type is DriftType.REPLICA_MISMATCH else "orphan"
    return difference.compose_would


def _why(difference: ServiceDrift) -> str:
    return difference.field or difference.drift_type.value.replace("_", " ")
