"""Words for when a day or a night began, by the clock on the wall: "yesterday", "last night", "monday"."""

from collections.abc import Callable
from datetime import datetime, time, timedelta

_DAY = timedelta(days=1)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_EVENING = time(18)
_DAYS_AGO = {"today": 0, "yesterday": 1, "last week": 7}
LAST_NIGHT = "last night"
DAY_WORDS = (*list(_DAYS_AGO)[:2], LAST_NIGHT, "last week", *_WEEKDAYS)


def find_beginning(raw: str, now: datetime, to_local: Callable[[datetime], datetime]) -> datetime | None:
    """Return when the day or night that a word names began; None where the word is unknown.

    A day begins at midnight, "last night" at 18:00 of yesterday, "last week" seven days before today, and a weekday is
    the last one of its name, which may be today.

    Args:
        raw: The word, in any case.
        now: The time that it is said at.
        to_local: Returns a time by the clock on the wall.
    """
    word, wall = " ".join(raw.lower().split()), to_local(now).replace(tzinfo=None)
    midnight = datetime.combine(wall.date(), time())
    if word in _DAYS_AGO:
        return _to_utc(midnight - _DAYS_AGO[word] * _DAY, wall, now, to_local)
    if word == LAST_NIGHT:
        return _to_utc(datetime.combine(wall.date() - _DAY, _EVENING), wall, now, to_local)
    if word in _WEEKDAYS:
        days = (wall.weekday() - _WEEKDAYS.index(word)) % len(_WEEKDAYS)
        return _to_utc(midnight - days * _DAY, wall, now, to_local)
    return None


def _to_utc(target: datetime, wall: datetime, now: datetime, to_local: Callable[[datetime], datetime]) -> datetime:
    """Return the time at which the clock on the wall showed `target`, also where it was put forward or back since."""
    guess = now - (wall - target)
    return guess - (to_local(guess).replace(tzinfo=None) - target)
