"""A private Podman that serves Docker's API: in namespaces and a folder of its own, as the private engines are."""

from __future__ import annotations

from tests.docker.engine import PrivateEngine, find_obstacle

CONFIGURATION = """\
[containers]
log_driver = "k8s-file"
cgroup_parent = "/{name}"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
infra_image = ""
"""


class PrivatePodman(PrivateEngine):
    """`podman system service` with everything it owns in one state folder.

    Containers are to be made with `--cgroup-parent /NAME`: Podman's own parent is one for the whole machine.
    """

    def _find_obstacle(self) -> str | None:
        return find_obstacle(("podman", "conmon", "runc"), "podman")

    def _daemon(self) -> list[str]:
        (self.state / "containers.conf").write_text(CONFIGURATION.format(name=self.name))
        storage = [f"--root={self.state / 'data'}", "--runroot=/run/containers/storage"]
        configured = ["env", f"CONTAINERS_CONF={self.state / 'containers.conf'}", "podman", *storage]
        return [*configured, "--log-level=warn", "system", "service", "--time=0", self.host]
