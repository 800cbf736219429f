"""Raw Engine JSON → facts. Pure, total: whatever stands in the JSON, there are facts or None, never an exception.

All text is cleaned, masked and clipped here, before a fact exists. Read for engine API 1.24 to 1.50 and for Podman's
Docker API (which says "stopped" for exited and leaves fields out).
"""

import re  # noqa: TID251 - sees at most 255 characters: an id, a status
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeGuard

from bcon_exporter.engine.parse.json_fields import (
    from_epoch,
    get_bool,
    get_int,
    get_list,
    get_name,
    get_object,
    get_text,
    parse_time,
)
from bcon_exporter.engine.parse.wiring import parse_mounts, parse_networks, parse_ports, parse_wiring
from bcon_exporter.model.container_facts import (
    ComposeIdentity,
    ContainerFacts,
    ContainerState,
    HealthFacts,
    HealthStatus,
    Limits,
    Probe,
)
from bcon_exporter.secrets.cleaning import MAX_NAME_CHARS, clean_name
from bcon_exporter.secrets.hide_in_models import COMPOSE_LABELS, safe_label
from bcon_exporter.secrets.known_secrets import (
    NO_SECRETS,
    KnownSecrets,
    environment_pairs,
    find_secrets,
    is_plain_word,
)
from bcon_exporter.secrets.masking import MASK, safe_reference, safe_text

MAX_LABELS = 512
NOT_INSPECTED = "inspect was not read"
NOT_SAID = "the engine did not say"
COMPOSE_LABEL = "com.docker.compose."
"""Prefix of the labels that Compose puts on its containers."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_LONGEST_ID = 128
_LOCAL_LOG_FILES = 5
_MOST_LOG_FILES = 1000
_LIMITS_KEPT = 256
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
MAX_PROBES = 5
MAX_OUTPUT_CHARS = 2048
_STATUSES = {status.value: status for status in HealthStatus}
_STATUS_SUFFIXES = (
    ("(healthy)", HealthStatus.HEALTHY),
    ("(unhealthy)", HealthStatus.UNHEALTHY),
    ("(health: starting)", HealthStatus.STARTING),
)
# What a 0 in the configuration means (engine defaults, unchanged since 1.12).
_DEFAULT_INTERVAL_SECONDS = 30.0
_DEFAULT_RETRIES = 3


@dataclass(frozen=True, slots=True)
class Placement:
    """Where to find a container's processes and files on the host; not a fact for rules.

    Attributes:
        pid: In the engine's pid namespace; None when it does not run.
        cgroup_parent: As configured; "" for the engine's default.
        own_network: False when it has none, or shares the host's or another container's.
        log_file: On the engine's host, an absolute path; None of a log driver that writes no file of its own.
        log_file_count: How many files the driver keeps of it, the rotated ones counted.
    """

    pid: int | None
    cgroup_parent: str
    own_network: bool
    log_file: str | None
    log_file_count: int = 1


def parse_placement(inspected: Any) -> Placement:
    """Parse the placement from an inspect answer."""
    host_config = get_object(inspected, "HostConfig")
    pid = get_int(get_object(inspected, "State"), "Pid")
    network = get_text(host_config, "NetworkMode") or ""
    log_file = get_text(inspected, "LogPath") if type(inspected) is dict else None
    return Placement(
        pid=pid if pid and pid > 0 else None,
        cgroup_parent=get_text(host_config, "CgroupParent") or "",
        own_network=network not in ("host", "none") and not network.startswith(("container:", "ns:")),
        log_file=log_file if log_file and log_file.startswith("/") else None,
        log_file_count=_log_file_count(get_object(host_config, "LogConfig")),
    )


def _log_file_count(raw: dict[str, Any]) -> int:
    kept = get_text(get_object(raw, "Config"), "max-file") or ""
    if kept.isascii() and kept.isdigit() and len(kept) <= len(str(_MOST_LOG_FILES)):
        return max(1, min(int(kept), _MOST_LOG_FILES))
    return _LOCAL_LOG_FILES if get_text(raw, "Type") == "local" else 1


def _is_log_bounded(raw: dict[str, Any]) -> bool | None:
    """Return whether a driver that keeps a file of its own bounds it; None of any other.

    Source: moby, daemon/logger: json-file has no max-size unless it is given one, local has 20 MB and 5 files. What
    daemon.json gives the default driver stands in inspect as well.
    """
    match get_text(raw, "Type"):
        case "json-file":
            return "max-size" in get_object(raw, "Config")
        case "local":
            return True
        case _:
            return None


def secrets_of(inspected: Any) -> frozenset[str]:
    """Return the values that a container's, or an image's, environment and labels hold under a secret's name."""
    config = get_object(inspected, "Config")
    labels = ((key, value) for key, value in get_object(config, "Labels").items() if type(value) is str)
    return find_secrets([*environment_pairs(get_list(config, "Env")), *labels])


def project_of(inspected: Any) -> str | None:
    """Return the Compose project that a container's labels claim."""
    return project_in(get_object(get_object(inspected, "Config"), "Labels"))


def project_in(labels: dict[str, Any]) -> str | None:
    """Return the Compose project that raw labels claim."""
    return get_name(labels, COMPOSE_LABEL + "project")


def is_usable_id(container_id: str | None) -> TypeGuard[str]:
    """Return whether an id may be shown and asked for as it is."""
    return container_id is not None and len(container_id) <= _LONGEST_ID and _ID.fullmatch(container_id) is not None


def parse_container(
    listed: Any,
    inspected: Any = None,
    *,
    unread_reason: str = NOT_INSPECTED,
    secrets: KnownSecrets | None = NO_SECRETS,
) -> ContainerFacts | None:
    """Make a container's facts from its list entry and, where read, its inspect answer.

    Where both tell a fact, inspect wins for state (it was read later), the list entry for ports.

    Args:
        listed: One element of `/containers/json`; None when only inspect was read.
        inspected: `/containers/ID/json`; None when it could not be read.
        unread_reason: Why `inspected` is None; stands in `unread` for each fact that needs it.
        secrets: Values to hide; None while the environment is unread, when any label may hold a secret.

    Returns:
        None when there is no usable id in either.
    """
    entry: dict[str, Any] = listed if type(listed) is dict else {}
    detail: dict[str, Any] = inspected if type(inspected) is dict else {}
    container_id = get_text(detail, "Id") or get_text(entry, "Id")
    if not is_usable_id(container_id):
        return None
    config = get_object(detail, "Config")
    labels = parse_labels(get_object(config, "Labels") or get_object(entry, "Labels"), secrets)
    secrets = secrets or NO_SECRETS
    facts: dict[str, Any] = {
        "id": container_id,
        "name": _name(entry, detail) or container_id[:12],
        "image": safe_reference(get_text(config, "Image") or get_text(entry, "Image") or "", secrets=secrets),
        "image_id": get_name(detail, "Image") or get_name(entry, "ImageID"),
        "labels": labels,
        "compose": parse_compose(labels),
        "status_text": get_name(entry, "Status") or "",
        "ports": parse_ports(entry, detail),
        "networks": parse_networks(
            get_object(entry, "NetworkSettings"), get_object(detail, "NetworkSettings"), secrets
        ),
        "mounts": parse_mounts(entry, detail, secrets),
        "wiring": parse_wiring(detail, secrets),
    }
    unread: dict[str, str] = {}
    _add_created(facts, unread, entry, detail)
    _add_state(facts, unread, entry, detail)
    if detail:
        _add_inspected(facts, unread, detail, secrets)
    else:
        unread.update(dict.fromkeys((*_FROM_INSPECT, "error", "started_at", "finished_at"), unread_reason))
        if facts["health"] is None:
            unread["health"] = unread_reason
    return ContainerFacts(**facts, unread=unread)


def update_listed(facts: ContainerFacts, listed: Any) -> ContainerFacts:
    """Return unchanged facts with the list entry's new status text: the cheap way for a container at rest."""
    status = (get_name(listed, "Status") or "") if type(listed) is dict else facts.status_text
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


def parse_labels(raw: dict[str, Any], secrets: KnownSecrets | None = NO_SECRETS) -> dict[str, str]:
    """Return cleaned labels, values masked; at most `MAX_LABELS`.

    Args:
        raw: The labels.
        secrets: Values that must not be shown; None when they are not known, so that only plain words are shown.
    """
    labels: dict[str, str] = {}
    texts = {key: value for key, value in raw.items() if type(key) is str and type(value) is str}
    hidden = secrets if secrets is not None and secrets.stand_in([*texts, *texts.values()]) else NO_SECRETS
    for key, value in texts.items():
        name, shown = safe_label(clean_name(key), value, hidden)
        labels[name] = shown if secrets is not None or key in COMPOSE_LABELS or is_plain_word(shown) else MASK
        if len(labels) >= MAX_LABELS:
            break
    return labels


def parse_compose(labels: dict[str, str]) -> ComposeIdentity | None:
    """Return what the Compose labels claim; None without a project and a service."""
    project, service = labels.get(COMPOSE_LABEL + "project"), labels.get(COMPOSE_LABEL + "service")
    if not project or not service:
        return None
    number = _small_number(labels.get(COMPOSE_LABEL + "container-number"))
    hook = labels.get(COMPOSE_LABEL + "hook") or None
    return ComposeIdentity(
        project=clean_name(project),
        service=clean_name(service),
        number=1 if number is None else number,
        oneoff=labels.get(COMPOSE_LABEL + "oneoff", "").lower() == "true",
        hook=hook and clean_name(hook),
        hook_index=_small_number(labels.get(COMPOSE_LABEL + "hook-index")) if hook else None,
        config_hash=labels.get(COMPOSE_LABEL + "config-hash") or None,
        config_files=_paths(labels.get(COMPOSE_LABEL + "project.config_files")),
        working_dir=labels.get(COMPOSE_LABEL + "project.working_dir") or None,
        environment_files=_paths(labels.get(COMPOSE_LABEL + "project.environment_file")),
        version=labels.get(COMPOSE_LABEL + "version") or None,
        image=labels.get(COMPOSE_LABEL + "image") or None,
        depends_on=labels.get(COMPOSE_LABEL + "depends_on") or None,
    )


def _small_number(text: str | None) -> int | None:
    """Return a count that a label gives; None for anything else."""
    is_count = text is not None and text.isascii() and text.isdigit() and len(text) <= 9  # noqa: PLR2004 - no count is longer
    return int(text) if text is not None and is_count else None


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
    container_state = _STATES.get((get_text(state, "Status") or get_text(entry, "State") or "").lower())
    if container_state is None:
        container_state = next((named_state for flag, named_state in _FLAGS if state.get(flag) is True), None)
    if container_state is None:
        container_state = next((named_state for word, named_state in _STATUS_WORDS if status.startswith(word)), None)
    if container_state is ContainerState.DEAD and _is_under_removal(entry, state):
        container_state = ContainerState.REMOVING
    if container_state is None:
        unread["state"] = NOT_SAID
    facts["state"] = container_state or ContainerState.EXITED
    facts["health"] = health_from_status(status)
    match = _EXITED.match(status)
    facts["exit_code"] = int(match.group(1)) if match else None


def _is_under_removal(entry: dict[str, Any], state: dict[str, Any]) -> bool:
    """Return whether "dead" is only a step of a removal that succeeds: a failed one leaves its error (engine 20.10)."""
    return bool(state) and not get_text(state, "Error") and get_text(entry, "State") != ContainerState.DEAD


def _add_inspected(
    facts: dict[str, Any], unread: dict[str, str], detail: dict[str, Any], secrets: KnownSecrets
) -> None:
    state, config = get_object(detail, "State"), get_object(detail, "Config")
    host_config = get_object(detail, "HostConfig")
    facts.update(
        started_at=parse_time(state.get("StartedAt")),
        finished_at=parse_time(state.get("FinishedAt")),
        oom_killed=get_bool(state, "OOMKilled"),
        error=safe_text(get_text(state, "Error") or "", secrets=secrets),
        restart_count=get_int(detail, "RestartCount"),
        restart_policy=_restart_policy(get_object(host_config, "RestartPolicy")) if host_config else None,
        stop_signal=get_name(config, "StopSignal"),
        removes_itself=get_bool(host_config, "AutoRemove") if host_config else None,
        tty=get_bool(config, "Tty"),
        has_person=(get_bool(config, "Tty") and get_bool(config, "AttachStdin")) or None,
        log_driver=get_name(get_object(host_config, "LogConfig"), "Type"),
        log_is_bounded=_is_log_bounded(get_object(host_config, "LogConfig")),
        health=parse_health(get_object(state, "Health"), get_object(config, "Healthcheck"), secrets),
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
    name = get_name(raw, "Name") or "no"
    retries = get_int(raw, "MaximumRetryCount") or 0
    return f"{name}:{retries}" if name == "on-failure" and retries > 0 else name


def _limits(raw: dict[str, Any]) -> Limits:
    memory, pids = get_int(raw, "Memory") or 0, get_int(raw, "PidsLimit") or 0
    nano_cpus, quota = get_int(raw, "NanoCpus") or 0, get_int(raw, "CpuQuota") or 0
    period = get_int(raw, "CpuPeriod") or 100_000
    cpus = nano_cpus / 1e9 if nano_cpus > 0 else quota / period if quota > 0 and period > 0 else None
    return _make_limits(memory if memory > 0 else None, cpus, get_name(raw, "CpusetCpus"), pids if pids > 0 else None)


@lru_cache(maxsize=_LIMITS_KEPT)
def _make_limits(memory_bytes: int | None, cpus: float | None, cpuset_cpus: str | None, pids: int | None) -> Limits:
    """Return one value for all containers with the same limits: most have none."""
    return Limits(memory_bytes=memory_bytes, cpus=cpus, cpuset_cpus=cpuset_cpus, pids=pids)


def health_from_status(status: str) -> HealthFacts | None:
    """Read the health that the list's status text ends with, "Up 2 hours (healthy)"."""
    for suffix, health_status in _STATUS_SUFFIXES:
        if status.endswith(suffix):
            return HealthFacts(status=health_status)
    return None


def parse_health(
    raw: dict[str, Any], configured: dict[str, Any], secrets: KnownSecrets = NO_SECRETS
) -> HealthFacts | None:
    """Make health facts; None for a container without a health check.

    Args:
        raw: What the probes said.
        configured: The health check.
        secrets: Values that must not be shown of the container, masked in the probes' output.
    """
    status = _STATUSES.get((get_text(raw, "Status") or "").lower())
    if status is None or status is HealthStatus.NONE:
        return None
    probes = [probe for item in get_list(raw, "Log")[-MAX_PROBES:] if (probe := _probe(item, secrets))]
    return HealthFacts(
        status=status,
        failing_streak=get_int(raw, "FailingStreak") or 0,
        probes=tuple(probes),
        timeout_seconds=_seconds(configured, "Timeout", _DEFAULT_INTERVAL_SECONDS),
        interval_seconds=_seconds(configured, "Interval", _DEFAULT_INTERVAL_SECONDS),
        start_period_seconds=_seconds(configured, "StartPeriod", 0.0),
        retries=(get_int(configured, "Retries") or _DEFAULT_RETRIES) if configured else None,
    )


def _seconds(configured: dict[str, Any], key: str, default: float) -> float | None:
    if not configured:
        return None
    nanoseconds = get_int(configured, key) or 0
    return nanoseconds / 1e9 if nanoseconds > 0 else default


def _probe(raw: Any, secrets: KnownSecrets) -> Probe | None:
    if type(raw) is not dict:
        return None
    started, ended = parse_time(raw.get("Start")), parse_time(raw.get("End"))
    exit_code = get_int(raw, "ExitCode")
    if started is None or exit_code is None:
        return None
    output = safe_text((get_text(raw, "Output") or "").rstrip(), max_chars=MAX_OUTPUT_CHARS, secrets=secrets)
    return Probe(started_at=started, ended_at=ended or started, exit_code=exit_code, output=output)
