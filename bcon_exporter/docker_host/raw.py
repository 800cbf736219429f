"""Typed access to raw Engine JSON, which may be anything: wrong types read as absent, nothing raises."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

_EMPTY: dict[str, Any] = {}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER_YEAR = "0001"
_MAX_INT = 2**63


def get_object(raw: Any, key: str) -> dict[str, Any]:
    """Return a nested object, or an empty one."""
    value = raw.get(key) if type(raw) is dict else None
    return value if type(value) is dict else _EMPTY


def get_list(raw: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list, or an empty one (the engine writes null for empty)."""
    value = raw.get(key)
    return value if type(value) is list else []


def get_text(raw: Mapping[str, Any], key: str) -> str | None:
    """Return a string, None for anything else."""
    value = raw.get(key)
    return value if type(value) is str else None


def get_int(raw: Mapping[str, Any], key: str) -> int | None:
    """Return an integer, None for anything else and for what no counter can be."""
    value = raw.get(key)
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and -_MAX_INT <= value <= 2 * _MAX_INT else None


def get_bool(raw: Mapping[str, Any], key: str) -> bool | None:
    """Return a truth value, None for anything else."""
    value = raw.get(key)
    return value if type(value) is bool else None


def parse_time(text: Any) -> datetime | None:
    """Parse an RFC 3339 time to the microsecond; the engine's zero time ("0001-01-01...") and nonsense are None."""
    if type(text) is not str or text.startswith(_NEVER_YEAR):
        return None
    try:
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def from_epoch(seconds: int | None, nanoseconds: int | None = None) -> datetime | None:
    """Return a time from epoch seconds, or from epoch nanoseconds where given; None when out of range."""
    micros = nanoseconds // 1000 if nanoseconds else (seconds or 0) * 1_000_000
    if micros <= 0:
        return None
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return None
