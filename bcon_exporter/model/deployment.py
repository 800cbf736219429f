"""What a deployment would make, as `check` and `verify` judge it: the resolved files as values, safe to show.

Paths and image references are masked as a report may show them; what opens the real ones keeps them elsewhere.
"""

from typing import Literal

from bcon_exporter.model.base import Frozen

DependencyCondition = Literal["service_started", "service_healthy", "service_completed_successfully"]
HealthCheckOrigin = Literal["file", "image", "none"]
ANY_ADDRESS = ""


class DeploymentWords(Frozen):
    """What a user names of a deployment, as for `docker compose`.

    Attributes:
        files: As given; without any, the default file of the working directory or of one above it.
        prefers_running: Without any, the files that the named project runs from come before those.
        edited: Absolute path → the text to judge in place of the file's own; nothing is written.
    """

    files: tuple[str, ...] = ()
    project_name: str | None = None
    env_files: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    prefers_running: bool = False
    edited: dict[str, str] = {}


class PublishedPort(Frozen):
    """A port of the host that a service asks for.

    Attributes:
        address: Of the host; "" for all.
        first, last: The port, or a range of which the engine takes a free one.
    """

    address: str = ANY_ADDRESS
    first: int
    last: int
    target: int
    protocol: str = "tcp"


class BindSource(Frozen):
    """A path of the host that a service mounts. `creates`: where it is absent, the engine makes an empty directory."""

    source: str
    target: str
    creates: bool = True


class Dependency(Frozen):
    """A service that another one waits for. `restarts`: the other one is restarted when this one is made anew."""

    service: str
    condition: DependencyCondition
    required: bool = True
    restarts: bool = False


class WantedService(Frozen):
    """One service as Compose resolved it.

    Attributes:
        enabled: False for one of an inactive profile.
        health_check: Where its health check comes from, as far as the file tells: "image" where it says nothing.
        restart: "no", "always", "unless-stopped" or "on-failure"; "" where the file says nothing.
        has_image_name: `image` is a name that an image can have; the engine refuses any other.
        runs_once: Another one waits for its end, or it is declared as a job.
        gpu_drivers: Drivers of the GPUs that it asks for; "" for the default one.
        memory_limit_bytes, memory_reservation_bytes: Of each replica; None where there is none.
        log_driver: None where the engine's default holds.
        secret_names: Names of secrets, by their key in the file.
        secret_variables: Environment variables with a secret's name and a value in the clear.
        networks, volumes: Keys in the file.
        joins: Services whose namespaces or volumes it uses: its container is made anew with theirs.
    """

    name: str
    enabled: bool = True
    image: str = ""
    has_image_name: bool = True
    is_built: bool = False
    pull_policy: str | None = None
    platform: str | None = None
    container_name: str | None = None
    replicas: int = 1
    ports: tuple[PublishedPort, ...] = ()
    binds: tuple[BindSource, ...] = ()
    devices: tuple[str, ...] = ()
    runtime: str | None = None
    gpu_drivers: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    configs: tuple[str, ...] = ()
    depends_on: tuple[Dependency, ...] = ()
    health_check: HealthCheckOrigin = "image"
    restart: str = ""
    runs_once: bool = False
    memory_limit_bytes: int | None = None
    memory_reservation_bytes: int | None = None
    log_driver: str | None = None
    log_options: tuple[str, ...] = ()
    secret_variables: tuple[str, ...] = ()
    uses_host_network: bool = False
    joins: tuple[str, ...] = ()


class WantedNetwork(Frozen):
    """A network of the file, by its key; `name` is the engine's."""

    key: str
    name: str
    external: bool = False
    subnets: tuple[str, ...] = ()


class WantedVolume(Frozen):
    """A named volume of the file, by its key; `name` is the engine's."""

    key: str
    name: str
    external: bool = False


class WantedFile(Frozen):
    """The file of a secret or a config, which is mounted from the host; `path` is None where it is no file."""

    key: str
    path: str | None = None


class MissingEnvFile(Frozen):
    """An env file that is not there; `service` is None for one that the command line names."""

    path: str
    service: str | None = None


class WantedDeployment(Frozen):
    """A project as Compose resolved it.

    Attributes:
        is_lenient: Compose refuses the files, and this is what it reads without looking at what contradicts itself.
    """

    project: str
    services: tuple[WantedService, ...] = ()
    networks: tuple[WantedNetwork, ...] = ()
    volumes: tuple[WantedVolume, ...] = ()
    secrets: tuple[WantedFile, ...] = ()
    configs: tuple[WantedFile, ...] = ()
    missing_env_files: tuple[MissingEnvFile, ...] = ()
    is_lenient: bool = False

    @property
    def enabled_services(self) -> tuple[WantedService, ...]:
        """Those that `up` makes containers of."""
        return tuple(service for service in self.services if service.enabled and service.replicas > 0)


class FilePlace(Frozen):
    """A line of a file, from 1."""

    file: str
    line: int


class KeyLocation(Frozen):
    """Where a key of the resolved project stands: "services.web.ports".

    Attributes:
        items: Text of each scalar below it → where that stands.
    """

    place: FilePlace
    items: dict[str, FilePlace] = {}


class ComposeRefusal(Frozen):
    """Compose refuses the files: why, in our words; never content."""

    message: str
    file: str | None = None
    line: int | None = None


class ImageFacts(Frozen):
    """An image on the engine."""

    id: str
    os: str | None = None
    architecture: str | None = None
    has_health_check: bool | None = None


class ListeningSocket(Frozen):
    """A socket of the host that waits for somebody. `address`: "0.0.0.0" and "::" for all."""

    protocol: Literal["tcp", "udp"]
    address: str
    port: int


class HostFacts(Frozen):
    """What was seen of the engine's host beside the engine; None for what cannot be seen from here.

    Attributes:
        sockets: Listening ones, containers' own included.
        paths: Path, as it may be shown → whether something is there; a path that may not be looked at is left out.
        emulated: Architectures whose programs the kernel hands to an emulator.
        has_gpu_hook: The hook is installed by which the engine knows NVIDIA's GPUs.
        default_log_is_bounded: The engine's own settings bound the logs of containers that say nothing of it.
        unseen: What cannot be seen → why.
    """

    sockets: tuple[ListeningSocket, ...] | None = None
    paths: dict[str, bool] | None = None
    emulated: tuple[str, ...] | None = None
    has_gpu_hook: bool | None = None
    default_log_is_bounded: bool | None = None
    unseen: dict[str, str] = {}
