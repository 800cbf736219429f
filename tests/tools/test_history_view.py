"""Promise: no loop hides from people which image or configuration was changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bcon_exporter.model.journal import FoldedHistory, HistoryReport, JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.tool_inputs import GetHistoryInput
from bcon_exporter.tools.history_view import read_folded_history
from tests.factories import NOON
from tests.tools.hosts import context_of

if TYPE_CHECKING:
    from collections.abc import Mapping

DAY = timedelta(days=1)


def read(journal: list[JournalEntry], **asked: Any) -> FoldedHistory:
    """Read a journal, newest first, as a command has a daemon read it."""

    def answer(_: str, given: Mapping[str, Any], __: object) -> HistoryReport:
        rows = [row for row in journal if given.get("kind") in (None, row.kind)]
        page = rows[given["offset"] : given["offset"] + given["limit"]]
        return HistoryReport(since=NOON - DAY, until=NOON, total=len(rows), entries=tuple(page), known_since=None)

    return read_folded_history(replace(context_of(), ask_past=answer), GetHistoryInput(**asked))


def row(number: int, kind: JournalKind, text: str, container: str = "web") -> JournalEntry:
    return JournalEntry(at=NOON - timedelta(seconds=number), kind=kind, container=container, text=text)


IMAGE = row(80_000, JournalKind.IMAGE_CHANGE, "another image", "db")
CRASHES = [row(number, JournalKind.CRASH, "crashed, exit code 1") for number in range(12_500)]


def test_all_rows_are_read_and_folded_before_any_is_cut_off() -> None:
    history = read([*CRASHES[:2500], row(40_000, JournalKind.START, "started")], limit=2)
    assert [entry.text.partition(" times")[0] for entry in history.entries] == ["crashed 2,500", "started"]
    assert (history.rows, history.rows_read, history.lines) == (2501, 2501, 2)


def test_images_are_told_though_more_rows_are_newer_than_are_read() -> None:
    history = read([*CRASHES, IMAGE], changes=True)
    assert (history.rows, history.rows_read) == (12_501, 10_000)
    assert history.setup == (IMAGE,)
    assert [entry.text.partition(" times")[0] for entry in history.entries] == ["crashed 10,000"]


def test_at_most_as_many_are_told_as_were_asked_for_and_images_before_others() -> None:
    history = read([row(0, JournalKind.START, "started"), IMAGE], changes=True, limit=1)
    assert (history.setup, history.entries, history.lines) == ((IMAGE,), (), 2)
