"""BoundedCache: a thread-safe least-recently-used cache."""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class BoundedCache(Generic[_Value]):
    """Keeps the most recently used values. The key None is never stored. Thread-safe.

    Args:
        limit: How many values are kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._values: OrderedDict[str, _Value] = OrderedDict()

    def get(self, key: str | None) -> _Value | None:
        """Return the value of the key; None when there is none."""
        with self._lock:
            if key is None or key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def keep(self, key: str | None, value: _Value) -> None:
        """Store a value; the least recently used one is dropped when there are too many."""
        if key is None:
            return
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)
