"""What every rule of `check` sees: what would be deployed, and what is there."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from bcon_exporter.model.check_report import CheckInput, ServicePlan
from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot
from bcon_exporter.model.deployment import (
    BindSource,
    HostFacts,
    ImageFacts,
    WantedDeployment,
    WantedHook,
    WantedService,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


@dataclass(frozen=True)
class PlannedDeployment:
    """A deployment on a host. `plan`: what `up` would do to each service."""

    given: CheckInput
    deployment: WantedDeployment
    plan: tuple[ServicePlan, ...] = ()

    @property
    def snapshot(self) -> HostSnapshot:
        """The host."""
        return self.given.snapshot

    @property
    def host(self) -> HostFacts:
        """What is seen of it beside the engine."""
        return self.given.host

    @cached_property
    def services(self) -> tuple[WantedService, ...]:
        """Those that `up` makes containers of, in the files' order; Compose tells them by name."""
        places = {key: index for index, key in enumerate(self.given.places)}
        last = len(places)
        return tuple(
            sorted(
                self.deployment.enabled_services,
                key=lambda service: places.get(f"services.{service.name}", last),
            )
        )

    @cached_property
    def services_by_name(self) -> dict[str, WantedService]:
        """The same by their names."""
        return {service.name: service for service in self.services}

    @cached_property
    def staying(self) -> tuple[ContainerFacts, ...]:
        """Containers that `up` neither replaces nor removes: of others, orphans, and services of inactive profiles."""
        return tuple(container for container in self.snapshot.containers if not self.is_replaced(container))

    def is_replaced(self, container: ContainerFacts) -> bool:
        """Return whether a container stands for a service that `up` looks after."""
        claim = container.compose
        if claim is None or claim.project != self.deployment.project or claim.oneoff:
            return False
        if claim.hook is None and claim.config_hash is None:
            return False
        return claim.service in self._looked_after

    @cached_property
    def _looked_after(self) -> frozenset[str]:
        return frozenset(service.name for service in self.deployment.services if service.enabled)

    def containers_of(self, service: WantedService) -> tuple[ContainerFacts, ...]:
        """Return the containers that stand for a service now."""
        return tuple(self._replaced.get(service.name, ()))

    @cached_property
    def _replaced(self) -> dict[str, list[ContainerFacts]]:
        found: dict[str, list[ContainerFacts]] = {}
        for container in self.snapshot.containers:
            if container.compose is not None and container.compose.is_replica and self.is_replaced(container):
                found.setdefault(container.compose.service, []).append(container)
        return found

    def image_of(self, service: WantedService) -> ImageFacts | None:
        """Return a service's image on the engine; None where it is not there, or not known."""
        return self.given.images.get(service.name)

    def lacks_image(self, service: WantedService) -> bool:
        """Return whether a service's image is certainly not on the engine."""
        return service.name in self.given.images and self.given.images[service.name] is None

    @cached_property
    def hooks(self) -> tuple[tuple[WantedService, WantedHook], ...]:
        """The hooks of all services, each beside its service."""
        return tuple((service, hook) for service in self.services for hook in service.hooks)

    @cached_property
    def binds(self) -> tuple[tuple[WantedService, str, BindSource], ...]:
        """What services and their hooks mount from the host, each with its service and its key in the file."""
        own = [
            (service, f"services.{service.name}.volumes", bind) for service in self.services for bind in service.binds
        ]
        of_hooks = [
            (service, f"services.{service.name}.pre_start", bind) for service, hook in self.hooks for bind in hook.binds
        ]
        return (*own, *of_hooks)

    def users_of(self, uses: "Callable[[WantedService], Collection[str]]", key: str) -> tuple[str, ...]:
        """Return the services that use something."""
        return tuple(service.name for service in self.services if key in uses(service))

    def is_there(self, path: str) -> bool | None:
        """Return whether something is at a path of the host; None where that cannot be seen."""
        return None if self.host.paths is None else self.host.paths.get(path)


def describe_owner(container: ContainerFacts, project: str) -> str:
    """Return whose container it is, in words."""
    claim = container.compose
    if claim is None:
        return f"the container {container.name}"
    if claim.project != project:
        return f"the container {container.name} of project {claim.project}"
    return f"the container {container.name} of this project, which `up` leaves as it is"


def only_one(names: tuple[str, ...]) -> str | None:
    """Return the only name; None of several."""
    return names[0] if len(names) == 1 else None
