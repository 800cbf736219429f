"""A host that tests move from moment to moment: its scans make incidents, and incidents make alerts that are pushed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bcon_exporter.errors import DockerConnectionError
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.latest_scans import LatestScans
from bcon_exporter.model.desired import ProjectProblem
from bcon_exporter.model.findings import DriftType, Severity, SymptomType
from bcon_exporter.model.reports import ServiceReplicas
from bcon_exporter.model.verify_report import DeploymentRecord, DeploymentVerdict
from bcon_exporter.outputs.addresses import Addresses
from bcon_exporter.outputs.alertmanager import AlertWatch, Pace
from bcon_exporter.outputs.metrics import Exposition, OwnState
from bcon_exporter.outputs.metrics.own_samples import MemoryCounts
from bcon_exporter.schedule import watch_outage
from bcon_exporter.schedule.incident_watch import watch_incidents
from bcon_exporter.tools.replay import SnapshotHost
from tests.factories import NOON, compose, container, snapshot
from tests.left_open import close_later
from tests.outputs.scenes import (
    ENGINE,
    Clock,
    diagnosis,
    difference,
    drift_report,
    drift_scan,
    make_context,
    not_judged,
    scan_of,
    scrape_text,
    symptom,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bcon_exporter.model.alerts import Alert
    from bcon_exporter.outputs.alertmanager import Alertmanager, Identity
    from bcon_exporter.tools import Context

EVERY_SECONDS = 30
STATUS = {Severity.INFO: "healthy", Severity.WARNING: "warning", Severity.ERROR: "error", Severity.CRITICAL: "critical"}


@dataclass
class Scene:
    """What the host is like now; tests change it.

    Attributes:
        containers: Name → symptom → its severity, or None where it cannot be judged.
        drifts: (project, service, drift type) that are there.
        stopped: (project, service) that somebody stopped.
        unknown: Projects whose files cannot be judged.
    """

    containers: dict[str, dict[SymptomType, Severity | None]] = field(default_factory=dict)
    drifts: set[tuple[str, str, DriftType]] = field(default_factory=set)
    stopped: set[tuple[str, str]] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    services: tuple[tuple[str, str], ...] = (("shop", "web"), ("shop", "job"), ("other", "web"))
    engine_up: bool = True
    endpoints: dict[str, bool] = field(default_factory=lambda: {"list": True, "stats": True})
    diagnose_works: bool = True
    drift_works: bool = True
    seconds: float = 0.25
    state_errors: int = 0


class SceneHost(SnapshotHost):
    """A host that is up as the scene says."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(snapshot(engine=ENGINE))
        self._scene = scene

    def is_up(self) -> bool:
        """Tell whether the engine answers."""
        return self._scene.engine_up

    def endpoints_up(self) -> dict[str, bool]:
        """Tell which endpoints answer."""
        return self._scene.endpoints


class Stage:
    """One exporter on the scene's host; `restart` begins a new process with the same state file."""

    def __init__(
        self,
        identity: Identity | None = None,
        alertmanagers: Iterable[Alertmanager] = (),
        cap: int = 10_000,
        now: datetime = NOON,
    ) -> None:
        self.scene = Scene()
        self.clock = Clock()
        self.now = now
        self.identity, self.alertmanagers, self.cap = identity, tuple(alertmanagers), cap
        self._history = close_later(MemoryKeeper.open(None, retention_seconds=86400, now=now))
        self.drift_since: dict[tuple[str, str, DriftType], datetime] = {}
        self._beats = 0
        self.restart()

    def restart(self) -> None:
        """Begin a new process: nothing is known but what the history holds."""
        host = SceneHost(self.scene)
        self.context: Context = replace(
            make_context(),
            host=host,
            memory=self._history,
            scans=LatestScans(),
            now=lambda: self.now,
            monotonic=self.clock,
        )
        self.own = OwnState(
            lambda: self.context,
            lambda name: 30.0 if name == "diagnose" else 60.0,
            lambda: MemoryCounts(0, self.scene.state_errors),
            insecure_bind=lambda: False,
            loaded_at=NOON,
            addresses=lambda: Addresses(self.identity.url if self.identity is not None else None),
        )
        self.exposition = Exposition(self.context.scans, self.own, monotonic=self.clock, series_cap=self.cap)
        self.watch = AlertWatch(
            lambda: self.context,
            (self.exposition, self.own),
            lambda: Pace(30.0),
            lambda: self.identity,
            self.alertmanagers,
            watch_outage=watch_outage,
        )
        self.context.scans.publish_diagnosis(scan_of(snapshot()))  # it has looked before
        self.watch.load()

    def deploy(self, verdict: DeploymentVerdict) -> None:
        """Let a deployment of a project have its verdict."""
        self._history.keep_deployment(
            DeploymentRecord(project="shop", at=self.now, since=self.now, verdict=verdict, summary="web crashed")
        )

    def pass_time(self, seconds: float = EVERY_SECONDS) -> None:
        """Let time go by."""
        self.now += timedelta(seconds=seconds)
        self.clock.at += seconds

    def beat(self, *, scanned: bool = True) -> None:
        """Scan as far as the scene lets, and judge; or judge only, as before the first scan."""
        if scanned:
            self._diagnose()
        if scanned and self._beats % 2 == 0:
            self._compare()
        self._beats += 1
        self.watch.judge()

    def alerts(self) -> tuple[Alert, ...]:
        """What was judged last."""
        judged = self.context.scans.alerts
        assert judged is not None
        return judged.report.alerts

    def text(self) -> str:
        """What a scrape would read now."""
        return scrape_text(self.exposition)

    def _diagnose(self) -> None:
        scans = self.context.scans
        if not (self.scene.diagnose_works and self.scene.engine_up):
            scans.record_failure("diagnose", self.now, 15.0, DockerConnectionError("the engine does not answer"))
        else:
            facts = [container(name=name, compose=compose(name)) for name in sorted(self.scene.containers)]
            reports = []
            for one in facts:
                shown = self.scene.containers[one.name]
                seen = [(kind, severity) for kind, severity in shown.items() if severity is not None]
                worst = max((severity for _, severity in seen), key=lambda each: each.rank, default=Severity.INFO)
                reports.append(
                    diagnosis(
                        one,
                        status=STATUS[worst],
                        symptoms=tuple(symptom(kind, severity) for kind, severity in seen),
                        not_evaluated=tuple(not_judged(kind) for kind, each in shown.items() if each is None),
                    )
                )
            host = snapshot(*facts, engine=ENGINE).model_copy(update={"taken_at": self.now})
            scan = scan_of(host, *reports, ended=self.clock.at)
            watch_incidents(self.context, host, scan.report.model_copy(update={"timestamp": self.now}))
            scans.publish_diagnosis(replace(scan, finished_at=self.now, duration_seconds=self.scene.seconds))
        self.exposition.publish("diagnose")

    def _compare(self) -> None:
        scans, scene = self.context.scans, self.scene
        if not (scene.drift_works and scene.engine_up):
            scans.record_failure("drift", self.now, 15.0, DockerConnectionError("the engine does not answer"))
        else:
            scan = drift_scan(
                *(self._report(name) for name in sorted({p for p, _ in scene.services})), ended=self.clock.at
            )
            scans.publish_drift(replace(scan, finished_at=self.now))
        self.exposition.publish("drift")

    def _report(self, project: str):  # type: ignore[no-untyped-def]  # a drift report
        scene = self.scene
        if project in scene.unknown:
            return drift_report(project, reason=ProjectProblem.PARSE_ERROR)
        known = self.drift_since
        here = {key for key in scene.drifts if key[0] == project}
        for key in [key for key in known if key[0] == project and key not in here]:
            del known[key]
        differences = []
        for name, service, kind in sorted(here):
            since = known.setdefault((name, service, kind), self.now)
            severity = Severity.ERROR if kind is DriftType.MISSING_SERVICE else Severity.WARNING
            differences.append(difference(kind, service, first_seen=since, severity=severity))
        services = tuple(
            ServiceReplicas(service_name=service, desired=1, running=1, stop_requested=(name, service) in scene.stopped)
            for name, service in scene.services
            if name == project
        )
        return drift_report(project, *differences, services=services)
