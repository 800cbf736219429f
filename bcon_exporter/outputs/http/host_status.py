"""How the host is in at most 300 bytes, for dashboards that ask often; the engine is not asked."""

from typing import Literal

from pydantic_core import to_json

from bcon_exporter.model.base import Frozen
from bcon_exporter.model.findings import STATUSES, Status
from bcon_exporter.model.reports import DiagnoseAllReport
from bcon_exporter.tools import Context

STATUS_PATH = "/api/v1/status"
SENTENCE_BYTES = 100
_CUT = "…"


class HostStatus(Frozen):
    """How the host is.

    Attributes:
        status: The worst of all containers; "unknown" where the last scan does not tell how they are now.
        total: Containers; total = well + not_checked + warning + error + critical. The counts are those of the last
            scan, and None before the first.
        incidents: Open ones.
        sentence: What is worst, in words: as on the first page, cut to `SENTENCE_BYTES` bytes of JSON.
        age_seconds: Of the last scan.
    """

    status: Status | Literal["unknown"]
    total: int | None = None
    well: int | None = None
    not_checked: int | None = None
    warning: int | None = None
    error: int | None = None
    critical: int | None = None
    incidents: int
    sentence: str
    age_seconds: int | None = None


def render_status(context: Context, hang: str | None) -> bytes:
    """Return the answer: the envelope of a `HostStatus` as JSON.

    Args:
        context: Holds the last scan.
        hang: Names the scan that hangs; None for none.
    """
    from bcon_exporter.outputs.pages import read_host, why_not_current  # loads the pages

    host, scan = read_host(context, hang), context.scans.diagnosis
    is_current = scan is not None and why_not_current(context, hang) is None
    said = host.sentence.parts
    status = HostStatus(
        status=_worst_of(scan.report) if scan is not None and is_current else "unknown",
        **(_count(scan.report) if scan is not None else {}),
        incidents=host.open_incidents,
        sentence=_cut(said[1] if is_current and len(said) > 1 else said[0]),
        age_seconds=int(max(0.0, context.monotonic() - scan.finished_monotonic)) if scan is not None else None,
    )
    return b'{"result":%s}' % status.model_dump_json().encode()


def _worst_of(report: DiagnoseAllReport) -> Status:
    return next((status for status in reversed(STATUSES) if getattr(report, status)), "healthy")


def _count(report: DiagnoseAllReport) -> dict[str, int]:
    well = {"total": report.total_containers, "well": report.healthy - report.not_checked}
    return well | {name: getattr(report, name) for name in ("not_checked", "warning", "error", "critical")}


def _cut(sentence: str) -> str:
    """Return as much of a sentence as takes `SENTENCE_BYTES` bytes of JSON, cut after a word."""
    if _size(sentence) <= SENTENCE_BYTES:
        return sentence
    words: list[str] = []
    for word in sentence.split(" "):
        if _size(" ".join((*words, word)) + _CUT) > SENTENCE_BYTES:
            break
        words.append(word)
    return " ".join(words) + _CUT


def _size(text: str) -> int:
    return len(to_json(text))
