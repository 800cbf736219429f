"""How people write lengths of time: "30s", "1m30s", "2d"."""

import re  # noqa: TID251 - sees at most 64 characters of a duration
from datetime import timedelta

_UNIT_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_LONGEST_TEXT = 64
DURATION_PATTERN = r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|[smhdw]))+"
_DURATION = re.compile(DURATION_PATTERN)
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|[smhdw])")
_HINT = 'is not a duration; write a number with its unit (ms, s, m, h, d, w), for example "30s" or "1m30s"'
_MAX_SECONDS = 10 * 365 * 86400


def parse_duration(raw: object) -> timedelta:
    """Return the time that "30s", "1m30s" or "32d" means; a bare number is refused, since its unit is a guess.

    Raises:
        ValueError: It is none, or longer than ten years.
    """
    if isinstance(raw, timedelta):
        return raw
    text = raw.strip() if isinstance(raw, str) and len(raw) <= _LONGEST_TEXT else ""
    if not _DURATION.fullmatch(text):
        raise ValueError(_HINT)
    seconds = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(text))
    if seconds > _MAX_SECONDS:
        msg = "is longer than ten years"
        raise ValueError(msg)
    return timedelta(seconds=seconds)


def write_duration(value: timedelta) -> str:
    """Return the shortest way to write a duration: "30s", "1m30s", "32d"."""
    rest, parts = round(value.total_seconds(), 3), []
    for unit in ("d", "h", "m"):
        count, rest = divmod(rest, _UNIT_SECONDS[unit])
        parts += [f"{int(count)}{unit}"] if count else []
    parts += [f"{rest:g}s"] if rest or not parts else []
    return "".join(parts)
