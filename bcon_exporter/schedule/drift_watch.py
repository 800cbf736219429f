"""When the Compose files are compared before their time: something has happened to a container, or a file has changed.

`docker compose up` makes many events one after the other, so a look waits for a moment of quiet, though never long. A
host on which something happens all the time (a crash loop) must not cost much: looks that find nothing new come ever
less often, down to the interval.
"""

QUIET_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 5.0
_LEAST_REST_SECONDS = 2.0
_REST_SHARE = 20
"""A look that took a second is followed by no other for twenty."""


class DriftWatch:
    """Decides when to look; to be asked every second or so, by one thread at a time."""

    def __init__(self) -> None:
        self._changes = 0
        self._since: float | None = None
        self._newest = 0.0
        self._of_files = False
        self._rest_until = float("-inf")
        self._rest_seconds = _LEAST_REST_SECONDS

    def is_due(self, changes: int, now: float, *, files_changed: bool) -> bool:
        """Return whether to look now.

        Args:
            changes: How many events about containers there have been; starts anywhere, never falls.
            now: On the clock that never steps, in seconds.
            files_changed: A file of a project is another than before.
        """
        if changes != self._changes or files_changed:
            self._changes, self._newest = changes, now
            self._since = now if self._since is None else self._since
            self._of_files = self._of_files or files_changed
        if self._since is None or (now < self._rest_until and not self._of_files):
            return False
        if now - self._newest < QUIET_SECONDS and now - self._since < LONGEST_WAIT_SECONDS:
            return False
        self._since, self._of_files = None, False
        return True

    def note_look(self, changes: int, now: float, took_seconds: float, interval_seconds: float, *, found: bool) -> None:
        """Note that a look has ended, asked for here or due by the interval.

        Args:
            changes: The number of events when it began: those before need no further look.
            now: When it ended.
            took_seconds: How long it took.
            interval_seconds: The rest is never longer than this.
            found: It reported something else than the look before.
        """
        if self._changes <= changes:
            self._changes, self._since = changes, None
        least = max(_LEAST_REST_SECONDS, _REST_SHARE * took_seconds)
        self._rest_seconds = least if found else max(least, 2 * self._rest_seconds)
        self._rest_seconds = min(self._rest_seconds, interval_seconds)
        self._rest_until = now + self._rest_seconds
