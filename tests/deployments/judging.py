"""Judges a deployment of facts as `verify` does: the same diagnosis, the same drift, one look after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bcon_exporter.deployments.verify import Watch, observe
from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.drift import detect_drift
from bcon_exporter.model.thresholds import Thresholds
from tests.diagnosis.judging import shipped
from tests.drift.builders import project, replica, service
from tests.factories import ago, lifecycle, snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot
    from bcon_exporter.model.desired import DesiredService
    from bcon_exporter.model.lifecycle import LifecycleEvent
    from bcon_exporter.model.verify_report import ServiceVerdict, VerifyReport

DEPLOYED = ago(40)
"""When the containers of these tests were made, unless told; the watch began a second before."""


def deployed(name: str = "web", number: int = 1, /, **facts: Any) -> ContainerFacts:
    """A container that the deployment has made, and that has run well since."""
    base: dict[str, Any] = {"created_at": DEPLOYED, "started_at": DEPLOYED, "lifecycle": lifecycle()}
    return replica(name, number, **{**base, **facts})


def look(
    *containers: ContainerFacts,
    services: tuple[DesiredService, ...] | None = None,
    watch: Watch | None = None,
    host: HostSnapshot | None = None,
    events: Mapping[str, Sequence[LifecycleEvent]] | None = None,
    **desired: Any,
) -> tuple[Watch, VerifyReport]:
    """One look at a host with these containers; the files ask for a service of each name, unless told."""
    names = dict.fromkeys(one.compose.service for one in containers if one.compose is not None)
    wanted = project(*(service(name) for name in names) if services is None else services, **desired)
    seen = host or snapshot(*containers, networks=(), volumes=())
    report, _ = diagnose_host(seen, Thresholds(log_window_seconds=60), shipped())
    before = watch or Watch(watched_from=ago(41), window_seconds=60)
    return observe(before, seen, wanted, detect_drift(wanted, seen), report.reports, events)


def verdicts(*containers: ContainerFacts, **more: Any) -> dict[str, ServiceVerdict]:
    """The verdict of each service after one look."""
    return {one.service: one for one in look(*containers, **more)[1].services}


def codes(*containers: ContainerFacts, **more: Any) -> dict[str, tuple[str, str | None, str | None]]:
    """Verdict, code and root of each service after one look."""
    return {
        name: (one.verdict.value, one.code.value if one.code else None, one.root)
        for name, one in verdicts(*containers, **more).items()
    }
