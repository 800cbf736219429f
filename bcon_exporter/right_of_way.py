"""Lets the thread that answers requests go before those that scan: a scan can wait a little, a scrape should not.

All threads share one interpreter, and each system call gives it up. The thread that answers asks for it as soon as a
request comes, but one that reads many small files takes it back each time before the other has woken up: measured, a
scrape waited 15 ms for it. And once it has it, it gives it up several times a scrape itself. So whoever scans asks
between two containers whether a request has come or is being answered, and waits until it is.
"""

import select
import selectors
import threading
import time

from bcon_exporter.clock import monotonic

WORK_SECONDS = 0.001
"""So long a scan works at once, where requests may come."""
REST_SECONDS = 0.002
"""So long it rests then: whoever is woken meanwhile finds a core free, a scrape as well as the host's own work."""
CALM_SECONDS = 1.0
"""A scan that has worked for longer rests no more: on a host of thousands its deadline counts."""
LONGEST_WAIT_SECONDS = 0.005
"""A scan waits no longer at once, and then goes on for as long: under a flood of requests it has half the time left."""
_BETWEEN_SCANS_SECONDS = 0.2
"""Who has not worked for so long begins a scan."""
_LOOK_SECONDS = 0.0001
"""How often a scan looks whether a request has come: a system call of two microseconds."""


class RightOfWay:
    """Who answers takes it, who scans lets pass."""

    def __init__(self) -> None:
        self._taken = False
        self._free = threading.Event()
        self._go_on_until = 0.0
        self._door: int | None = None
        self._look_at = 0.0
        self._rest_at = 0.0
        self._began_at = 0.0

    @property
    def is_taken(self) -> bool:
        """Whether something is being answered."""
        return self._taken

    @property
    def is_called(self) -> bool:
        """Whether a request waits for the thread that answers."""
        if self._door is None:
            return False
        poll = select.poll()
        try:
            poll.register(self._door, select.POLLIN)
            return any(event & select.POLLIN for _, event in poll.poll(0))
        except OSError:
            return False

    def watch(self, door: int | None) -> None:
        """Name the file descriptor that is readable when something wants to be answered; None for none."""
        self._door = door

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
        """Rest, and wait while something is being answered, for a few milliseconds at most."""
        now = monotonic()
        if self._door is not None and now >= self._rest_at:
            now = self._rest(now)
        if now < self._go_on_until:
            return
        if not self._taken:
            if now < self._look_at:
                return
            self._look_at = now + _LOOK_SECONDS
            if not self.is_called:
                return
            self._free.clear()  # who answers has not been let in yet; having answered, it sets this
        self._free.wait(LONGEST_WAIT_SECONDS)
        self._go_on_until = monotonic() + LONGEST_WAIT_SECONDS

    def _rest(self, now: float) -> float:
        """Leave the core to others for a moment, unless the scan takes long already; return the time then."""
        if now - self._rest_at > _BETWEEN_SCANS_SECONDS:
            self._began_at = now
        if now - self._began_at <= CALM_SECONDS:
            time.sleep(REST_SECONDS)
            now = monotonic()
        self._rest_at = now + WORK_SECONDS
        return now


RIGHT_OF_WAY = RightOfWay()
"""That of this process."""
let_pass = RIGHT_OF_WAY.let_pass


class AnsweringSelector(selectors.DefaultSelector):
    """Selector of an event loop that has the right of way from the moment something comes until it sleeps again."""

    def __init__(self, right_of_way: RightOfWay = RIGHT_OF_WAY) -> None:
        super().__init__()
        self._right_of_way = right_of_way
        right_of_way.watch(self.fileno())  # that of epoll is itself readable when one that it watches is

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for events as any selector does."""
        if timeout is None or timeout > 0:
            self._right_of_way.give_back()
        ready = super().select(timeout)
        if ready:
            self._right_of_way.take()
        return ready

    def close(self) -> None:
        """Close as any selector does."""
        self._right_of_way.watch(None)
        super().close()
