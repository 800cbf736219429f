"""Hosts to look at: real diagnoses, incidents and journals over made-up containers, and a server that shows them."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.incidents import FoldedIncidents
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.latest_scans import AlertRound, DiagnoseScan
from bcon_exporter.memory import journal_deployment
from bcon_exporter.model.alerts import Alert, AlertsReport
from bcon_exporter.model.container_facts import ContainerState, EngineFacts, HealthStatus, Limits, LogFacts
from bcon_exporter.model.disk import DiskSpace, LogFile, LogReading, StoredData, StoredImage, StoredLayer, StoredVolume
from bcon_exporter.model.findings import DriftType, Severity
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.lifecycle import EventBatch
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.model.verify_report import DeployedService, DeploymentRecord, DeploymentVerdict, VerifyCode
from bcon_exporter.outputs.http import Connections, Listener, ListenerPolicy, Site, Users, bind, make_site, serve_all
from bcon_exporter.schedule.diagnose_job import find_present, set_first_seen
from bcon_exporter.schedule.incident_watch import watch_incidents
from bcon_exporter.tools import Context
from bcon_exporter.tools.replay import SnapshotHost
from tests.factories import (
    NOON,
    ago,
    compose,
    container,
    ended,
    exited,
    health,
    lifecycle,
    line,
    logs,
    looping,
    network,
    probe,
    snapshot,
    usage,
)
from tests.left_open import close_later
from tests.outputs.scenes import difference, drift_report, drift_scan, make_context, make_exposition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from bcon_exporter.errors import DockerConnectionError
    from bcon_exporter.model.container_facts import ContainerFacts
    from bcon_exporter.model.reports import DriftReport

ENGINE = EngineFacts(
    name="attic", server_version="20.10.24", api_version="1.41", storage_driver="overlay2", memory_bytes=16 * 2**30
)
NOW = NOON + timedelta(seconds=12)
DAY = timedelta(days=1)


def stage_context(
    containers: Iterable[ContainerFacts],
    *,
    drift: tuple[DriftReport, ...] | None = None,
    untracked: tuple[str, ...] = (),
    journal: Iterable[JournalEntry] = (),
    alerts: tuple[Alert, ...] = (),
    with_usage: bool = False,
    disk: tuple[LogReading | StoredData | str, ...] = (),
) -> Context:
    """A context whose last scan was at noon; incidents are those that the daemon would have opened."""
    taken = snapshot(*containers, engine=ENGINE)
    memory = close_later(MemoryKeeper.open(None, retention_seconds=90 * 86400, now=NOON))
    context = replace(make_context(taken), memory=memory, catalogue=load_catalogue(None), now=lambda: NOW)
    memory.add_events(EventBatch(events=(), covers_since=ago(days=12)), NOON)
    if with_usage:
        _use_for_a_day(memory, taken.containers)
    for reading in disk:
        memory.keep_disk(reading, NOON if isinstance(reading, str) else reading.at)
    entries = tuple(journal)
    memory.fold_incidents(lambda state: FoldedIncidents(state, (), entries), NOON)
    if drift is not None:
        context.scans.publish_drift(drift_scan(*drift, untracked=untracked))
    publish(context, taken.containers, ago(minutes=4))
    if alerts:
        context.scans.publish_alerts(AlertRound(AlertsReport(timestamp=NOON, alerts=alerts), 1000.0))
    return context


def publish(context: Context, containers: Iterable[ContainerFacts], seen_since: datetime | None = None) -> None:
    """Publish one more scan of the host."""
    taken = snapshot(*containers, engine=ENGINE)
    report, _ = diagnose_host(taken, Thresholds(), context.catalogue)
    context.memory.conclude_first_seen("symptom", find_present(report), seen_since or NOON)
    since = context.memory.conclude_first_seen("symptom", find_present(report), NOON)
    report = set_first_seen(report, since)
    watch_incidents(context, taken, report)
    finished = DiagnoseScan(
        snapshot=taken,
        report=report,
        thresholds=Thresholds(),
        finished_at=NOON,
        finished_monotonic=1000.0,
        duration_seconds=0.21,
    )
    context.scans.publish_diagnosis(finished)


def _use_for_a_day(memory: MemoryKeeper, containers: Iterable[ContainerFacts]) -> None:
    """Let containers be seen using CPU and memory, in waves, over the day before."""
    running = [one for one in containers if one.is_running and one.usage is not None]
    for minutes in range(24 * 60, 0, -5):
        wave = 0.5 + 0.5 * ((minutes * 7919) % 97) / 97
        night = 0.3 if 8 * 60 < minutes < 15 * 60 else 1.0
        seen = []
        for one in running:
            assert one.usage is not None
            used = one.usage.model_copy(
                update={
                    "cpu_ratio": min(1.0, (one.usage.cpu_ratio or 0.05) * wave * night * 1.6),
                    "memory_usage_bytes": int(
                        (one.usage.memory_usage_bytes or 2**26) * (1.15 - minutes / 2400) * (0.95 + 0.05 * wave)
                    ),
                }
            )
            seen.append(one.model_copy(update={"usage": used}))
        memory.observe(snapshot(*seen, engine=ENGINE, taken_at=ago(minutes=minutes)))


def well(project: str, *services: str) -> tuple[ContainerFacts, ...]:
    """Healthy containers of a project."""
    return tuple(
        container(
            name=f"{project}-{service}-1", compose=compose(service, project), networks=(network(f"{project}_default"),)
        )
        for service in services
    )


HOMELAB = (
    *well("media", "jellyfin", "sonarr", "radarr", "prowlarr", "qbittorrent", "gluetun"),
    *well("cloud", "nextcloud", "cron", "redis", "mariadb", "collabora"),
    *well("photos", "server", "machine-learning", "postgres", "valkey"),
    *well("monitoring", "prometheus", "grafana", "loki", "alertmanager", "node-exporter"),
    *well("home", "assistant", "mosquitto", "zigbee2mqtt", "esphome"),
    *well("proxy", "traefik", "authelia"),
    *well("git", "forgejo", "runner", "postgres"),
    *well("wiki", "bookstack", "mariadb"),
)


def shop() -> tuple[ContainerFacts, ...]:
    """A database that the kernel kills, and two that need it."""
    here = (network("shop_default", aliases=("db",)),)
    killed = ended(137, at=ago(260), oom=True, lifetime_seconds=2400, image="postgres:17")
    db = exited(
        137,
        exit_facts=killed,
        name="shop-db-1",
        image="postgres:17",
        compose=compose("db"),
        networks=here,
        limits=Limits(memory_bytes=256 * 2**20),
        oom_killed=True,
        logs=logs(
            "LOG:  database system is ready to accept connections",
            "LOG:  checkpoint starting: time",
            "LOG:  server process (PID 88) was terminated by signal 9: Killed",
            at=ago(261),
        ),
        lifecycle=lifecycle(exits=(killed,), oom_kills=(ago(260),), oom_kills_total=1, stop_requested=False),
    )
    refused = "ERROR: connect to db:5432 failed: Connection refused"
    api_lines = [line(f"GET /orders/{n} 200 in 12 ms", at=ago(320 - n)) for n in range(20)]
    api_lines += [line(refused, at=ago(250 - 30 * n), stream="stderr") for n in range(8)]
    api = container(
        name="shop-api-1",
        image="shop/api:2.4",
        compose=compose("api"),
        networks=(network("shop_default", aliases=("api",)),),
        logs=logs(*api_lines),
    )
    web_lines = [
        line(
            f'[error] 7#7: *{n} connect() failed (111: Connection refused) while connecting to upstream, client: 10.0.0.{n}, server: , request: "GET / HTTP/1.1", upstream: "http://api:8000/", host: "shop.example"',
            at=ago(240 - 30 * n),
        )
        for n in range(6)
    ]
    web = container(
        name="shop-web-1",
        image="nginx:1.29",
        compose=compose("web"),
        networks=(network("shop_default", aliases=("web",)),),
        logs=logs(*web_lines),
    )
    return (db, api, web, *well("shop", "cache", "worker"))


def trouble() -> tuple[ContainerFacts, ...]:
    """Four more that are ill, each in its own way, and one that cannot be read."""
    loop = container(
        name="bots-importer-1",
        image="importer:3",
        state=ContainerState.RESTARTING,
        compose=compose("importer", "bots"),
        restart_policy="always",
        usage=None,
        exit_code=1,
        lifecycle=looping(9),
        logs=logs(
            "Traceback (most recent call last):",
            '  File "/app/main.py", line 3, in <module>',
            "KeyError: 'API_TOKEN'",
            at=ago(21),
        ),
    )
    sick = container(
        name="blog-ghost-1",
        image="ghost:6",
        compose=compose("ghost", "blog"),
        health=health(
            HealthStatus.UNHEALTHY,
            failing_streak=4,
            probes=(probe(exit_code=1, output="curl: (22) The requested URL returned error: 503"),),
        ),
    )
    full = container(
        name="search-opensearch-1",
        image="opensearch:3",
        compose=compose("opensearch", "search"),
        limits=Limits(memory_bytes=2 * 2**30),
        usage=usage(
            memory_usage_bytes=int(1.9 * 2**30), memory_limit_bytes=2 * 2**30, memory_ratio=0.95, cpu_ratio=0.4
        ),
    )
    blind = container(
        name="vault-vaultwarden-1",
        compose=compose("vaultwarden", "vault"),
        lifecycle=None,
        health=None,
        restart_count=None,
        exit_code=None,
        unread={"lifecycle": "the event stream of the engine cannot be read"},
    )
    return loop, sick, full, blind


def entry(kind: JournalKind, text: str, minutes: float, **subject: str | None) -> JournalEntry:
    """An entry of the journal, so many minutes before noon."""
    return JournalEntry(at=ago(minutes=minutes), kind=kind, text=text, host="attic", **subject)  # type: ignore[arg-type]


def past() -> list[JournalEntry]:
    """What the journal holds of the shop."""
    db = {"project": "shop", "service": "db", "container": "shop-db-1"}
    failed = DeploymentRecord(
        project="bots",
        at=ago(minutes=52),
        since=ago(minutes=54),
        verdict=DeploymentVerdict.BAD,
        summary="bots: 1 service of 2 failed: importer.",
        services=(
            DeployedService(
                service="importer",
                verdict=DeploymentVerdict.BAD,
                code=VerifyCode.CRASH_LOOP,
                message="it crashes again and again, exit code 1.",
                changes=("environment: API_TOKEN is gone", "image: importer:2 to importer:3"),
            ),
        ),
    )
    good = DeploymentRecord(
        project="shop", at=ago(minutes=39), since=ago(minutes=41), verdict=DeploymentVerdict.GOOD,
        summary="shop: all of 5 services did what the files ask for.",
    )  # fmt: skip
    return [
        entry(JournalKind.START, "started", 60 * 26, **db),
        entry(JournalKind.IMAGE_CHANGE, "another image: postgres:17, before postgres:16", 14, **db),
        entry(JournalKind.START, "started", 14, **db),
        entry(JournalKind.STOP, "stopped on request, exit code 0", 14.2, **db),
        entry(JournalKind.OOM, "killed for want of memory after 14 min, exit code 137", 4.3, **db),
        entry(
            JournalKind.CRASH,
            "crashed after 1 s, exit code 1",
            2,
            project="bots",
            service="importer",
            container="bots-importer-1",
        ),
        journal_deployment(failed),
        journal_deployment(good),
    ]


def fill_disk(
    containers: Iterable[ContainerFacts], *, name: str = "", problem: str = ""
) -> tuple[LogReading | StoredData | str, ...]:
    """Two readings twenty hours apart: every third log is not rotated, one grows; `name`: of a volume and an image."""
    found = tuple(containers)
    readings: list[LogReading | StoredData | str] = []
    for hours_ago in (20, 0.001):
        grown = 1.0 - hours_ago / 40
        logs = tuple(
            LogFile(container_id=one.id, name=one.name, project=one.compose.project if one.compose else None, driver="json-file",
                    is_bounded=number % 3 > 0, size_bytes=int(2**32 * grown) if number == 0 else 40_000 * number)
            for number, one in enumerate(found)
        )  # fmt: skip
        layers = tuple(
            StoredLayer(container_id=one.id, name=one.name, size_bytes=int(9e6 * number * grown),
                        is_running=one.is_running, volumes=(f"{one.name}-data",))
            for number, one in enumerate(found)
        )  # fmt: skip
        volumes = tuple(
            StoredVolume(name=f"{one.name}-data", size_bytes=70_000_000 * number, containers=1)
            for number, one in enumerate(found)
        )
        space = DiskSpace(path="/var/lib/docker", used_bytes=int(2**36 * grown), free_bytes=2**35)
        at = ago(hours=hours_ago)
        readings.append(LogReading(at=at, engine_id="one", logs=logs, space=space))
        readings.append(
            StoredData(
                at=at,
                layers=layers,
                volumes=(*volumes, StoredVolume(name=name or "old-data", size_bytes=8 * 2**30, containers=0)),
                images=(StoredImage(name=name or "app:1", size_bytes=2**30, shared_bytes=2**28, containers=0),),
                images_bytes=2**30,
                cache_bytes=3 * 2**30,
                cache_free_bytes=2**30,
            )
        )
    return (*readings, problem) if problem else tuple(readings)


def dirty_host() -> Context:
    """Forty-odd containers with much that is wrong."""
    drift = (
        drift_report("shop"),
        drift_report(
            "cloud",
            difference(DriftType.CONFIG_MISMATCH, "nextcloud", field="environment.PHP_MEMORY_LIMIT", expected="set (fingerprint 8c1f2ab0)", actual="absent", container_name="cloud-nextcloud-1", compose_would="recreate", first_seen=ago(hours=5), message="environment.PHP_MEMORY_LIMIT differs"),
            difference(DriftType.IMAGE_MISMATCH, "redis", field="image", expected="redis:8.2", actual="redis:7.4", container_name="cloud-redis-1", compose_would="recreate", first_seen=ago(days=2), message="image differs"),
            difference(DriftType.MISSING_SERVICE, "imaginary", message="imaginary is in the file and has no container", expected="1 container", actual="none", severity=Severity.WARNING, compose_would="create"),
            summary="cloud: 3 differences in 3 services",
        ),
        *(drift_report(name, summary=f"{name} runs as its files say") for name in ("media", "photos", "monitoring", "home", "git")),
    )  # fmt: skip
    alerts = (
        Alert(name="BconContainerOomKilled", severity="critical", state="firing", labels={"container": "shop-db-1", "project": "shop", "service": "db"}, annotations={"summary": "shop-db-1 on attic was killed for want of memory", "runbook_url": "https://example.org/runbooks/BconContainerOomKilled.md"}, since=ago(40), fired_at=ago(20)),
        Alert(name="BconConfigDrift", severity="warning", state="pending", labels={"project": "cloud", "service": "redis"}, annotations={"summary": "redis of cloud has left its Compose files"}, since=ago(hours=2)),
    )  # fmt: skip
    containers = (*shop(), *trouble(), *well("bots", "telegram"), *HOMELAB)
    return stage_context(
        containers,
        drift=drift,
        untracked=("media-gluetun-1",),
        journal=past(),
        alerts=alerts,
        with_usage=True,
        disk=fill_disk(containers, problem="not answered within 180 s"),
    )


def healthy_host() -> Context:
    """All is well, and has been for days."""
    journal = [
        entry(
            JournalKind.SYMPTOM_OFF,
            "unhealthy is over",
            3 * 24 * 60 + 30,
            project="media",
            container="media-jellyfin-1",
            code="unhealthy",
        )
    ]
    drift = tuple(drift_report(name, summary=f"{name} runs as its files say") for name in ("media", "cloud", "photos"))
    return stage_context(HOMELAB, drift=drift, journal=journal, with_usage=True)


def site_over(context: Context) -> Site:
    """A site whose metrics are rendered."""
    exposition = make_exposition(context)
    exposition.publish("diagnose")
    exposition.publish("drift")
    return make_site(lambda: context, exposition, lambda: None)


@dataclass
class Served:
    """A site on a port of loopback."""

    url: str
    context: Context
    site: Site
    users: list[Users | None]


@contextmanager
def serve(context: Context, route_prefix: str = "", open_files: int = 1024) -> Iterator[Served]:
    """Serve a context's pages until the end of the block."""
    site = site_over(context)
    users: list[Users | None] = [None]
    policy = ListenerPolicy(loopback=True, route_prefix=route_prefix)
    sockets = bind("127.0.0.1", 0, "web.listen-address")
    listener = Listener(sockets, site.behind(lambda: policy, lambda: users[0]))
    stop = asyncio.Event()
    loop = asyncio.new_event_loop()
    server = threading.Thread(
        target=lambda: loop.run_until_complete(serve_all([listener], stop, Connections(open_files)))
    )
    server.start()
    try:
        yield Served(f"http://{listener.addresses[0]}{route_prefix}", context, site, users)
    finally:
        site.live.close()
        loop.call_soon_threadsafe(stop.set)
        server.join()
        loop.close()


HOSTILE = '<script>window.hacked=1</script>"><img src=x onerror="window.hacked=1">{{ 7*7 }}\'--></pre>'
LONG = "x" * 3000


def hostile_host() -> Context:
    """A host whose images, services, labels, logs and errors want to be more than text."""
    own = compose(f"web{HOSTILE}", "shop")
    lines = (
        f"ERROR {HOSTILE}",
        f"ERROR {LONG}",
        "ERROR \u202egnp.exe \u0000 \x1b[31m",
        "FATAL: connection to db:5432 refused",
    )
    failed = ended(1, at=ago(60), lifetime_seconds=3, last_lines=lines)
    bad = exited(
        1,
        exit_facts=failed,
        name="shop-web-1",
        image=f"img{HOSTILE}",
        compose=own,
        error=f"failed {HOSTILE}",
        logs=logs(*lines, at=ago(61)),
        labels={"x": HOSTILE},
    )
    sick = container(
        name="n" * 120,
        image=LONG,
        compose=compose("b", "shop"),
        health=health(HealthStatus.UNHEALTHY, failing_streak=3, probes=(probe(exit_code=1, output=HOSTILE + LONG),)),
    )
    drift = (
        drift_report("shop", difference(DriftType.CONFIG_MISMATCH, f"web{HOSTILE}", field=f"labels.{HOSTILE}", expected=LONG, actual=HOSTILE, message=HOSTILE), summary=HOSTILE),
    )  # fmt: skip
    journal = [
        entry(JournalKind.CRASH, f"crashed {HOSTILE}", 3, project="shop", service=HOSTILE, container="shop-web-1")
    ]
    alerts = (
        Alert(name="BconContainerExitError", severity="critical", state="firing", labels={"container": "shop-web-1", "x": HOSTILE}, annotations={"summary": HOSTILE, "runbook_url": "javascript:window.hacked=1"}, since=ago(9), fired_at=ago(5)),
    )  # fmt: skip
    disk = fill_disk((bad, sick), name=HOSTILE + LONG, problem=HOSTILE)
    return stage_context((bad, sick), drift=drift, untracked=(HOSTILE,), journal=journal, alerts=alerts, disk=disk)


def crowd_host(count: int) -> Context:
    """So many containers in projects of ten, one in ten ill."""
    loops = {
        "restart_policy": "always",
        "usage": None,
        "exit_code": 1,
        "lifecycle": looping(9),
        "state": ContainerState.RESTARTING,
    }
    lines = logs("Traceback (most recent call last):", "KeyError: 'API_TOKEN'", at=ago(21))
    containers = []
    for number in range(count):
        service, project = f"service-{number % 10}", f"project-{number // 10:02}"
        facts = {**loops, "logs": lines} if number % 10 == 3 else {}
        containers.append(container(name=f"{project}-{service}-1", compose=compose(service, project), **facts))
    drift = tuple(drift_report(f"project-{number:02}") for number in range(count // 10))
    return stage_context(containers, drift=drift, disk=fill_disk(containers))


class Printing(SnapshotHost):
    """A host whose containers print on."""

    def __init__(self, context: Context) -> None:
        assert context.scans.diagnosis is not None
        super().__init__(context.scans.diagnosis.snapshot)
        self.lines = [line("INFO: ready", at=ago(9))]
        self.error: DockerConnectionError | None = None

    def read_logs(self, container_id: str, *, tail: int, since: datetime | None, until: datetime | None) -> LogFacts:  # noqa: ARG002
        if self.error is not None:
            raise self.error
        return LogFacts(lines=tuple(self.lines))
