"""The history for people at a terminal: loops are one row; of changes, those of images and configuration come first."""

from bcon_exporter.model.journal import FoldedHistory, HistoryReport, JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.repetitions import fold_loops
from bcon_exporter.model.tool_inputs import GetHistoryInput
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.exporter_status import HISTORY
from bcon_exporter.tools.tool import Tool

_PAGE = 1000
_PAGES = 10
SETUP = (
    JournalKind.IMAGE_CHANGE,
    JournalKind.CONFIG_CHANGE,
    JournalKind.DEPLOYMENT,
    JournalKind.DRIFT_ON,
    JournalKind.DRIFT_OFF,
)
"""What somebody has set up otherwise."""


def read_folded_history(context: Context, request: GetHistoryInput) -> FoldedHistory:
    """Return what happened, folded: of the newest 10,000 rows, and of the newest 1,000 of each kind in `SETUP`.

    Raises:
        BconError: As for `get_history`.
    """
    report: HistoryReport = HISTORY.answer(context, request.model_copy(update={"limit": _PAGE}))
    rows = list(report.entries)
    while len(rows) < min(report.total, _PAGE * _PAGES):
        offset = request.offset + len(rows)
        page = HISTORY.answer(
            context, request.model_copy(update={"limit": _PAGE, "offset": offset, "until": report.until})
        )
        if not page.entries:
            break
        rows += page.entries
    setup = _read_setup(context, request, report, rows) if request.changes else []
    others = fold_loops(row for row in rows if not (request.changes and row.kind in SETUP))
    return FoldedHistory(
        since=report.since,
        until=report.until,
        rows=report.total,
        rows_read=len(rows),
        lines=len(setup) + len(others),
        setup=tuple(setup[: request.limit]),
        entries=tuple(others[: max(0, request.limit - len(setup))]),
        known_since=report.known_since,
    )


def _read_setup(
    context: Context, request: GetHistoryInput, report: HistoryReport, rows: list[JournalEntry]
) -> list[JournalEntry]:
    """Return the rows about images and configuration; they are asked for by kind where loops have pushed them out."""
    if len(rows) >= report.total or request.kind is not None:
        return [row for row in rows if row.kind in SETUP]
    window = {"limit": _PAGE, "until": report.until}
    pages = (HISTORY.answer(context, request.model_copy(update={**window, "kind": kind})).entries for kind in SETUP)
    return sorted((row for page in pages for row in page), key=lambda row: row.at, reverse=True)


FOLDED_HISTORY = Tool(
    HISTORY.name, "What happened, loops folded.", GetHistoryInput, FoldedHistory, read_folded_history, works=False
)
