"""Counts errors by code, for the exporter's own metrics."""

import logging
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from bcon_exporter.errors import BconError, ErrorCode, InternalError

_log = logging.getLogger(__name__)

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

    @contextmanager
    def contained(self, doing: str) -> Iterator[None]:
        """Log and count what goes wrong within: whatever comes after it goes on.

        Args:
            doing: What is being done, as the beginning of "... failed".
        """
        try:
            yield
        except BconError as error:
            _log.warning("%s failed: %s", doing, error.message)
            self.add(error.code)
        except Exception:  # noqa: BLE001 -- the boundary of a side job: a defect in it must cost nothing else
            _log.exception("%s failed because of a defect; please report this", doing)
            self.add(InternalError.code)
