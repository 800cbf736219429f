"""Hides known secrets in facts, projects and errors, also in those that were read before the secret was known.

Identities stay as they are, even where a secret equals one: names of containers, services, projects, images, networks
and volumes. Reports, files and metric series are joined by them. An image's tag is not part of its name.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from sys import intern
from typing import Any

from bcon_exporter.errors import BconError, ContainerNotFoundError, InvalidInputError
from bcon_exporter.model.container_facts import (
    ConfigFacts,
    ContainerFacts,
    HealthFacts,
    LogFacts,
    Mount,
    NetworkAttachment,
    texts_of,
)
from bcon_exporter.model.desired import DesiredProject, DesiredService, FieldValue
from bcon_exporter.model.wiring import Wiring
from bcon_exporter.secrets.known_secrets import KnownSecrets
from bcon_exporter.secrets.masking import names_identity, safe_pair
from bcon_exporter.secrets.normal_form import add_field, hide_in_path

_COMPOSE = "com.docker.compose."
COMPOSE_LABELS = frozenset(
    _COMPOSE + name
    for name in (
        *("project", "service", "container-number", "config-hash", "version", "oneoff", "image", "depends_on"),
        *("hook", "hook-index"),
        *("project.config_files", "project.working_dir", "project.environment_file", "network", "volume"),
    )
)
"""Labels by which Compose finds its containers: they hold identities, file paths and hashes."""


def safe_label(key: str, value: str, secrets: KnownSecrets) -> tuple[str, str]:
    """Return a label as it may be shown.

    Args:
        key: Clean.
        value: Raw.
        secrets: Values that must not be shown.
    """
    if key in COMPOSE_LABELS:
        return key, safe_pair(key, value)
    return secrets.hide(key), safe_pair(key, value, secrets=secrets)


def hide_in_facts(facts: ContainerFacts, secrets: KnownSecrets) -> ContainerFacts:
    """Return a container's facts with secrets hidden in all their texts; the same object where there are none."""
    changes: dict[str, Any] = {
        "logs": facts.logs and hide_in_logs(facts.logs, secrets),
        "config": facts.config and hide_in_config(facts.config, secrets),
    }
    if secrets.stand_in(_texts_of(facts)):
        changes |= _hide_in_texts(facts, secrets)
    changes = {name: value for name, value in changes.items() if value != getattr(facts, name)}
    return facts.model_copy(update=changes) if changes else facts


def _texts_of(facts: ContainerFacts) -> Iterator[str]:
    """Yield the texts in which `_hide_in_texts` hides, so that one search tells whether it has to."""
    yield from (facts.image, *facts.labels, *facts.labels.values(), facts.error or "", *facts.unread.values())
    for probe in facts.health.probes if facts.health else ():
        yield probe.output
    for network in facts.networks:
        yield from network.aliases
    for mount in facts.mounts:
        yield from (mount.source, mount.target)
    if facts.wiring is not None:
        yield from (facts.wiring.user, *facts.wiring.extra_hosts, *facts.wiring.extra_hosts.values())


def _hide_in_texts(facts: ContainerFacts, secrets: KnownSecrets) -> dict[str, Any]:
    hide = secrets.hide
    return {
        "image": secrets.hide_tag(facts.image),
        "labels": dict(safe_label(key, value, secrets) for key, value in facts.labels.items()),
        "error": facts.error and hide(facts.error),
        "health": facts.health and _hide_in_health(facts.health, secrets),
        "networks": tuple(_hide_in_network(network, secrets) for network in facts.networks),
        "mounts": tuple(_hide_in_mount(mount, secrets) for mount in facts.mounts),
        "wiring": facts.wiring and _hide_in_wiring(facts.wiring, secrets),
        "unread": {name: hide(reason) for name, reason in facts.unread.items()},
    }


def _hide_in_health(health: HealthFacts, secrets: KnownSecrets) -> HealthFacts:
    probes = tuple(probe.model_copy(update={"output": secrets.hide(probe.output)}) for probe in health.probes)
    return health.model_copy(update={"probes": probes})


def _hide_in_network(network: NetworkAttachment, secrets: KnownSecrets) -> NetworkAttachment:
    return network.model_copy(update={"aliases": tuple(map(secrets.hide, network.aliases))})


def _hide_in_mount(mount: Mount, secrets: KnownSecrets) -> Mount:
    source = mount.source if mount.type == "volume" else secrets.hide(mount.source)
    return mount.model_copy(update={"source": source, "target": secrets.hide(mount.target)})


def _hide_in_wiring(wiring: Wiring, secrets: KnownSecrets) -> Wiring:
    hosts = {secrets.hide(host): secrets.hide(address) for host, address in wiring.extra_hosts.items()}
    return wiring.model_copy(update={"extra_hosts": hosts, "user": secrets.hide(wiring.user)})


def hide_in_logs(logs: LogFacts, secrets: KnownSecrets) -> LogFacts:
    """Return the lines with secrets hidden; the same object where there are none."""
    texts = list(texts_of(logs.lines))
    if (hidden := secrets.hide_lines(texts)) is texts:
        return logs
    lines = [replace(line, text=text) for line, text in zip(logs.lines, hidden, strict=True)]
    return logs.model_copy(update={"lines": tuple(lines)})


def hide_in_config(config: ConfigFacts, secrets: KnownSecrets) -> ConfigFacts:
    """Return a configuration with secrets hidden in its fields and its image's; the same object where there are none."""
    fields = hide_in_fields(config.fields, secrets)
    image = config.image_fields and hide_in_fields(config.image_fields, secrets)
    if fields is config.fields and image is config.image_fields:
        return config
    return config.model_copy(update={"fields": fields, "image_fields": image})


def hide_in_fields(fields: dict[str, FieldValue], secrets: KnownSecrets) -> dict[str, FieldValue]:
    """Return fields with secrets hidden in paths and values; fingerprints stay. The same object where there are none."""
    if not secrets.values or not _holds_secret(fields, secrets):
        return fields
    hidden: dict[str, FieldValue] = {}
    for path, value in fields.items():
        shown = value.shown if names_identity(path, value.shown) else secrets.hide(value.shown)
        add_field(hidden, intern(hide_in_path(path, secrets)), FieldValue(shown, value.fingerprint))
    return hidden


def _holds_secret(fields: Mapping[str, FieldValue], secrets: KnownSecrets) -> bool:
    text = "\n".join([*fields, *(value.shown for value in fields.values())])
    return secrets.hide(text) != text


def hide_in_project(project: DesiredProject, secrets: KnownSecrets) -> DesiredProject:
    """Return a project with secrets hidden in what its services ask for; the same object where there are none."""
    if not secrets.values:
        return project
    services = project.services and tuple(_hide_in_service(service, secrets) for service in project.services)
    detail = project.problem_detail and secrets.hide(project.problem_detail)
    if services == project.services and detail == project.problem_detail:
        return project
    return project.model_copy(update={"services": services, "problem_detail": detail})


def _hide_in_service(service: DesiredService, secrets: KnownSecrets) -> DesiredService:
    return service.model_copy(
        update={
            "image": secrets.hide_tag(service.image),
            "fields": hide_in_fields(service.fields, secrets),
            "doubtful": tuple(hide_in_path(path, secrets) for path in service.doubtful),
            "unhashed": tuple(hide_in_path(path, secrets) for path in service.unhashed),
        }
    )


_NAMES = frozenset(("near_matches", "projects"))
"""Details of errors that are identities."""


def hide_in_error(error: BconError, hide: Callable[[str], str]) -> BconError:
    """Return an error with secrets hidden in message and details; the same object where there are none.

    Errors about the request stay as they are: they quote the client, and a client who guesses a secret must not learn
    that it is one.
    """
    if isinstance(error, ContainerNotFoundError | InvalidInputError):
        return error
    message = hide(error.message)
    details = {key: value if key in _NAMES else _hide_in_value(value, hide) for key, value in error.details.items()}
    if (message, details) == (error.message, error.details):
        return error
    hidden = copy(error)
    hidden.args, hidden.message, hidden.details = (message,), message, details
    return hidden


def _hide_in_value(value: Any, hide: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Mapping):
        return {key: _hide_in_value(item, hide) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_hide_in_value(item, hide) for item in value]
    return value
