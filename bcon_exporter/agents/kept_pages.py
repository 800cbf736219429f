"""Lists that agents have read the first page of, so that the next page goes on in the same list."""

import json
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from bcon_exporter import clock
from bcon_exporter.agents.answer_rendering import AgentAnswer, Listed, ViewOptions, render_page
from bcon_exporter.agents.paging import compact
from bcon_exporter.callers import CALLER
from bcon_exporter.tools import Tool

MOST_LISTS = 8
"""Beyond, the oldest goes of the caller who has most."""
KEPT_SECONDS = 300.0
MOST_BYTES = 512 * 1024
"""A longer list is not kept: its next page looks at the host anew."""

_Key = tuple[str, str, str, bool, str]


class KeptPages:
    """A few lists for a few minutes; used from one thread.

    Args:
        monotonic: The clock by which they grow old.
    """

    def __init__(self, monotonic: Callable[[], float] = clock.monotonic) -> None:
        self._monotonic = monotonic
        self._lists: OrderedDict[_Key, tuple[float, Listed]] = OrderedDict()

    def find(self, tool: Tool[Any], payload: object, options: ViewOptions) -> AgentAnswer | None:
        """Return a page of the list that `as_of` names; None: it is not kept, so that the tool is to be run."""
        self._drop_old()
        if options.as_of is None or options.select is not None:
            return None
        kept = self._lists.get(_key(tool, payload, options, options.as_of))
        return None if kept is None else render_page(tool, kept[1], options)

    def keep(self, tool: Tool[Any], payload: object, options: ViewOptions, answer: AgentAnswer) -> AgentAnswer:
        """Return the answer; keep the list behind it when more of it can be read."""
        self._drop_old()
        listed = answer.listed
        if listed is None or "offset" in tool.input_model.model_fields or not answer.has_next:
            return answer
        if len(compact(listed.rows)) <= MOST_BYTES:
            key = _key(tool, payload, options, listed.as_of)
            self._lists[key] = (self._monotonic(), listed)
            self._lists.move_to_end(key)
            while len(self._lists) > MOST_LISTS:
                counts = Counter(caller for caller, *_ in self._lists)
                del self._lists[next(kept for kept in self._lists if counts[kept[0]] == max(counts.values()))]
        return answer

    def _drop_old(self) -> None:
        """Forget what is too old; the oldest stand first."""
        latest = self._monotonic() - KEPT_SECONDS
        while self._lists and next(iter(self._lists.values()))[0] < latest:
            self._lists.popitem(last=False)


def _key(tool: Tool[Any], payload: object, options: ViewOptions, as_of: str) -> _Key:
    return CALLER.get(), tool.name, json.dumps(payload, sort_keys=True, default=str), options.detail, as_of
