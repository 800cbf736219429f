"""How a container is connected by configuration, whether it runs or not."""

from bcon_exporter.model.base import Frozen


class Wiring(Frozen):
    """What inspect tells about a container's connections; the running state is in ports and networks.

    Attributes:
        network_mode: "bridge", "host", "none", "container:<id or name>", or the name of its first network.
        ipc_mode, pid_mode: "container:<id or name>" where it shares that of another one; else "".
        published: Container port → host ports as configured, written like `ContainerFacts.ports`; a container that
            does not run publishes nothing, but this says what it would.
        extra_hosts: Host name → address, of its own hosts file.
        links: Alias → container name, of legacy links.
        user: The user it runs as, as configured; "" for the image's root.
        read_only_root: True when its own file system is mounted read-only.
    """

    network_mode: str = ""
    ipc_mode: str = ""
    pid_mode: str = ""
    published: dict[str, str] = {}
    extra_hosts: dict[str, str] = {}
    links: dict[str, str] = {}
    user: str = ""
    read_only_root: bool = False
