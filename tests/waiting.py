"""Waiting for a condition of the real world, with a bound: the only place in the tests that sleeps."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def wait_until(
    condition: Callable[[], T | None], what: str, *, timeout_seconds: float = 30.0, every_seconds: float = 0.05
) -> T:
    """Poll until `condition()` is truthy and return its value; AssertionError naming `what` when time is up."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            message = f"waited {timeout_seconds:g} s in vain: {what}"
            raise AssertionError(message)
        time.sleep(every_seconds)
