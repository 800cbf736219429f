"""Counts, times and lengths of time in words, for every text that people read."""

from datetime import datetime

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_KIB = 1024


def show_count(count: int, noun: str) -> str:
    """Return "1 container", "3 containers"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def show_times(count: int) -> str:
    """Return "once", "3 times"."""
    return "once" if count == 1 else f"{count} times"


def show_duration(seconds: float) -> str:
    """Return a length of time with at least two digits of precision: "90 s", "45 min", "3 h 20 min", "4 days"."""
    total = max(0, round(seconds))
    if total < 2 * _MINUTE:
        return f"{total} s"
    if total < 2 * _HOUR:
        return f"{total // _MINUTE} min"
    if total < 2 * _DAY:
        return f"{total // _HOUR} h {total % _HOUR // _MINUTE} min"
    return f"{total // _DAY} days"


def show_time(when: datetime | None) -> str:
    """Return a time to the second, in UTC; a dash where it is unknown."""
    return "-" if when is None else f"{when:%Y-%m-%d %H:%M:%S} UTC"


def show_stamp(local: datetime) -> str:
    """Return a time to the second with its zone, which is that of the clock it was read from."""
    return f"{local:%Y-%m-%d %H:%M:%S %Z}"


def show_size(size_bytes: float | None) -> str:
    """Return "12.3 MiB"; a dash where it is unknown."""
    if size_bytes is None:
        return "-"
    size = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < _KIB:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _KIB
    return f"{size:.1f} TiB"


def show_percent(ratio: float) -> str:
    """Return "12 %", and "1.2 %" of what is small."""
    return f"{100 * ratio:.0f} %" if ratio >= 0.1 or not ratio else f"{100 * ratio:.1f} %"  # noqa: PLR2004 -- a digit more
