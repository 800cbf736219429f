"""Shares a room among many: those that want little have all of it, the others equal parts of what is left."""

from collections.abc import Mapping
from typing import TypeVar

Key = TypeVar("Key")


def share_out(wanted: Mapping[Key, int], room: int) -> dict[Key, int]:
    """Return how much each one gets of a room.

    Args:
        wanted: How much each one has.
        room: For all together; where it is enough, all get what they have. Of equal ones the first get what is left
            over.
    """
    shares: dict[Key, int] = {}
    left = max(0, room)
    ascending = list(wanted.items())
    ascending.reverse()
    ascending.sort(key=lambda item: item[1])
    for number, (key, amount) in enumerate(ascending):
        shares[key] = min(amount, left // (len(ascending) - number))
        left -= shares[key]
    return shares
