"""replica_mismatch: the service runs, with another number of replicas than `scale` or `deploy.replicas` asks for."""

from collections.abc import Iterator

from bcon_exporter.drift.pairing import ProjectPairing
from bcon_exporter.drift.rule import DriftRule
from bcon_exporter.drift.wording import render_paused_hint
from bcon_exporter.model.findings import ComposeAction, DriftType, ServiceDrift, Severity


def _find(pairing: ProjectPairing) -> Iterator[ServiceDrift]:
    for pair in pairing.services:
        wanted, running, done = pair.service.replicas, len(pair.running), len(pair.done)
        too_few = running + done < wanted and running + done > 0
        if not (too_few or running > wanted):
            continue
        stopped = pair.stop_requested if too_few and len(pair.replicas) >= wanted else None
        action: ComposeAction = "start" if len(pair.replicas) >= wanted else "create"
        hint = render_paused_hint(pair.replicas)
        yield ServiceDrift(
            service_name=pair.service.name,
            drift_type=DriftType.REPLICA_MISMATCH,
            expected=str(wanted),
            actual=str(running),
            message=f"Service {pair.service.name} runs {running} of {wanted} replicas.{hint}",
            severity=Severity.INFO if stopped else Severity.WARNING,
            stop_requested=stopped,
            compose_would=action if too_few else "remove_orphan",
        )


REPLICA_MISMATCH = DriftRule(DriftType.REPLICA_MISMATCH, "docs/drift.md, Decisions", _find)
