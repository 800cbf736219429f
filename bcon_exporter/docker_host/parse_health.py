"""Health checks in raw Engine JSON → facts (see `parse`)."""

from typing import Any

from bcon_exporter.docker_host.raw import get_int, get_list, get_text, parse_time
from bcon_exporter.model.facts import HealthFacts, HealthStatus, Probe
from bcon_exporter.model.known_secrets import NO_SECRETS, KnownSecrets
from bcon_exporter.model.masking import safe_text

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


def health_from_status(status: str) -> HealthFacts | None:
    """Read the health that the list's status text ends with, "Up 2 hours (healthy)"."""
    for suffix, found in _STATUS_SUFFIXES:
        if status.endswith(suffix):
            return HealthFacts(status=found)
    return None


def parse_health(
    raw: dict[str, Any], configured: dict[str, Any], known: KnownSecrets = NO_SECRETS
) -> HealthFacts | None:
    """Make health facts; None for a container without a health check.

    Args:
        raw: What the probes said.
        configured: The health check.
        known: Values that must not be shown of the container, masked in the probes' output.
    """
    status = _STATUSES.get((get_text(raw, "Status") or "").lower())
    if status is None or status is HealthStatus.NONE:
        return None
    probes = [probe for item in get_list(raw, "Log")[-MAX_PROBES:] if (probe := _probe(item, known))]
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


def _probe(raw: Any, known: KnownSecrets) -> Probe | None:
    if type(raw) is not dict:
        return None
    started, ended = parse_time(raw.get("Start")), parse_time(raw.get("End"))
    exit_code = get_int(raw, "ExitCode")
    if started is None or exit_code is None:
        return None
    output = safe_text((get_text(raw, "Output") or "").rstrip(), max_chars=MAX_OUTPUT_CHARS, known=known)
    return Probe(started_at=started, ended_at=ended or started, exit_code=exit_code, output=output)
