"""From the binary's answer to what a deployment would make. Pure.

The raw paths and references stand beside the values, for whoever looks whether they exist.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

import re2

from bcon_exporter.compose.service_attachments import real_name
from bcon_exporter.compose.service_fields import image_of, replicas_of
from bcon_exporter.compose.shared_namespaces import find_shared_namespaces
from bcon_exporter.model.deployment import (
    BindSource,
    Dependency,
    DependencyCondition,
    HealthCheckOrigin,
    PublishedPort,
    WantedDeployment,
    WantedFile,
    WantedHook,
    WantedNetwork,
    WantedService,
    WantedVolume,
    key_of_hook,
)
from bcon_exporter.secrets.known_secrets import NO_SECRETS, KnownSecrets
from bcon_exporter.secrets.masking import is_secret_key, safe_name, safe_text
from bcon_exporter.secrets.normal_form import mapping_of

_JOBS = ("replicated-job", "global-job")
_CONDITIONS: tuple[DependencyCondition, ...] = get_args(DependencyCondition)
_RESTART_CONDITIONS = {"any": "always", "on-failure": "on-failure", "none": "no"}
_DEFAULT = "default"
_WITHOUT_POOLS = ("overlay", "host", "null", "none", "ipvlan")
"""Drivers of networks whose subnets are none of the engine's own address pools, or not surely so."""
_HOST = r"(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?"
_PART = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*"
_IMAGE_NAME = re2.compile(
    rf"(?:{_HOST}/)?{_PART}(?:/{_PART})*(?::\w[\w.-]{{0,127}})?(?:@[A-Za-z0-9+._-]+:[0-9A-Fa-f]{{32,}})?"
)
"""As the engine's own grammar has it (distribution/reference); the first part may be a host in capital letters."""


@dataclass(frozen=True)
class Deployment:
    """What a deployment would make.

    Attributes:
        wanted: As it may be shown.
        paths: Path of the host as shown → the real one.
        images: Service, or `key_of_hook`, → the real image reference.
    """

    wanted: WantedDeployment
    paths: Mapping[str, str] = field(default_factory=dict, repr=False)
    images: Mapping[str, str] = field(default_factory=dict, repr=False)


def make_deployment(
    model: Mapping[str, Any], enabled: Collection[str], known: KnownSecrets = NO_SECRETS, *, is_lenient: bool = False
) -> Deployment:
    """Return what a resolved model would make; see `WantedDeployment`.

    Raises:
        ValueError, TypeError, AttributeError: A value is not what it must be; Compose checks most, not all.
    """
    maker = _Maker(model, known)
    services = mapping_of(model.get("services"))
    wanted = WantedDeployment(
        project=str(model.get("name") or ""),
        services=tuple(maker.make_service(name, name in enabled) for name in services),
        networks=tuple(maker.make_network(key) for key in mapping_of(model.get("networks"))),
        volumes=tuple(
            WantedVolume(key=key, name=safe_text(real_name("volumes", key, model)), external=maker.is_external(volume))
            for key, volume in mapping_of(model.get("volumes")).items()
        ),
        secrets=maker.make_files("secrets"),
        configs=maker.make_files("configs"),
        is_lenient=is_lenient,
    )
    return Deployment(wanted, maker.paths, maker.images)


class _Maker:
    def __init__(self, model: Mapping[str, Any], known: KnownSecrets) -> None:
        self._model, self._known = model, known
        self._services = mapping_of(model.get("services"))
        self.paths: dict[str, str] = {}
        self.images: dict[str, str] = {}

    def make_service(self, name: str, enabled: bool) -> WantedService:  # noqa: FBT001 -- private
        service = self._services[name]
        deploy = mapping_of(service.get("deploy"))
        resources = mapping_of(deploy.get("resources"))
        limits, reservations = mapping_of(resources.get("limits")), mapping_of(resources.get("reservations"))
        image = image_of(service, name, str(self._model.get("name")))
        self.images[name] = image
        log = mapping_of(service.get("logging"))
        hooks = [mapping_of(hook) for hook in service.get("pre_start") or ()]
        shared = find_shared_namespaces({name: service}).get(name)
        return WantedService(
            name=name,
            enabled=enabled and not service.get("provider"),
            image=safe_text(self._known.hide_tag(image)),
            has_image_name=not service.get("image") or is_image_name(image),
            is_built=bool(service.get("build")),
            pull_policy=_text(service.get("pull_policy")),
            platform=_text(service.get("platform")),
            container_name=_text(service.get("container_name")),
            replicas=replicas_of(service),
            ports=tuple(ports_of(service.get("ports") or ())),
            binds=tuple(self._binds_of(service)),
            devices=tuple(self._devices_of(service)),
            runtime=_text(service.get("runtime")),
            gpu_drivers=_gpu_drivers_of(service, reservations),
            networks=tuple(mapping_of(service.get("networks"))),
            volumes=tuple(
                str(volume["source"])
                for one in (service, *hooks)
                for volume in one.get("volumes") or ()
                if volume.get("type") == "volume" and volume.get("source")
            ),
            secrets=_sources_of(entry for one in (service, *hooks) for entry in one.get("secrets") or ()),
            configs=_sources_of(entry for one in (service, *hooks) for entry in one.get("configs") or ()),
            depends_on=tuple(_dependencies_of(service)),
            health_check=health_check_of(service),
            restart=restart_policy_of(service),
            runs_once=self._runs_once(name, deploy),
            memory_limit_bytes=_bytes(limits.get("memory") or service.get("mem_limit")),
            memory_reservation_bytes=_bytes(reservations.get("memory") or service.get("mem_reservation")),
            log_driver=_text(log.get("driver")),
            log_options=tuple(map(safe_name, mapping_of(log.get("options")))),
            secret_variables=tuple(
                safe_name(key)
                for key, value in mapping_of(service.get("environment")).items()
                if value and is_secret_key(key) and not key.upper().endswith("_FILE")
            ),
            uses_host_network=service.get("network_mode") == "host",
            hooks=tuple(self._make_hook(name, index, hook) for index, hook in enumerate(hooks)),
            provider=_text(mapping_of(service.get("provider")).get("type")) if enabled else None,
            uses_models=bool(service.get("models")),
            joins=tuple(sorted(shared.services)) if shared is not None else (),
        )

    def _make_hook(self, service: str, index: int, hook: Mapping[str, Any]) -> WantedHook:
        image = str(hook.get("image") or image_of(self._services[service], service, str(self._model.get("name"))))
        made = WantedHook(
            name=f"pre_start[{index}]",
            image=safe_text(self._known.hide_tag(image)),
            has_image_name=is_image_name(image),
            is_built=any(
                bool(other.get("build")) and image_of(other, name, str(self._model.get("name"))) == image
                for name, other in self._services.items()
            ),
            binds=tuple(self._binds_of(hook)),
            devices=tuple(self._devices_of(hook)),
            per_replica=hook.get("per_replica") is True,
        )
        self.images[key_of_hook(service, made)] = image
        return made

    def make_network(self, key: str) -> WantedNetwork:
        network = mapping_of(mapping_of(self._model.get("networks")).get(key))
        ipam, driver = mapping_of(network.get("ipam")), str(network.get("driver") or "")
        pools = ipam.get("config") or ()
        subnets = tuple(safe_name(str(pool["subnet"])) for pool in pools if mapping_of(pool).get("subnet"))
        return WantedNetwork(
            key=key,
            name=safe_text(real_name("networks", key, self._model)),
            external=self.is_external(network),
            subnets=subnets,
            driver=safe_name(driver),
            takes_from_pools=not subnets
            and driver not in _WITHOUT_POOLS
            and ipam.get("driver") in (None, "", "default"),
        )

    def make_files(self, section: str) -> tuple[WantedFile, ...]:
        """Return secrets or configs; those that no file is mounted for have no path."""
        return tuple(
            WantedFile(key=key, path=self._shown(str(entry["file"])) if mapping_of(entry).get("file") else None)
            for key, entry in mapping_of(self._model.get(section)).items()
        )

    def is_external(self, resource: object) -> bool:
        return bool(mapping_of(resource).get("external"))

    def _runs_once(self, name: str, deploy: Mapping[str, Any]) -> bool:
        waited_for = any(
            mapping_of(mapping_of(mapping_of(other).get("depends_on")).get(name)).get("condition")
            == "service_completed_successfully"
            for other in self._services.values()
        )
        return waited_for or deploy.get("mode") in _JOBS

    def _binds_of(self, service: Mapping[str, Any]) -> Iterable[BindSource]:
        for volume in service.get("volumes") or ():
            if volume.get("type") == "bind":
                yield BindSource(
                    source=self._shown(str(volume.get("source") or "")),
                    target=safe_text(str(volume.get("target") or "")),
                    creates=mapping_of(volume.get("bind")).get("create_host_path") is not False,
                    propagation=_text(mapping_of(volume.get("bind")).get("propagation")) or "",
                )

    def _devices_of(self, service: Mapping[str, Any]) -> Iterable[str]:
        """Yield devices by their paths; one of a CDI driver has a name instead."""
        for device in service.get("devices") or ():
            source = str(device.get("source") or "")
            if source.startswith("/"):
                yield self._shown(source)

    def _shown(self, path: str) -> str:
        shown = safe_text(self._known.hide(path))
        self.paths[shown] = path
        return shown


def is_image_name(text: str) -> bool:
    """Return whether an image can be called so; the engine refuses another name before it looks for the image."""
    return _IMAGE_NAME.fullmatch(text) is not None


def ports_of(ports: Iterable[Mapping[str, Any]]) -> Iterable[PublishedPort]:
    """Yield the ports of the host that are asked for; those that the engine may choose are left out."""
    for port in ports:
        first, _, last = str(port.get("published") or "").partition("-")
        if not first or first == "0":
            continue
        yield PublishedPort(
            address=str(port.get("host_ip") or ""),
            first=int(first),
            last=int(last or first),
            target=int(port.get("target") or 0),
            protocol=str(port.get("protocol") or "tcp"),
        )


def health_check_of(service: Mapping[str, Any]) -> HealthCheckOrigin:
    """Return where a service's health check comes from."""
    check = mapping_of(service.get("healthcheck"))
    test = check.get("test")
    if check.get("disable") or test in ("NONE", ["NONE"]):
        return "none"
    return "file" if test else "image"


def restart_policy_of(service: Mapping[str, Any]) -> str:
    """Return when its containers are started again, "" where nothing is said; `deploy.restart_policy` comes first."""
    policy = mapping_of(service.get("deploy")).get("restart_policy")
    if isinstance(policy, Mapping):
        return _RESTART_CONDITIONS.get(str(policy.get("condition") or "any"), "always")
    return str(service.get("restart") or "").partition(":")[0]


def _dependencies_of(service: Mapping[str, Any]) -> Iterable[Dependency]:
    for name, entry in mapping_of(service.get("depends_on")).items():
        condition = mapping_of(entry).get("condition")
        yield Dependency(
            service=name,
            condition=next((known for known in _CONDITIONS if known == condition), _CONDITIONS[0]),
            required=mapping_of(entry).get("required") is not False,
            restarts=mapping_of(entry).get("restart") is True,
        )


def _gpu_drivers_of(service: Mapping[str, Any], reservations: Mapping[str, Any]) -> tuple[str, ...]:
    asked = [mapping_of(entry) for entry in service.get("gpus") or ()]
    asked += [
        mapping_of(entry)
        for entry in reservations.get("devices") or ()
        if "gpu" in (mapping_of(entry).get("capabilities") or ())
    ]
    return tuple(dict.fromkeys(str(entry.get("driver") or "") for entry in asked))


def _sources_of(uses: Any) -> tuple[str, ...]:
    return tuple(str(use.get("source")) for use in uses or () if use.get("source"))


def _bytes(value: Any) -> int | None:
    return int(value) if value and int(value) > 0 else None


def _text(value: Any) -> str | None:
    return safe_name(str(value)) if value else None
