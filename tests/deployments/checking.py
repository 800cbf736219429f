"""Small builders for the rules of `check`: each test names only what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bcon_exporter.deployments.check import check_deployment
from bcon_exporter.model.check_report import CheckInput, CheckReport
from bcon_exporter.model.container_facts import (
    ComposeIdentity,
    ContainerFacts,
    EngineFacts,
    HostSnapshot,
    NetworkFacts,
    VolumeFacts,
)
from bcon_exporter.model.deployment import (
    HostFacts,
    ImageFacts,
    ListeningSocket,
    PublishedPort,
    WantedDeployment,
    WantedService,
)
from tests.factories import NOON, container

if TYPE_CHECKING:
    from collections.abc import Iterable

PROJECT = "app"
GIB = 1024**3
ENGINE = EngineFacts(
    name="host",
    server_version="20.10.24",
    api_version="1.41",
    memory_bytes=8 * GIB,
    architecture="x86_64",
    runtimes=("runc",),
    log_driver="json-file",
)
IMAGE = ImageFacts(id="sha256:" + "1" * 64, os="linux", architecture="amd64", has_health_check=False)
QUIET = {"restart": "no", "log_driver": "local"}
"""What a service says of which no advice is due."""


def service(name: str = "web", **facts: Any) -> WantedService:
    """A service of which nothing is to be said."""
    return WantedService(**{"name": name, "image": "app:1", **QUIET, **facts})


def port(published: int, last: int | None = None, **facts: Any) -> PublishedPort:
    """A published port, or a range."""
    return PublishedPort(**{"first": published, "last": last or published, "target": 80, **facts})


def own(name: str = "app-web-1", of: str = "web", **facts: Any) -> ContainerFacts:
    """A container of the project."""
    claim = ComposeIdentity(project=PROJECT, service=of, config_hash="1")
    return container(**{"name": name, "compose": claim, **facts})


def listening(number: int, address: str = "0.0.0.0", protocol: Any = "tcp") -> ListeningSocket:
    """A socket of the host."""
    return ListeningSocket(protocol=protocol, address=address, port=number)


def situation(
    *services: WantedService,
    containers: Iterable[ContainerFacts] = (),
    networks: Iterable[NetworkFacts] | None = (),
    volumes: Iterable[VolumeFacts] | None = (),
    host: HostFacts | None = None,
    engine: EngineFacts | None = ENGINE,
    images: dict[str, ImageFacts | None] | None = None,
    **more: Any,
) -> CheckInput:
    """A deployment on a host of which everything can be seen."""
    of_deployment = {key: more.pop(key) for key in [*more] if key in WantedDeployment.model_fields}
    deployment = WantedDeployment(**{"project": PROJECT, "services": services, **of_deployment})
    snapshot = HostSnapshot(
        taken_at=NOON,
        engine=engine,
        containers=tuple(containers),
        networks=None if networks is None else tuple(networks),
        volumes=None if volumes is None else tuple(volumes),
    )
    return CheckInput(
        **{
            "snapshot": snapshot,
            "deployment": deployment,
            "images": {one.name: IMAGE for one in services} if images is None else images,
            "host": host or HostFacts(sockets=(), paths={}, emulated=(), default_log_is_bounded=True),
            **more,
        }
    )


def check(*services: WantedService, **more: Any) -> CheckReport:
    """The report on a deployment; no rule may raise."""
    report = check_deployment(situation(*services, **more))
    assert report.rule_errors == ()
    return report


def said(report: CheckReport) -> list[tuple[str, str, str | None]]:
    """Every finding as severity, code and service."""
    return [(one.severity.value, one.code.value, one.service) for one in report.findings]
