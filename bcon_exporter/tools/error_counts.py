"""Counts errors by code, for the exporter's own metrics."""

import threading
from collections import Counter

from bcon_exporter.errors import ErrorCode

NO_FAILURES = frozenset({ErrorCode.NOT_AVAILABLE})
"""Codes by which nothing has failed: their counts appear with the first."""


class ErrorTally:
    """A thread-safe count of errors by code, since the start."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[ErrorCode] = Counter()

    def add(self, code: ErrorCode) -> None:
        """Count one error."""
        with self._lock:
            self._counts[code] += 1

    def counts(self) -> dict[ErrorCode, int]:
        """Return the count of every code, 0 for those not seen; without those of `NO_FAILURES` that were not seen."""
        with self._lock:
            return {code: self._counts[code] for code in ErrorCode if code not in NO_FAILURES or self._counts[code]}
