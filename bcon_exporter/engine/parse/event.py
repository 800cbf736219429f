"""Raw engine events → lifecycle events (see `container`)."""

import signal
from datetime import datetime
from typing import Any

from bcon_exporter.engine.parse.container import COMPOSE_LABEL
from bcon_exporter.engine.parse.json_fields import from_epoch, get_int, get_name, get_object, get_text
from bcon_exporter.model.lifecycle import CONTAINER_ACTIONS, NETWORK_ACTIONS, LifecycleEvent
from bcon_exporter.secrets.cleaning import clean_name

# Everything else is noise: exec_* of health checks, attach, top, copy, export.
EventKey = tuple[int, str, str, str]
"""Tells an event from all others: time in nanoseconds, what happened, to whom, and by whom."""
_PODMAN = {"died": "die", "remove": "destroy", "init": "", "cleanup": ""}


def parse_event(raw: Any) -> LifecycleEvent | None:
    """Make a lifecycle event; None for events about something else and for what cannot be read.

    An event of a network's (dis)connection carries the container's id, but not its name: `name` is "".
    """
    if type(raw) is not dict:
        return None
    actor = get_object(raw, "Actor")
    attributes = get_object(actor, "Attributes")
    action = (get_text(raw, "Action") or get_text(raw, "status") or "").strip()
    at = from_epoch(get_int(raw, "time"), get_int(raw, "timeNano"))
    kind = get_text(raw, "Type") or "container"
    if at is None or not action:
        return None
    if kind == "network" and action in NETWORK_ACTIONS:
        container_id = clean_name(get_text(attributes, "container") or "")
        return LifecycleEvent(at=at, action=action, container_id=container_id, name="") if container_id else None
    if kind != "container":
        return None
    action, _, detail = action.partition(":")
    action = _PODMAN.get(action, action)
    if action == "restart" and "containerExitCode" in attributes:
        return None  # Podman tells so, before the start, what its restart policy does; Docker only what people do
    container_id = clean_name(get_text(actor, "ID") or get_text(raw, "id") or "")
    if not container_id or action not in CONTAINER_ACTIONS:
        return None
    health = clean_name((detail or get_text(attributes, "health_status") or "").strip())
    return _container_event(
        raw, attributes, LifecycleEvent(at=at, action=action, container_id=container_id, name="", health=health or None)
    )


def _container_event(raw: dict[str, Any], attributes: dict[str, Any], bare: LifecycleEvent) -> LifecycleEvent:
    return LifecycleEvent(
        at=bare.at,
        action=bare.action,
        container_id=bare.container_id,
        name=clean_name((get_text(attributes, "name") or "").removeprefix("/")),
        image=clean_name(get_text(attributes, "image") or get_text(raw, "from") or ""),
        project=_label(attributes, "project"),
        service=_label(attributes, "service"),
        number=_number(_label(attributes, "container-number")),
        oneoff=(_label(attributes, "oneoff") or "").lower() == "true" or bool(_label(attributes, "hook")),
        exit_code=_exit_code(attributes) if bare.action == "die" else None,
        signal=_signal(get_text(attributes, "signal")) if bare.action == "kill" else None,
        health=bare.health if bare.action == "health_status" else None,
    )


def _label(attributes: dict[str, Any], name: str) -> str | None:
    return get_name(attributes, COMPOSE_LABEL + name)


def _number(text: str | None) -> int | None:
    digits = (text or "").removeprefix("-")
    if not text or not (digits.isascii() and digits.isdigit()) or len(digits) > 9:  # noqa: PLR2004 - no exit code is longer
        return None
    return int(text)


def _exit_code(attributes: dict[str, Any]) -> int | None:
    """Read the exit code; Docker and Podman's compatible API name it differently."""
    return _number(get_text(attributes, "exitCode") or get_text(attributes, "containerExitCode"))


def _signal(text: str | None) -> int | None:
    """Read a signal by number ("15") or by name ("SIGTERM", "TERM")."""
    number = _number(text)
    if number is not None or not text:
        return number
    name = text.upper() if text.upper().startswith("SIG") else f"SIG{text.upper()}"
    return next((int(candidate) for candidate in signal.Signals if candidate.name == name), None)


def parse_event_time(raw: dict[str, Any]) -> datetime | None:
    """Return when an event of any type happened."""
    return from_epoch(get_int(raw, "time"), get_int(raw, "timeNano"))


def event_key(raw: dict[str, Any]) -> EventKey:
    """Return what tells an event from all others: it may come by the stream and by a back-fill."""
    actor = get_object(raw, "Actor")
    who = get_text(actor, "ID") or get_text(raw, "id") or ""
    whom = get_text(get_object(actor, "Attributes"), "container") or ""
    nano = get_int(raw, "timeNano") or (get_int(raw, "time") or 0) * 1_000_000_000
    return nano, f"{get_text(raw, 'Type')}:{get_text(raw, 'Action') or get_text(raw, 'status')}", who, whom
