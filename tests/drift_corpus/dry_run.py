"""What Compose itself would do: `--dry-run up` of the real binary, read into service → action. For tests only.

It is no read path: it has recreated containers before (docker/compose#14029), so that it runs on private engines only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

_TEMPORARY = re.compile(r"^[0-9a-f]{12}_")
_ORPHANS = re.compile(r"Found orphan containers \(\[?([^])]*)")
_ACTIONS = (
    ("Recreate", "recreate"),
    ("Recreated", "recreate"),
    ("Creating", "create"),
    ("Created", "create"),
    ("Removing", "remove"),
    ("Starting", "start"),
    ("Restarting", "restart"),
    ("Stopping", "stop"),
)
"""The first that is said of a container counts: one that is created is started too. Only stopped are those whose
network is made anew: they come back in it."""


@dataclass(frozen=True)
class Verdict:
    """Compose's own plan.

    Attributes:
        services: Service → the strongest action on one of its containers; services that are left alone are absent.
        resources: "Network x" or "Volume y" that would be made or made anew.
        error: What it complains about; None when it came to an end.
    """

    services: Mapping[str, str]
    resources: tuple[str, ...] = ()
    error: str | None = None


def read_verdict(output: str, project: str, known: Mapping[str, str]) -> Verdict:
    """Read the lines of `--progress json --dry-run up -d`.

    Args:
        output: Both streams, one after the other.
        project: Its name, which begins the names of new containers.
        known: Container name → service, of those that exist and those whose name the file sets.
    """
    said: dict[str, set[str]] = {}
    error = None
    for line in output.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry.get("error"):
            error = str(entry.get("message"))
        said.setdefault(str(entry.get("id", "")), set()).add(str(entry.get("text", "")))
    services: dict[str, str] = {}
    for name, texts in said.items():
        kind, _, container = name.partition(" ")
        action = next((action for text, action in _ACTIONS if text in texts), None)
        if kind == "Container" and action:
            service = _service_of(container, project, known)
            services[service] = _stronger(action, services.get(service))
    if orphans := _ORPHANS.search(output):
        services.update({_service_of(name, project, known): "orphan" for name in re.split(r"[ ,]+", orphans[1])})
    resources = sorted(name for name, texts in said.items() if name.startswith(("Network ", "Volume ")) and texts)
    return Verdict(services, tuple(resources), error)


def _service_of(container: str, project: str, known: Mapping[str, str]) -> str:
    name = _TEMPORARY.sub("", container)
    if name in known:
        return known[name]
    return re.sub(r"-\d+$", "", name.removeprefix(f"{project}-"))


def _stronger(one: str, other: str | None) -> str:
    order = [action for _, action in _ACTIONS]
    return one if other is None or order.index(one) < order.index(other) else other
