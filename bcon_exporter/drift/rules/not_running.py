"""not_running: the service has containers, and none of them runs. A finished one-shot is done, not down."""

from collections.abc import Iterator

from bcon_exporter.drift.pairing import ProjectPairing, ServicePairing
from bcon_exporter.drift.rule import DriftRule
from bcon_exporter.drift.wording import render_paused_hint
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import DriftType, ServiceDrift, Severity
from bcon_exporter.model.hooks import explain_waiting


def _find(pairing: ProjectPairing) -> Iterator[ServiceDrift]:
    for pair in pairing.services:
        if not pair.replicas or pair.service.replicas == 0 or pair.running or pair.done:
            continue
        yield _drift(pair)


def _drift(pair: ServicePairing) -> ServiceDrift:
    name, stopped = pair.service.name, pair.stop_requested
    states = ", ".join(sorted({_state(container) for container in pair.replicas}))
    by_hand = " Somebody stopped it." if stopped else ""
    hook = None if pair.started_once else explain_waiting(pair.hooks)
    waiting = "" if hook is None else f" {hook}"
    return ServiceDrift(
        service_name=name,
        drift_type=DriftType.NOT_RUNNING,
        expected="running",
        actual=states,
        message=f"Service {name} does not run: {states}.{by_hand}{waiting}{render_paused_hint(pair.replicas)}",
        severity=Severity.INFO if stopped else Severity.ERROR,
        container_name=pair.replicas[0].name,
        stop_requested=stopped,
        compose_would="start",
    )


def _state(container: ContainerFacts) -> str:
    if container.state is ContainerState.EXITED and container.exit_code is not None:
        return f"exited with code {container.exit_code}"
    return str(container.state)


NOT_RUNNING = DriftRule(DriftType.NOT_RUNNING, "docs/drift.md, Decisions", _find)
