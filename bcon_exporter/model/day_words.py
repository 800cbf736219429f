"""Words for when a day or a night began, by the clock on the wall: "yesterday", "last night", "monday"."""

from collections.abc import Callable
from datetime import datetime, time, timedelta

_DAY = timedelta(days=1)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_BEGINNINGS = {"today": (0, time()), "yesterday": (1, time()), "last night": (1, time(18)), "last week": (7, time())}
"""Word → how many days ago, and at what time."""
DAY_WORDS = (*_BEGINNINGS, *_WEEKDAYS)


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
    if word in _WEEKDAYS:
        days, at = (wall.weekday() - _WEEKDAYS.index(word)) % len(_WEEKDAYS), time()
    elif word in _BEGINNINGS:
        days, at = _BEGINNINGS[word]
    else:
        return None
    return _to_utc(datetime.combine(wall.date() - days * _DAY, at), wall, now, to_local)


def _to_utc(target: datetime, wall: datetime, now: datetime, to_local: Callable[[datetime], datetime]) -> datetime:
    """Return the time at which the clock on the wall showed `target`, also where it was put forward or back since."""
    guess = now - (wall - target)
    return guess - (to_local(guess).replace(tzinfo=None) - target)
