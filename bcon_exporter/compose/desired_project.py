"""From the binary's answer to the desired project of the drift rules. Pure."""

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bcon_exporter.compose.attachments import file_fields, real_name
from bcon_exporter.compose.invocation import ResolvedModel
from bcon_exporter.compose.service_fields import find_unseen, image_of, replicas_of, service_fields
from bcon_exporter.compose.sharing import find_shared
from bcon_exporter.model.desired import DesiredProject, DesiredService, ProjectProblem
from bcon_exporter.model.known_secrets import NO_SECRETS, KnownSecrets
from bcon_exporter.model.masking import safe_text
from bcon_exporter.model.normal_form import ABSENT_TEXT, RawFields, seal_fields, seal_image, shown_path

if TYPE_CHECKING:
    from bcon_exporter.model.masking import Sealer

UNKNOWN_HOME = "/nonexistent/home-of-the-user-who-ran-up"
"""HOME in the scrubbed environment: a path that begins with it hangs on a variable we do not know."""


def make_project(
    resolved: ResolvedModel,
    sealer: "Sealer",
    now: datetime,
    *,
    shell_known: bool,
    known: KnownSecrets = NO_SECRETS,
) -> DesiredProject:
    """Return the desired project, without its file names.

    Args:
        resolved: The binary's answer, paths as the Docker host knows them.
        sealer: The process's one sealer.
        now: Becomes `resolved_at`.
        shell_known: False in the daemon: a variable passed through from the shell of `up` is unknown, not absent.
        known: Values that must not be shown of it.
    """
    model, unresolved, services = resolved.model, dict.fromkeys(resolved.unset), []
    for name, service in sorted((model.get("services") or {}).items()):
        raw = service_fields(service, name, model)
        doubtful = _doubtful(raw, name, resolved)
        if not shell_known:
            passed = {path for path, text in raw.items() if path.startswith("environment.") and text == ABSENT_TEXT}
            doubtful |= passed
            unresolved |= dict.fromkeys(sorted(path.partition(".")[2] for path in passed))
        services.append(_service(name, raw, doubtful, resolved, sealer, known))
    return DesiredProject(
        name=str(model.get("name") or ""),
        resolved_at=now,
        services=tuple(services),
        networks=_real_names(model, "networks"),
        volumes=_real_names(model, "volumes"),
        unresolved=tuple(unresolved),
        problem=ProjectProblem.UNRESOLVED_VARIABLE if any(one.doubtful for one in services) else None,
        problem_detail=_unresolved_detail(tuple(unresolved), shell_known)
        if any(one.doubtful for one in services)
        else None,
        network_hashes=_resource_hashes(model, "networks"),
        volume_hashes=_resource_hashes(model, "volumes"),
    )


def map_paths(model: Mapping[str, Any], to_host: Callable[[str], str]) -> dict[str, Any]:
    """Return the model with the paths of bind mounts, secret and config files as the Docker host knows them."""
    mapped = dict(model)
    for section in ("secrets", "configs"):
        mapped[section] = {
            name: {**one, "file": to_host(one["file"])} if one.get("file") else one
            for name, one in (model.get(section) or {}).items()
        }
    mapped["services"] = {
        name: {**service, "volumes": [_map_volume(volume, to_host) for volume in service.get("volumes") or ()]}
        for name, service in (model.get("services") or {}).items()
    }
    return mapped


def _map_volume(volume: dict[str, Any], to_host: Callable[[str], str]) -> dict[str, Any]:
    return {**volume, "source": to_host(volume["source"])} if volume.get("type") == "bind" else volume


def _service(
    name: str, raw: RawFields, doubtful: set[str], resolved: ResolvedModel, sealer: "Sealer", known: KnownSecrets
) -> DesiredService:
    services = resolved.model["services"]
    service = services[name]
    provided = bool(service.get("provider"))
    image = image_of(service, name, str(resolved.model.get("name")))
    return DesiredService(
        name=name,
        image=safe_text(known.hide_tag(image)),
        image_fingerprint=seal_image(image, sealer),
        enabled=name in resolved.enabled and not provided,
        replicas=replicas_of(service),
        runs_once=_runs_once(name, services),
        config_hash=None if doubtful or find_shared({name: service}) else resolved.hashes.get(name),
        fields=seal_fields(raw, sealer, known),
        doubtful=tuple(sorted(shown_path(path, known) for path in doubtful)),
        unseen=find_unseen(service),
        unhashed=tuple(sorted(shown_path(path, known) for path in file_fields(service, resolved.model))),
    )


def _runs_once(name: str, services: Mapping[str, Any]) -> bool:
    mode = (services[name].get("deploy") or {}).get("mode")
    waited_for = any(
        ((other.get("depends_on") or {}).get(name) or {}).get("condition") == "service_completed_successfully"
        for other in services.values()
    )
    return waited_for or mode in ("replicated-job", "global-job")


def _doubtful(raw: RawFields, name: str, resolved: ResolvedModel) -> set[str]:
    """Return the paths whose value would be another one if the unset variables had a value."""
    doubtful = {path for path, text in raw.items() if UNKNOWN_HOME in text}
    if not resolved.unset:
        return doubtful
    if resolved.probe is None:
        return set(raw)
    service = (resolved.probe.get("services") or {}).get(name)
    if service is None:
        return set(raw)
    probed = service_fields(service, name, resolved.probe)
    probed["image"] = image_of(service, name, str(resolved.probe.get("name")))
    now = {**raw, "image": image_of(resolved.model["services"][name], name, str(resolved.model.get("name")))}
    return doubtful | {path for path in now.keys() | probed.keys() if now.get(path) != probed.get(path)}


def _unresolved_detail(names: tuple[str, ...], shell_known: bool) -> str:  # noqa: FBT001 -- private
    listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")  # noqa: PLR2004 — as many as fit a line
    if not listed:
        return "The home directory of the user who ran `up` is not known here."
    it, their = ("it", "its value") if len(names) == 1 else ("them", "their values")
    how = f"Set {it} in this shell, or name" if shell_known else "Name"
    return (
        f"No value is known for {listed}: what hangs on {it} is compared with low confidence. "
        f"{how} a file with {their} in compose.env-file."
    )


def _real_names(model: Mapping[str, Any], section: str) -> tuple[str, ...]:
    return tuple(safe_text(real_name(section, key, model)) for key in sorted(model.get(section) or {}))


def _resource_hashes(model: Mapping[str, Any], section: str) -> dict[str, str]:
    """Return the label `com.docker.compose.config-hash` that Compose gives a network or volume of this model."""
    hashes: dict[str, str] = {}
    for key, one in (model.get(section) or {}).items():
        if isinstance(one, dict) and not one.get("external"):
            content = {"name": one.get("name"), "driver": "local", **one} if section == "volumes" else one
            text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
            hashes[safe_text(real_name(section, key, model))] = hashlib.sha256(text.encode()).hexdigest()
    return hashes
