"""Single containers that do not answer while others do: asked ever more rarely, so as not to slow every scan. Pure.

Seen where a container's shim or its log driver hangs: one lock in the engine is held, and whoever asks for that
container waits for it (moby/moby#39523). A busy engine holds it for seconds while it starts or stops a container, so
that the first waits are short: a scan that met such a moment must not leave the container unread for long.
"""

import threading
from collections.abc import Collection, Sequence

from bcon_exporter.docker_host.breaker import EndpointName

AGAIN_AFTER_SECONDS = (5.0, 15.0, 60.0)
"""How long a container is left alone after it did not answer once, twice, three times or more."""


class StuckContainers:
    """Which containers are left alone, per endpoint, and why; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since: dict[tuple[EndpointName, str], tuple[float, int, str]] = {}

    def note(self, name: EndpointName, container_id: str, reason: str, now: float) -> None:
        """Note that a container did not answer, though others did; `now` is on a monotonic clock."""
        with self._lock:
            _, times, _ = self._since.get((name, container_id), (now, 0, reason))
            self._since[name, container_id] = now, times + 1, reason

    def split(self, name: EndpointName, ids: Sequence[str], now: float) -> tuple[list[str], dict[str, str]]:
        """Return whom to ask, and the others with the reason why not."""
        with self._lock:
            if not self._since:
                return list(ids), {}
            left_alone = {
                container_id: reason
                for (of, container_id), (since, times, reason) in self._since.items()
                if of == name and now - since < _wait_after(times)
            }
        asked = [container_id for container_id in ids if container_id not in left_alone]
        return asked, {container_id: left_alone[container_id] for container_id in ids if container_id in left_alone}

    def knows_all(self, name: EndpointName, ids: Sequence[str]) -> bool:
        """Return whether all of these were stuck when they were last asked about."""
        with self._lock:
            return bool(self._since) and all((name, container_id) in self._since for container_id in ids)

    def note_answer(self, name: EndpointName, container_id: str) -> None:
        """Note that a container has answered."""
        if self._since:
            with self._lock:
                self._since.pop((name, container_id), None)

    def ask_again(self, ids: Collection[str]) -> None:
        """Leave these alone no longer: the engine has told of them, so it has let go of their lock meanwhile."""
        with self._lock:
            for (name, container_id), (_, _, reason) in self._since.items():
                if container_id in ids:
                    self._since[name, container_id] = float("-inf"), 0, reason

    def forget(self) -> None:
        """Ask all again: what held them was the engine as a whole."""
        with self._lock:
            self._since.clear()

    def retain(self, ids: Collection[str]) -> None:
        """Forget all other containers."""
        with self._lock:
            if self._since:
                self._since = {key: value for key, value in self._since.items() if key[1] in ids}


def _wait_after(times: int) -> float:
    return AGAIN_AFTER_SECONDS[min(times, len(AGAIN_AFTER_SECONDS)) - 1]
