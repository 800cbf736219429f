"""Lets the thread that answers requests go before those that scan: a scan can wait a little, a scrape should not.

All threads share one interpreter. The one that answers gives it up with each system call, and a scan that takes it then
gives it back only after its slice, or after the operating system has given it a core again: several times a scrape. So
whoever scans asks between two containers whether a request is being answered, and waits until it is.
"""

import selectors
import threading

from bcon_exporter.clock import monotonic

LONGEST_WAIT_SECONDS = 0.005
"""A scan waits no longer at once, and then goes on for as long: under a flood of requests it has half the time left."""


class RightOfWay:
    """Who answers takes it, who scans lets pass."""

    def __init__(self) -> None:
        self._taken = False
        self._free = threading.Event()
        self._go_on_until = 0.0

    @property
    def is_taken(self) -> bool:
        """Whether something is being answered."""
        return self._taken

    def take(self) -> None:
        """Begin to answer."""
        if not self._taken:
            self._free.clear()
            self._taken = True

    def give_back(self) -> None:
        """Have answered everything."""
        if self._taken:
            self._taken = False
            self._free.set()

    def let_pass(self) -> None:
        """Wait while something is being answered, for a few milliseconds at most."""
        if not self._taken or monotonic() < self._go_on_until:
            return
        self._free.wait(LONGEST_WAIT_SECONDS)
        self._go_on_until = monotonic() + LONGEST_WAIT_SECONDS


RIGHT_OF_WAY = RightOfWay()
"""That of this process."""
let_pass = RIGHT_OF_WAY.let_pass


class AnsweringSelector(selectors.DefaultSelector):
    """Selector of an event loop that has the right of way from the moment something comes until it sleeps again."""

    def __init__(self, right_of_way: RightOfWay = RIGHT_OF_WAY) -> None:
        super().__init__()
        self._right_of_way = right_of_way

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for events as any selector does."""
        if timeout is None or timeout > 0:
            self._right_of_way.give_back()
        ready = super().select(timeout)
        if ready:
            self._right_of_way.take()
        return ready
