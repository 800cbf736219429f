"""Makes the desired project of the drift rules from the Compose binary's answer. Pure."""

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bcon_exporter.compose.invocation import ResolvedModel
from bcon_exporter.compose.service_attachments import file_fields, real_name
from bcon_exporter.compose.service_fields import find_unseen, image_of, replicas_of, service_fields
from bcon_exporter.compose.shared_namespaces import find_shared_namespaces
from bcon_exporter.model.desired import DesiredProject, DesiredService, ProjectProblem
from bcon_exporter.secrets.known_secrets import NO_SECRETS, KnownSecrets
from bcon_exporter.secrets.masking import safe_text
from bcon_exporter.secrets.normal_form import ABSENT_TEXT, RawFields, seal_fields, seal_image, shown_path

if TYPE_CHECKING:
    from bcon_exporter.secrets.masking import Sealer

UNKNOWN_HOME = "/nonexistent/home-of-the-user-who-ran-up"
"""HOME in the scrubbed environment. A path that begins with it depends on a variable that is unknown here."""


def make_project(
    resolved: ResolvedModel,
    sealer: "Sealer",
    now: datetime,
    *,
    shell_known: bool,
    secrets: KnownSecrets = NO_SECRETS,
) -> DesiredProject:
    """Return the desired project, without its file names.

    Args:
        resolved: The binary's answer, paths as the Docker host knows them.
        sealer: The process's one sealer.
        now: Becomes `resolved_at`.
        shell_known: False in the daemon: a variable passed through from the shell of `up` is unknown, not absent.
        secrets: Values to hide in it.
    """
    model, unresolved, services = resolved.model, dict.fromkeys(resolved.unset), []
    for name, service in sorted((model.get("services") or {}).items()):
        raw = service_fields(service, name, model)
        doubtful = _find_doubtful_paths(raw, name, resolved)
        if not shell_known:
            passed_through = {
                path for path, text in raw.items() if path.startswith("environment.") and text == ABSENT_TEXT
            }
            doubtful |= passed_through
            unresolved |= dict.fromkeys(sorted(path.partition(".")[2] for path in passed_through))
        services.append(_make_service(name, raw, doubtful, resolved, sealer, secrets))
    return DesiredProject(
        name=str(model.get("name") or ""),
        resolved_at=now,
        services=tuple(services),
        networks=_real_names(model, "networks"),
        volumes=_real_names(model, "volumes"),
        unresolved=tuple(unresolved),
        problem=ProjectProblem.UNRESOLVED_VARIABLE if any(service.doubtful for service in services) else None,
        problem_detail=_unresolved_detail(tuple(unresolved), shell_known)
        if any(service.doubtful for service in services)
        else None,
        network_hashes=_resource_hashes(model, "networks"),
        volume_hashes=_resource_hashes(model, "volumes"),
    )


def map_paths(model: Mapping[str, Any], to_host: Callable[[str], str]) -> dict[str, Any]:
    """Return the model with the paths of bind mounts, secret and config files as the Docker host knows them."""
    mapped = dict(model)
    for section in ("secrets", "configs"):
        mapped[section] = {
            name: {**resource, "file": to_host(resource["file"])} if resource.get("file") else resource
            for name, resource in (model.get(section) or {}).items()
        }
    mapped["services"] = {
        name: {**service, "volumes": [_map_volume(volume, to_host) for volume in service.get("volumes") or ()]}
        for name, service in (model.get("services") or {}).items()
    }
    return mapped


def _map_volume(volume: dict[str, Any], to_host: Callable[[str], str]) -> dict[str, Any]:
    return {**volume, "source": to_host(volume["source"])} if volume.get("type") == "bind" else volume


def _make_service(
    name: str, raw: RawFields, doubtful: set[str], resolved: ResolvedModel, sealer: "Sealer", secrets: KnownSecrets
) -> DesiredService:
    services = resolved.model["services"]
    service = services[name]
    provided = bool(service.get("provider"))
    image = image_of(service, name, str(resolved.model.get("name")))
    takes_variables = _takes_variables(service, services)
    is_changed_by_up = takes_variables or bool(service.get("use_api_socket"))  # its hash is not what `config` tells
    is_hash_known = not (doubtful or is_changed_by_up or find_shared_namespaces({name: service}))
    return DesiredService(
        name=name,
        image=safe_text(secrets.hide_tag(image)),
        image_fingerprint=seal_image(image, sealer),
        enabled=name in resolved.enabled and not provided,
        replicas=replicas_of(service),
        runs_once=_runs_once(name, services),
        pre_start=len(service.get("pre_start") or ()),
        takes_variables=takes_variables,
        config_hash=resolved.hashes.get(name) if is_hash_known else None,
        fields=seal_fields(raw, sealer, secrets),
        doubtful=tuple(sorted(shown_path(path, secrets) for path in doubtful)),
        unseen=find_unseen(service),
        unhashed=tuple(sorted(shown_path(path, secrets) for path in file_fields(service, resolved.model))),
    )


def _takes_variables(service: Mapping[str, Any], services: Mapping[str, Any]) -> bool:
    """Whether `up` adds variables to its environment: a provider that it depends on gives them, or a model does."""
    dependencies = service.get("depends_on") or {}
    return bool(service.get("models")) or any((services.get(name) or {}).get("provider") for name in dependencies)


def _runs_once(name: str, services: Mapping[str, Any]) -> bool:
    mode = (services[name].get("deploy") or {}).get("mode")
    is_awaited = any(
        ((other.get("depends_on") or {}).get(name) or {}).get("condition") == "service_completed_successfully"
        for other in services.values()
    )
    return is_awaited or mode in ("replicated-job", "global-job")


def _find_doubtful_paths(raw: RawFields, name: str, resolved: ResolvedModel) -> set[str]:
    """Return the paths of fields whose values depend on a variable without a value."""
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
    resolved_fields = {
        **raw,
        "image": image_of(resolved.model["services"][name], name, str(resolved.model.get("name"))),
    }
    return doubtful | {
        path for path in resolved_fields.keys() | probed.keys() if resolved_fields.get(path) != probed.get(path)
    }


def _unresolved_detail(names: tuple[str, ...], shell_known: bool) -> str:  # noqa: FBT001 -- private
    listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")  # noqa: PLR2004 — as many as fit a line
    if not listed:
        return "The home directory of the user who ran `up` is not known here."
    pronoun, values = ("it", "its value") if len(names) == 1 else ("them", "their values")
    how = f"Set {pronoun} in this shell, or name" if shell_known else "Name"
    return (
        f"No value is known for {listed}: what hangs on {pronoun} is compared with low confidence. "
        f"{how} a file with {values} in compose.env-file."
    )


def _real_names(model: Mapping[str, Any], section: str) -> tuple[str, ...]:
    return tuple(safe_text(real_name(section, key, model)) for key in sorted(model.get(section) or {}))


def _resource_hashes(model: Mapping[str, Any], section: str) -> dict[str, str]:
    """Return name → the label `com.docker.compose.config-hash` that Compose puts on a network or volume."""
    hashes: dict[str, str] = {}
    for key, resource in (model.get(section) or {}).items():
        if isinstance(resource, dict) and not resource.get("external"):
            content = (
                {"name": resource.get("name"), "driver": "local", **resource} if section == "volumes" else resource
            )
            text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
            hashes[safe_text(real_name(section, key, model))] = hashlib.sha256(text.encode()).hexdigest()
    return hashes
