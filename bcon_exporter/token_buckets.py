"""Token buckets: so many at once, and one more every so often, for each client."""

from collections import OrderedDict

CLIENTS_MAX = 4096


class TokenBuckets:
    """A bucket of tokens for each client; of too many clients the least recent is forgotten."""

    def __init__(self, most: float, per_second: float) -> None:
        self._most, self._per_second = most, per_second
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, now: float) -> float:
        """Take one token and return 0.0, or return in how many seconds there is one."""
        tokens = self._level(client, now)
        if tokens < 1:
            self._put(client, tokens, now)
            return (1 - tokens) / self._per_second
        self._put(client, tokens - 1, now)
        return 0.0

    def give_back(self, client: str, now: float) -> None:
        """Put a token back."""
        self._put(client, self._level(client, now) + 1, now)

    def _level(self, client: str, now: float) -> float:
        tokens, at = self._buckets.get(client, (self._most, now))
        return min(self._most, tokens + (now - at) * self._per_second)

    def _put(self, client: str, tokens: float, now: float) -> None:
        self._buckets[client] = tokens, now
        self._buckets.move_to_end(client)
        if len(self._buckets) > CLIENTS_MAX:
            self._buckets.popitem(last=False)
