"""Scans and contexts for tests of the faces: real values and a replayed host, no engine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.latest_scans import DiagnoseScan, DriftScan, LatestScans
from bcon_exporter.model.container_facts import ContainerFacts, EngineFacts, HostSnapshot
from bcon_exporter.model.findings import (
    DriftType,
    LikelyCause,
    NotEvaluated,
    ServiceDrift,
    Severity,
    Symptom,
    SymptomType,
)
from bcon_exporter.model.reports import (
    DiagnoseAllReport,
    DiagnosisReport,
    DriftReport,
    DriftStatus,
    ServiceReplicas,
)
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.outputs.metrics import Exposition, OwnState
from bcon_exporter.outputs.metrics.own_samples import MemoryCounts
from bcon_exporter.tools import Context
from bcon_exporter.tools.replay import SnapshotCompose, SnapshotHost, SnapshotMemory
from tests.factories import NOON, snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bcon_exporter.model.desired import ProjectProblem

INTERVALS = {"diagnose": 30.0, "drift": 60.0}
ENGINE = EngineFacts(name="host1", server_version="20.10.24", api_version="1.41", storage_driver="overlay2")


class Clock:
    """A monotonic clock that tests move."""

    def __init__(self, at: float = 1000.0) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


class TurnedOffHost(SnapshotHost):
    """A replayed host that does not answer."""

    def is_up(self) -> bool:
        """Say no."""
        return False


def make_context(host: HostSnapshot | None = None, *, up: bool = True, **changes: Any) -> Context:
    """A context over a replayed snapshot."""
    facts = host if host is not None else snapshot(engine=ENGINE)
    context = Context(
        host=SnapshotHost(facts) if up else TurnedOffHost(facts),
        memory=SnapshotMemory(),
        compose=SnapshotCompose(facts),
        catalogue=load_catalogue(None),
        scans=LatestScans(),
    )
    return replace(context, **changes)


def symptom(kind: SymptomType, severity: Severity = Severity.ERROR, **facts: Any) -> Symptom:
    """A symptom seen at noon."""
    return Symptom(**{"type": kind, "severity": severity, "description": "seen", "detected_at": NOON, **facts})


def not_judged(kind: SymptomType) -> NotEvaluated:
    """A rule that lacked its facts."""
    return NotEvaluated(symptom=kind, missing=("logs",), reason="the log driver cannot be read")


def cause(name: str, confidence: float = 0.9, peer: str | None = None) -> LikelyCause:
    """A likely cause."""
    return LikelyCause(id=name, description="because", confidence=confidence, peer=peer)


def diagnosis(facts: ContainerFacts, **changes: Any) -> DiagnosisReport:
    """A healthy report of a container; `changes` replace any of it."""
    base: dict[str, Any] = {
        "container_id": facts.short_id,
        "container_name": facts.name,
        "timestamp": NOON,
        "state": facts.state,
        "uptime": 3600.0,
        "status": "healthy",
        "summary": "well",
        "detailed_explanation": "nothing is wrong",
        "project": facts.compose.project if facts.compose else None,
        "service": facts.compose.service if facts.compose else None,
    }
    return DiagnosisReport(**{**base, **changes})


def report_of(reports: Iterable[DiagnosisReport]) -> DiagnoseAllReport:
    """The host's report of some containers."""
    all_reports = tuple(reports)
    counts = {
        name: sum(each.status == name for each in all_reports) for name in ("healthy", "warning", "error", "critical")
    }
    return DiagnoseAllReport(timestamp=NOON, total_containers=len(all_reports), reports=all_reports, **counts)  # type: ignore[arg-type]


def scan_of(host: HostSnapshot, *reports: DiagnosisReport, ended: float = 1000.0, **changes: Any) -> DiagnoseScan:
    """A finished diagnosis; healthy reports of all containers unless some are given."""
    chosen = reports or tuple(diagnosis(facts) for facts in host.containers)
    scan = DiagnoseScan(
        snapshot=host,
        report=report_of(chosen),
        thresholds=Thresholds(),
        finished_at=NOON,
        finished_monotonic=ended,
        duration_seconds=0.25,
    )
    return replace(scan, **changes)


def difference(kind: DriftType, service: str = "api", **facts: Any) -> ServiceDrift:
    """One difference."""
    base: dict[str, Any] = {
        "service_name": service,
        "drift_type": kind,
        "expected": "a",
        "actual": "b",
        "message": "differs",
    }
    return ServiceDrift(**{**base, **facts})


def drift_report(
    project: str = "shop", *differences: ServiceDrift, reason: ProjectProblem | None = None, **changes: Any
) -> DriftReport:
    """A project's report: drifted with differences, unknown with a reason, else synced."""
    status = DriftStatus.UNKNOWN if reason else DriftStatus.DRIFTED if differences else DriftStatus.SYNCED
    base: dict[str, Any] = {
        "timestamp": NOON,
        "project_name": project,
        "compose_file": f"/srv/{project}/compose.yaml",
        "status": status,
        "differences": differences,
        "summary": status.value,
        "services": () if reason else (ServiceReplicas(service_name="api", desired=2, running=1),),
        "unknown_reason": reason,
    }
    return DriftReport(**{**base, **changes})


def drift_scan(*reports: DriftReport, untracked: tuple[str, ...] = (), ended: float = 1000.0) -> DriftScan:
    """A finished drift scan."""
    return DriftScan(
        reports=reports, untracked=untracked, finished_at=NOON, finished_monotonic=ended, duration_seconds=0.1
    )


def make_exposition(context: Context, clock: Callable[[], float] | None = None, **options: Any) -> Exposition:
    """An exposition over a context's scans."""
    own = OwnState(
        lambda: context,
        lambda name: INTERVALS[name],
        MemoryCounts,
        insecure_bind=lambda: False,
        loaded_at=NOON,
    )
    return Exposition(context.scans, own, monotonic=clock or Clock(), **({"series_cap": 80_000} | options))


def exposition_of(
    scan: DiagnoseScan | None = None, drift: DriftScan | None = None, **options: Any
) -> tuple[Exposition, Context]:
    """An exposition that has published what is given."""
    context = make_context(scan.snapshot if scan else None)
    exposition = make_exposition(context, **options)
    if drift is not None:
        context.scans.publish_drift(drift)
        exposition.publish("drift")
    if scan is not None:
        context.scans.publish_diagnosis(scan)
        exposition.publish("diagnose")
    return exposition, context


def scrape_text(exposition: Exposition, fmt: Any = "text", **options: Any) -> str:
    """The uncompressed answer as text."""
    return exposition.answer(fmt, compress=False, **options).body.decode()


def samples_of(text: str, *names: str) -> list[str]:
    """The sample lines of some families."""
    return [line for line in text.splitlines() if line.split("{")[0].split(" ")[0] in names]
