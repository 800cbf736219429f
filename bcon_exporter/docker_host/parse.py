"""Raw Engine JSON → facts. Pure, total: whatever stands in the JSON, there are facts or None, never an exception.

All text is cleaned, masked and clipped here, before a fact exists. Read for engine API 1.24 to 1.50 and for Podman's
Docker API (which says "stopped" for exited and leaves fields out).
"""

import re  # noqa: TID251 - sees at most 255 characters: an id, a status
from dataclasses import dataclass
from typing import Any

from bcon_exporter.docker_host.parse_engine import parse_engine, parse_network, parse_volume
from bcon_exporter.docker_host.parse_event import parse_event
from bcon_exporter.docker_host.parse_health import health_from_status, parse_health
from bcon_exporter.docker_host.parse_placement import parse_mounts, parse_networks, parse_ports, parse_wiring
from bcon_exporter.docker_host.raw import from_epoch, get_bool, get_int, get_list, get_object, get_text, parse_time
from bcon_exporter.model.cleaning import MAX_NAME_CHARS, clean_name
from bcon_exporter.model.facts import ComposeIdentity, ContainerFacts, ContainerState, Limits
from bcon_exporter.model.hiding import COMPOSE_LABELS, safe_label
from bcon_exporter.model.known_secrets import (
    NO_SECRETS,
    KnownSecrets,
    environment_pairs,
    find_secrets,
    is_plain_word,
)
from bcon_exporter.model.masking import MASK, safe_reference, safe_text

__all__ = [
    "Placement",
    "has_changed",
    "parse_compose",
    "parse_container",
    "parse_engine",
    "parse_event",
    "parse_labels",
    "parse_network",
    "parse_placement",
    "parse_volume",
    "update_listed",
]

MAX_LABELS = 512
NOT_INSPECTED = "inspect was not read"
NOT_SAID = "the engine did not say"
_COMPOSE = "com.docker.compose."
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_LONGEST_ID = 128
_EXITED = re.compile(r"(?:Exited|Restarting) \((-?[0-9]{1,9})\)")
_DURATION = re.compile(r"(?:About )?(?:an?|[0-9]+|Less than a) (?:second|minute|hour|day|week|month|year)s?(?: ago)?")

_STATES: dict[str, ContainerState] = {state.value: state for state in ContainerState} | {
    # Podman 4's names
    "stopped": ContainerState.EXITED,
    "configured": ContainerState.CREATED,
    "initialized": ContainerState.CREATED,
    "stopping": ContainerState.RUNNING,
}
_STATUS_WORDS = (
    ("Up", ContainerState.RUNNING),
    ("Exited", ContainerState.EXITED),
    ("Created", ContainerState.CREATED),
    ("Restarting", ContainerState.RESTARTING),
    ("Dead", ContainerState.DEAD),
    ("Removal", ContainerState.REMOVING),
)
_FLAGS = (
    ("Restarting", ContainerState.RESTARTING),
    ("Paused", ContainerState.PAUSED),
    ("Dead", ContainerState.DEAD),
    ("Running", ContainerState.RUNNING),
)
_FROM_INSPECT = ("oom_killed", "restart_count", "restart_policy", "tty", "log_driver", "limits")


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a container's processes and files are to be found; read from inspect, no fact for rules.

    Attributes:
        pid: In the engine's pid namespace; None when it does not run.
        cgroup_parent: As configured; "" for the engine's default.
        own_network: False when it has none, or shares the host's or another container's.
        log_file: On the engine's host, an absolute path; None of a log driver that writes no file of its own.
    """

    pid: int | None
    cgroup_parent: str
    own_network: bool
    log_file: str | None


def parse_placement(inspected: Any) -> Placement:
    """Read what finding files of a container needs."""
    host_config = get_object(inspected, "HostConfig")
    pid = get_int(get_object(inspected, "State"), "Pid")
    network = get_text(host_config, "NetworkMode") or ""
    log_file = get_text(inspected, "LogPath") if type(inspected) is dict else None
    return Placement(
        pid=pid if pid and pid > 0 else None,
        cgroup_parent=get_text(host_config, "CgroupParent") or "",
        own_network=network not in ("host", "none") and not network.startswith(("container:", "ns:")),
        log_file=log_file if log_file and log_file.startswith("/") else None,
    )


def secrets_of(inspected: Any) -> frozenset[str]:
    """Return the values that a container's, or an image's, environment and labels hold under a secret's name."""
    config = get_object(inspected, "Config")
    labels = ((key, value) for key, value in get_object(config, "Labels").items() if type(value) is str)
    return find_secrets([*environment_pairs(get_list(config, "Env")), *labels])


def project_of(inspected: Any) -> str | None:
    """Return the Compose project that a container's labels claim."""
    project = get_text(get_object(get_object(inspected, "Config"), "Labels"), _COMPOSE + "project")
    return clean_name(project) if project else None


def parse_container(
    listed: Any,
    inspected: Any = None,
    *,
    unread_reason: str = NOT_INSPECTED,
    known: KnownSecrets | None = NO_SECRETS,
) -> ContainerFacts | None:
    """Make a container's facts from its list entry and, where read, its inspect answer.

    Where both tell a fact, inspect wins for state (it was read later), the list entry for ports.

    Args:
        listed: One element of `/containers/json`; None when only inspect was read.
        inspected: `/containers/ID/json`; None when it could not be read.
        unread_reason: Why `inspected` is None; stands in `unread` for each fact that needs it.
        known: Values that must not be shown of it; None while its environment is unread: what its labels hold may then
            be anything.

    Returns:
        None when there is no usable id in either.
    """
    entry: dict[str, Any] = listed if type(listed) is dict else {}
    detail: dict[str, Any] = inspected if type(inspected) is dict else {}
    container_id = get_text(detail, "Id") or get_text(entry, "Id") or ""
    if len(container_id) > _LONGEST_ID or not _ID.fullmatch(container_id):
        return None
    config = get_object(detail, "Config")
    labels = parse_labels(get_object(config, "Labels") or get_object(entry, "Labels"), known)
    known = known or NO_SECRETS
    facts: dict[str, Any] = {
        "id": container_id,
        "name": _name(entry, detail) or container_id[:12],
        "image": safe_reference(get_text(config, "Image") or get_text(entry, "Image") or "", known=known),
        "image_id": _clean_or_none(get_text(detail, "Image") or get_text(entry, "ImageID")),
        "labels": labels,
        "compose": parse_compose(labels),
        "status_text": clean_name(get_text(entry, "Status") or ""),
        "ports": parse_ports(entry, detail),
        "networks": parse_networks(get_object(entry, "NetworkSettings"), get_object(detail, "NetworkSettings"), known),
        "mounts": parse_mounts(entry, detail, known),
        "wiring": parse_wiring(detail, known),
    }
    unread: dict[str, str] = {}
    _add_created(facts, unread, entry, detail)
    _add_state(facts, unread, entry, detail)
    if detail:
        _add_inspected(facts, unread, detail, known)
    else:
        unread.update(dict.fromkeys((*_FROM_INSPECT, "error", "started_at", "finished_at"), unread_reason))
        if facts["health"] is None:
            unread["health"] = unread_reason
    return ContainerFacts(**facts, unread=unread)


def update_listed(facts: ContainerFacts, listed: Any) -> ContainerFacts:
    """Return unchanged facts with the list entry's new status text: the cheap way for a container at rest."""
    status = clean_name(get_text(listed, "Status") or "") if type(listed) is dict else facts.status_text
    return facts if status == facts.status_text else facts.model_copy(update={"status_text": status})


def has_changed(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return whether two list entries of one container differ in more than the passing of time.

    The engine keeps mounts and ports in Go maps and lists them in another order every few times (20.10).
    """
    if before == after:
        return False
    old, new = before.get("Status"), after.get("Status")
    if old != new and (type(old) is not str or type(new) is not str or _timeless(old) != _timeless(new)):
        return True
    keys = before.keys() | after.keys()
    return any(_unordered(before.get(key)) != _unordered(after.get(key)) for key in keys if key != "Status")


def _unordered(value: Any) -> Any:
    return sorted(map(repr, value)) if type(value) is list else value


def _timeless(status: str) -> str:
    return _DURATION.sub("", status[:MAX_NAME_CHARS])


def _name(entry: dict[str, Any], detail: dict[str, Any]) -> str:
    name = get_text(detail, "Name")
    if not name:
        # Links show as further names, "/other/alias": the container's own has one slash.
        names = [n for n in get_list(entry, "Names") if type(n) is str]
        name = next((n for n in names if n.count("/") <= 1), names[0] if names else "")
    return clean_name(name.removeprefix("/"))


def _clean_or_none(text: str | None) -> str | None:
    return clean_name(text) if text else None


def parse_labels(raw: dict[str, Any], known: KnownSecrets | None = NO_SECRETS) -> dict[str, str]:
    """Return cleaned labels, values masked; at most `MAX_LABELS`.

    Args:
        raw: The labels.
        known: Values that must not be shown; None when they are not known, so that only plain words are shown.
    """
    labels: dict[str, str] = {}
    texts = {key: value for key, value in raw.items() if type(key) is str and type(value) is str}
    secrets = known if known is not None and known.stand_in([*texts, *texts.values()]) else NO_SECRETS
    for key, value in texts.items():
        name, shown = safe_label(clean_name(key), value, secrets)
        labels[name] = shown if known is not None or key in COMPOSE_LABELS or is_plain_word(shown) else MASK
        if len(labels) >= MAX_LABELS:
            break
    return labels


def parse_compose(labels: dict[str, str]) -> ComposeIdentity | None:
    """Return what the Compose labels claim; None without a project and a service."""
    project, service = labels.get(_COMPOSE + "project"), labels.get(_COMPOSE + "service")
    if not project or not service:
        return None
    number = labels.get(_COMPOSE + "container-number", "")
    return ComposeIdentity(
        project=clean_name(project),
        service=clean_name(service),
        number=int(number) if number.isascii() and number.isdigit() and len(number) <= 9 else 1,  # noqa: PLR2004
        oneoff=labels.get(_COMPOSE + "oneoff", "").lower() == "true",
        config_hash=labels.get(_COMPOSE + "config-hash") or None,
        config_files=_paths(labels.get(_COMPOSE + "project.config_files")),
        working_dir=labels.get(_COMPOSE + "project.working_dir") or None,
        environment_files=_paths(labels.get(_COMPOSE + "project.environment_file")),
        version=labels.get(_COMPOSE + "version") or None,
        image=labels.get(_COMPOSE + "image") or None,
        depends_on=labels.get(_COMPOSE + "depends_on") or None,
    )


def _paths(text: str | None) -> tuple[str, ...]:
    return tuple(part for part in (text or "").split(",") if part)


def _add_created(facts: dict[str, Any], unread: dict[str, str], entry: dict[str, Any], detail: dict[str, Any]) -> None:
    created = parse_time(get_text(detail, "Created")) or from_epoch(get_int(entry, "Created"))
    if created is None:
        unread["created_at"] = NOT_SAID
        created = from_epoch(1)
    facts["created_at"] = created


def _add_state(facts: dict[str, Any], unread: dict[str, str], entry: dict[str, Any], detail: dict[str, Any]) -> None:
    state = get_object(detail, "State")
    status = facts["status_text"]
    found = _STATES.get((get_text(state, "Status") or get_text(entry, "State") or "").lower())
    if found is None:
        found = next((s for flag, s in _FLAGS if state.get(flag) is True), None)
    if found is None:
        found = next((s for word, s in _STATUS_WORDS if status.startswith(word)), None)
    if found is ContainerState.DEAD and _is_under_removal(entry, state):
        found = ContainerState.REMOVING
    if found is None:
        unread["state"] = NOT_SAID
    facts["state"] = found or ContainerState.EXITED
    facts["health"] = health_from_status(status)
    match = _EXITED.match(status)
    facts["exit_code"] = int(match.group(1)) if match else None


def _is_under_removal(entry: dict[str, Any], state: dict[str, Any]) -> bool:
    """Whether "dead" is but a moment of a removal that goes well: a failed one leaves its error (engine 20.10)."""
    return bool(state) and not get_text(state, "Error") and get_text(entry, "State") != ContainerState.DEAD


def _add_inspected(facts: dict[str, Any], unread: dict[str, str], detail: dict[str, Any], known: KnownSecrets) -> None:
    state, config = get_object(detail, "State"), get_object(detail, "Config")
    host_config = get_object(detail, "HostConfig")
    facts.update(
        started_at=parse_time(state.get("StartedAt")),
        finished_at=parse_time(state.get("FinishedAt")),
        oom_killed=get_bool(state, "OOMKilled"),
        error=safe_text(get_text(state, "Error") or "", known=known),
        restart_count=get_int(detail, "RestartCount"),
        restart_policy=_restart_policy(get_object(host_config, "RestartPolicy")) if host_config else None,
        stop_signal=_clean_or_none(get_text(config, "StopSignal")),
        tty=get_bool(config, "Tty"),
        log_driver=_clean_or_none(get_text(get_object(host_config, "LogConfig"), "Type")),
        health=parse_health(get_object(state, "Health"), get_object(config, "Healthcheck"), known),
        limits=_limits(host_config) if host_config else None,
    )
    exit_code = get_int(state, "ExitCode")
    # A container that runs for the first time has ExitCode 0: that is no exit.
    if exit_code is not None and not (facts["finished_at"] is None and exit_code == 0):
        facts["exit_code"] = exit_code
    if not state:
        unread["error"] = NOT_SAID
        facts["error"] = None
    unread.update({name: NOT_SAID for name in _FROM_INSPECT if facts[name] is None})


def _restart_policy(raw: dict[str, Any]) -> str:
    name = clean_name(get_text(raw, "Name") or "") or "no"
    retries = get_int(raw, "MaximumRetryCount") or 0
    return f"{name}:{retries}" if name == "on-failure" and retries > 0 else name


def _limits(raw: dict[str, Any]) -> Limits:
    memory, pids = get_int(raw, "Memory") or 0, get_int(raw, "PidsLimit") or 0
    nano_cpus, quota = get_int(raw, "NanoCpus") or 0, get_int(raw, "CpuQuota") or 0
    period = get_int(raw, "CpuPeriod") or 100_000
    cpus = nano_cpus / 1e9 if nano_cpus > 0 else quota / period if quota > 0 and period > 0 else None
    return Limits(
        memory_bytes=memory if memory > 0 else None,
        cpus=cpus,
        cpuset_cpus=_clean_or_none(get_text(raw, "CpusetCpus")),
        pids=pids if pids > 0 else None,
    )
