"""What a deployment would make, as `check` and `verify` judge it: the resolved files as values, safe to show.

Paths and image references are masked as a report may show them; what opens the real ones keeps them elsewhere.
"""

from typing import Literal

from bcon_exporter.model.base import Frozen

DependencyCondition = Literal["service_started", "service_healthy", "service_completed_successfully"]
HealthCheckOrigin = Literal["file", "image", "none"]
ANY_ADDRESS = ""
_MODELS = "docker-model"


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
    """A path of the host that a service mounts.

    Attributes:
        creates: Where it is absent, the engine makes an empty directory.
        propagation: "rslave" and the like; "" where the file says nothing.
    """

    source: str
    target: str
    creates: bool = True
    propagation: str = ""


class Dependency(Frozen):
    """A service that another one waits for. `restarts`: the other one is restarted when this one is made anew."""

    service: str
    condition: DependencyCondition
    required: bool = True
    restarts: bool = False


class WantedHook(Frozen):
    """A hook of a service that runs in a container of its own before the service is started.

    Attributes:
        name: "pre_start[0]".
        is_built: A service of the files builds its image.
        binds, devices: Of its own, beside those of the service.
        per_replica: It is to run once for each container of the service.
    """

    name: str
    image: str = ""
    has_image_name: bool = True
    is_built: bool = False
    binds: tuple[BindSource, ...] = ()
    devices: tuple[str, ...] = ()
    per_replica: bool = False


def key_of_hook(service: str, hook: WantedHook) -> str:
    """Return the name by which a hook stands beside services; no service can be called so."""
    return f"{service} {hook.name}"


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
        hooks: In the order in which they run.
        provider: The program that is wanted to provide it in place of containers; None where none is.
        uses_models: It asks for models of the file.
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
    hooks: tuple[WantedHook, ...] = ()
    provider: str | None = None
    uses_models: bool = False
    joins: tuple[str, ...] = ()


class WantedNetwork(Frozen):
    """A network of the file, by its key; `name` is the engine's.

    Attributes:
        driver: "" where the file says nothing.
        takes_from_pools: The engine chooses its subnet, out of its address pools.
    """

    key: str
    name: str
    external: bool = False
    subnets: tuple[str, ...] = ()
    driver: str = ""
    takes_from_pools: bool = False


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

    @property
    def programs(self) -> tuple[tuple[str, str, str], ...]:
        """Service, key in the file, and the program that Compose calls for it, on its own machine.

        A name that begins with "docker-" is that of a plug-in; another one may be that of a plug-in or of a program.
        """
        providers = [(one.name, "provider", one.provider) for one in self.services if one.provider is not None]
        return (*providers, *((one.name, "models", _MODELS) for one in self.enabled_services if one.uses_models))


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


class PathMount(Frozen):
    """The mount that a path lies on, and how mounts below it are passed on: "shared", "slave" or "private"."""

    point: str
    propagation: str


class HostFacts(Frozen):
    """What was seen of the engine's host beside the engine; None for what cannot be seen from here.

    Attributes:
        sockets: Listening ones, containers' own included.
        mounts: Path, as it may be shown → the mount that it lies on; without those of which it is not known.
        paths: Path, as it may be shown → whether something is there; a path that may not be looked at is left out.
        emulated: Architectures whose programs the kernel hands to an emulator.
        has_gpu_hook: The hook is installed by which the engine knows NVIDIA's GPUs.
        default_log_is_bounded: The engine's own settings bound the logs of containers that say nothing of it.
        unseen: What cannot be seen → why.
    """

    sockets: tuple[ListeningSocket, ...] | None = None
    paths: dict[str, bool] | None = None
    mounts: dict[str, PathMount] = {}
    emulated: tuple[str, ...] | None = None
    has_gpu_hook: bool | None = None
    default_log_is_bounded: bool | None = None
    unseen: dict[str, str] = {}
