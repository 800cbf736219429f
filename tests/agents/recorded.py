"""A recorded host as the exporter saw it, hosts of any size made of it, and contexts that answer every tool.

python -m tests.agents.recorded     # writes recorded.json.gz anew
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bcon_exporter.app import build_context, build_replay
from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.incidents import KnownPast, find_troubles, observe_troubles
from bcon_exporter.memory import DiskMemory, Memory
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.desired import DesiredProject, DesiredService
from bcon_exporter.model.disk import LogFile, LogReading, StoredData, StoredImage, StoredLayer, StoredVolume
from bcon_exporter.model.incidents import EndedBy, Incident, IncidentState
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.reports import CostEntry
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.model.verify_report import DeployedService, DeploymentRecord, DeploymentVerdict, VerifyCode
from bcon_exporter.settings import load_settings
from bcon_exporter.tools.cost import measure_usage
from bcon_exporter.tools.host_views import take_full_snapshot
from bcon_exporter.tools.replay import SnapshotMemory
from tests.factories import full_id
from tests.golden.engine import RecordedEngine
from tests.golden.recording import read_host

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bcon_exporter.journal import EntryFilter, IncidentFilter
    from bcon_exporter.model.container_facts import ContainerFacts
    from bcon_exporter.tools import Context

RECORDED = "scenarios"
"""A host on which all fails that the diagnosis knows, while most of its containers are well."""
PROJECT = "shop"


FILE = Path(__file__).parent / "recorded.json.gz"


@cache
def read_recorded() -> tuple[HostSnapshot, int]:
    """The recorded host at its last moment, and how many bytes the engine's inspect of a container has on average."""
    written = json.loads(gzip.decompress(FILE.read_bytes()))
    return HostSnapshot.model_validate(written["snapshot"]), written["inspect_bytes"]


def write_recorded() -> None:
    """Read the recorded host as the daemon does, and write what it saw."""
    host = read_host(RECORDED)
    moment = host.moments[-1]
    inspected = [answer for path, answer in moment.answers.items() if path.startswith("/containers/")]
    sizes = [len(json.dumps(answer)) for answer in inspected if isinstance(answer, dict) and "HostConfig" in answer]
    now = datetime.fromtimestamp(moment.at_nanoseconds / 1e9, UTC)
    with (
        tempfile.TemporaryDirectory(prefix="bcon-agents-") as folder,
        RecordedEngine(host, Path(folder) / "docker.sock") as engine,
    ):
        engine.show(moment)
        settings = load_settings({"docker": {"host": engine.host}, "state": {"path": "none"}}, {"PATH": "/nowhere"})
        context = replace(build_context(settings, one_shot=True), now=lambda: now)
        try:
            seen = take_full_snapshot(context)
        finally:
            context.memory.close()
            context.host.close()
    if seen.unread.get("logs") or any("logs" in one.unread for one in seen.containers if one.is_running):
        sys.exit("the stand-in of the engine was too slow; write it once more")
    written = {"inspect_bytes": sum(sizes) // len(sizes), "snapshot": seen.model_dump(mode="json")}
    FILE.write_bytes(gzip.compress(json.dumps(written, separators=(",", ":")).encode(), mtime=0))


def make_host(containers: int, ailing: int) -> HostSnapshot:
    """The recorded host with so many containers, copies of its own, of which so many are ailing."""
    recorded, _ = read_recorded()
    report, _ = diagnose_host(recorded, Thresholds(), load_catalogue())
    facts = {one.name: one for one in recorded.containers}
    alone = [one for one in report.reports if one.root is None and not one.explains]
    alone = [one for one in alone if not _shares_a_network(facts[one.container_name])]  # a copy would lose its owner
    ill = [facts[one.container_name] for one in alone if one.status != "healthy"]
    well = [facts[one.container_name] for one in alone if one.status == "healthy" and one.checked]
    chosen = (*_copy(ill, ailing, "ill"), *_copy(well, containers - ailing, "well"))
    return recorded.model_copy(update={"containers": chosen, "desired": (_desire(chosen),)})


def _shares_a_network(facts: ContainerFacts) -> bool:
    return facts.wiring is not None and facts.wiring.network_mode.startswith("container:")


def _copy(originals: Sequence[ContainerFacts], count: int, word: str) -> list[ContainerFacts]:
    """So many containers; each has a service of its own."""
    copies = []
    for number in range(count):
        facts = originals[number % len(originals)]
        name = f"{facts.name}-{word}{number}"
        changes: dict[str, Any] = {"id": full_id(name), "name": name}
        if facts.compose is not None:
            claim = {"project": f"{facts.compose.project}-{number}", "service": f"{facts.compose.service}-{number}"}
            changes["compose"] = facts.compose.model_copy(update=claim)
        copies.append(facts.model_copy(update=changes))
    return copies


def _desire(containers: Sequence[ContainerFacts]) -> DesiredProject:
    """A project of as many services, none of which is there."""
    services = tuple(DesiredService(name=f"service-{number}", image="postgres:17") for number in range(len(containers)))
    return DesiredProject(
        name=PROJECT,
        config_files=("/srv/shop/compose.yaml",),
        working_dir="/srv/shop",
        resolved_at=datetime(2026, 1, 1, tzinfo=UTC),
        services=services,
    )


class FullMemory(SnapshotMemory):
    """A past in which something has happened to every container: incidents, journal, deployments, disk, calls."""

    def __init__(self, facts: HostSnapshot, incidents: Sequence[Incident], state: IncidentState) -> None:
        super().__init__()
        self._facts = facts
        self.ended = tuple(incidents)
        self.memory = Memory(disk=_fill_disk(facts), incidents=state, engine_name="shop-1")
        self.entries = (*_tell_changes(facts), *_tell_deployments(facts))

    def find_entries(self, wanted: EntryFilter, limit: int, offset: int = 0) -> list[JournalEntry]:
        return self._fitting(wanted)[offset : offset + limit]

    def count_entries(self, wanted: EntryFilter) -> int:
        return len(self._fitting(wanted))

    def _fitting(self, wanted: EntryFilter) -> list[JournalEntry]:
        return [one for one in self.entries if not wanted.kinds or one.kind in wanted.kinds]

    def find_ended_incidents(self, wanted: IncidentFilter) -> list[Incident]:  # noqa: ARG002
        return list(self.ended)

    def find_ended_incident(self, incident_id: str) -> Incident | None:
        return next((one for one in self.ended if one.id == incident_id), None)

    def ended_incidents_mark(self) -> object:
        return len(self.ended)

    def ended_incident_ids(self) -> frozenset[str]:
        return frozenset(one.id for one in self.ended)

    def costs(self, since: datetime, until: datetime) -> tuple[CostEntry, ...]:  # noqa: ARG002
        entry = CostEntry(timestamp=until, operation="diagnose_all", usage=measure_usage(2, 30_000), cached=False)
        return (entry,) * len(self._facts.containers)


def _tell_changes(facts: HostSnapshot) -> list[JournalEntry]:
    """A changed label and an end for every container."""
    at = facts.taken_at - timedelta(minutes=5)
    entries = []
    for one in facts.containers:
        claim = one.compose
        about: dict[str, Any] = {
            "container": one.name,
            "project": claim.project if claim else None,
            "service": claim.service if claim else None,
        }
        path = _own_label(one)
        entries += [
            JournalEntry(at=at, kind=JournalKind.CRASH, text="ended with code 3", data={"exit_code": 3}, **about),
            JournalEntry(
                at=at,
                kind=JournalKind.CONFIG_CHANGE,
                text=f"configuration changed: {path}",
                data={"fields": [path]},
                **about,
            ),
        ]
    return entries


def _own_label(facts: ContainerFacts) -> str:
    """The path of a label that Compose has not made."""
    return f"labels.{next((key for key in facts.labels if not key.startswith('com.docker.compose.')), 'team')}"


def _tell_deployments(facts: HostSnapshot) -> list[JournalEntry]:
    entries = []
    for one in facts.containers:
        claim = one.compose
        path = _own_label(one)
        service = DeployedService(
            service=claim.service if claim else one.name,
            verdict=DeploymentVerdict.BAD,
            code=VerifyCode.DIFFERS,
            message=f"{path} should be x, but {one.name} has y",
            changes=(path,),
        )
        record = DeploymentRecord(
            project=claim.project if claim else PROJECT,
            at=facts.taken_at,
            since=facts.taken_at,
            verdict=DeploymentVerdict.BAD,
            summary="1 of 1 services differs from its files.",
            services=(service,),
        )
        data: dict[str, Any] = {"record": record.model_dump(mode="json")}
        entries.append(
            JournalEntry(at=facts.taken_at, kind=JournalKind.DEPLOYMENT, project=record.project, text="bad", data=data)
        )
    return entries


def _fill_disk(facts: HostSnapshot) -> DiskMemory:
    """A log, a layer and a volume for every container."""
    stored = StoredData(
        at=facts.taken_at,
        layers=tuple(StoredLayer(container_id=one.id, name=one.name, size_bytes=10**6) for one in facts.containers),
        images=(StoredImage(name="postgres:16", size_bytes=10**8, containers=3),),
        volumes=tuple(StoredVolume(name=f"volume-{n}", size_bytes=10**7) for n in range(len(facts.containers))),
        cache_bytes=10**7,
    )
    files = tuple(LogFile(container_id=one.id, name=one.name, size_bytes=10**5) for one in facts.containers)
    return DiskMemory(logs=LogReading(at=facts.taken_at, logs=files), stored=stored, asked_at=facts.taken_at)


def make_context(facts: HostSnapshot) -> Context:
    """A context that answers every tool about a host, with an incident for all that fails on it, open and over."""
    report, _ = diagnose_host(facts, Thresholds(), load_catalogue())
    past = KnownPast(entries=_tell_changes(facts))
    alone = [report.model_copy(update={"reports": (one,)}) for one in report.reports]
    states = [observe_troubles(IncidentState(), find_troubles(one, facts), past)[0] for one in alone]
    opened = [tracked for state in states for tracked in state.open]
    ended = [
        one.incident.model_copy(
            update={"id": f"{one.incident.id}-over", "ended_at": facts.taken_at, "ended_by": EndedBy.RESTARTED}
        )
        for one in opened
    ]
    context = build_replay(load_settings({}, {"PATH": "/nowhere"}), facts)
    return replace(context, memory=FullMemory(facts, ended, IncidentState(open=tuple(opened))))


if __name__ == "__main__":
    write_recorded()
