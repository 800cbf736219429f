"""What was found before, as long as it is asked for: a bounded memory of the values used last."""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class Recent(Generic[_Value]):
    """Keeps the values used last, by key; without a key nothing is kept. Thread-safe.

    Args:
        limit: How many values are kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Value] = OrderedDict()

    def get(self, key: str | None) -> _Value | None:
        """Return the value kept under the key; None when there is none."""
        with self._lock:
            if key is None or key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key]

    def keep(self, key: str | None, value: _Value) -> None:
        """Keep a value, and forget the one that was used least recently when there are too many."""
        if key is None:
            return
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > self._limit:
                self._kept.popitem(last=False)
