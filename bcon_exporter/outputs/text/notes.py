"""Notes as blocks: a list of them, and those beside a finding."""

from collections.abc import Iterator, Sequence

from bcon_exporter.model.notes import NoteLine, NotesReport, ShownNote, WrittenNote
from bcon_exporter.model.quantities import show_count, show_time
from bcon_exporter.outputs.text.blocks import (
    Block,
    Field,
    Fields,
    Item,
    Line,
    Span,
    Style,
    Table,
    dim,
    field,
    line,
    name,
)

_COLUMNS = ("id", "state", "about", "by", "until", "text")
_WRITERS = {"person": "a person", "tool": "an agent"}


def list_blocks(report: NotesReport) -> list[Block]:
    """Return all notes, and how to let those be shown that wait."""
    if not report.notes:
        return [line(dim("There are no notes."))]
    blocks: list[Block] = [Table(_COLUMNS, tuple(map(_row, report.notes)), (), (_COLUMNS,))]
    waiting = sum(note.status == "pending" for note in report.notes)
    if waiting:
        words = f"{show_count(waiting, 'note')} waiting for you: bcon-exporter notes approve ID, or refuse ID."
        blocks.append(line(Span(words, Style.WARNING)))
    if report.displaced:
        gone = show_count(report.displaced, "older note")
        blocks.append(line(dim(f"{gone} of agents gave way to newer ones before a person decided.")))
    return blocks


def _row(note: NoteLine) -> tuple[Line, ...]:
    state = Span(note.status, Style.WARNING if note.status == "pending" else Style.GOOD)
    about, by = note.about.in_words(), _WRITERS[note.written_by]
    return (
        line(note.id),
        line(state),
        line(name(about)),
        line(by),
        line(dim(show_time(note.expires_at))),
        line(note.text),
    )


def written_blocks(note: WrittenNote) -> list[Block]:
    """Return what became of a note."""
    return [
        Fields(
            (
                field("note", name(note.id or "not kept")),
                field("about", note.about.in_words()),
                field("until", show_time(note.expires_at)),
                field("text", note.text),
                field("next", dim(note.next_step)),
            )
        )
    ]


def note_fields(notes: Sequence[ShownNote]) -> Iterator[Field]:
    """Yield the notes beside a finding, as one field."""
    if notes:
        yield Field(line(dim("note")), tuple(Item(line(note.text, notes=(dim(note.id),))) for note in notes))
