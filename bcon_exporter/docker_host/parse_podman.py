"""What Podman gives each container by itself and shows as if it had been asked for. Pure.

Read on Podman 4.3 and 5.8 (API 1.41): a variable `container=podman` and others beside it, "private" for namespaces of
the container's own, defaults written out (the directory /, signal 15, a probe's 30 s), at most 2048 processes; since 5
also annotations by which it and systemd know the container.
"""

from collections.abc import Mapping
from typing import Any

from bcon_exporter.docker_host.raw import get_list, get_object
from bcon_exporter.model.normal_form import RawFields

_MARK = "container=podman"
_VARIABLES = ("container", "TERM", "HOME", "HOSTNAME")
_DEFAULTS = {
    "pid": "private",
    "uts": "private",
    "working_dir": "/",
    "stop_signal": "15",
    "healthcheck.timeout": "30s",
    "pids_limit": "2048",
}
_ANNOTATIONS = (
    *("annotations.io.container.manager", "annotations.io.podman.annotations."),
    "annotations.org.opencontainers.image.stopSignal",
    *("annotations.org.systemd.property.KillSignal", "annotations.org.systemd.property.TimeoutStopUSec"),
)
"""Paths, and a beginning of paths."""


def given_by_podman(inspected: Mapping[str, Any], fields: RawFields) -> tuple[str, ...]:
    """Return the paths of `fields` that mean nothing unless a file declares them; none for Docker's containers.

    Args:
        inspected: `GET /containers/{id}/json`.
        fields: The container's fields, normalised, not sealed.
    """
    if _MARK not in get_list(get_object(inspected, "Config"), "Env"):
        return ()
    variables = (f"environment.{name}" for name in _VARIABLES)
    defaults = (path for path, value in _DEFAULTS.items() if fields.get(path) == value)
    annotations = (path for path in fields if path.startswith(_ANNOTATIONS))
    return tuple(path for path in (*variables, *defaults, *annotations) if path in fields)
