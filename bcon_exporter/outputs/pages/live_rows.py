"""What an open page is told when a scan has ended: the sentence, and which rows are not as they were."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from bcon_exporter.outputs.pages.container_table import to_rows
from bcon_exporter.outputs.pages.html import favicon, sign_path
from bcon_exporter.outputs.pages.views import HostHeader, read_host
from bcon_exporter.tools import Context


@dataclass(frozen=True, slots=True)
class LiveState:
    """The host as a scan has left it.

    Attributes:
        rows: Container → what its row says.
    """

    host: HostHeader
    rows: Mapping[str, tuple[str, str]]

    def message(self, before: "LiveState | None", now: datetime) -> dict[str, object]:
        """Return what a page is told that knows `before`; None where it has just been opened."""
        taken_at, tone = self.host.taken_at, self.host.sentence.tone
        earlier = self.rows if before is None else before.rows
        changed = (name for name in {*self.rows, *earlier} if self.rows.get(name) != earlier.get(name))
        return {
            "state": self.host.state,
            "tone": tone.value,
            "parts": self.host.sentence.brief,
            "age": 0.0 if taken_at is None else max(0.0, (now - taken_at).total_seconds()),
            "favicon": favicon(tone),
            "sign": sign_path(tone),
            "changed": sorted(changed),
        }


def read_live_state(context: Context, hang: str | None) -> LiveState:
    """Return the host as the last scan has left it."""
    rows = to_rows(context, context.scans.diagnosis)
    return LiveState(read_host(context, hang), {row.name: (row.status, row.root or "") for row in rows})
