"""What happens to notes: written, approved, refused, removed, expired; each with the entry that the journal gets."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bcon_exporter.errors import InvalidInputError, NotFoundError
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.name_suggestions import nearest_names
from bcon_exporter.model.notes import LONGEST_NOTE, NOTES_AT_MOST, Note, NoteBook, NoteWriter

_Event = Literal["written", "approved", "refused", "removed", "expired"]
NOTE_CODES: frozenset[str] = frozenset(
    f"note_{event}" for event in ("written", "approved", "refused", "removed", "expired")
)
"""Codes of the journal's entries on notes."""
_WRITERS: dict[NoteWriter, str] = {"person": "a person", "tool": "an agent"}


@dataclass(frozen=True, slots=True)
class NoteChange:
    """What a change has made of the notes.

    Attributes:
        notes: Those that it was about.
        entries: For the journal. They have no text of a note.
    """

    book: NoteBook
    notes: tuple[Note, ...] = ()
    entries: tuple[JournalEntry, ...] = ()


def find_current(book: NoteBook, now: datetime) -> tuple[Note, ...]:
    """Return the notes that have not expired, oldest first."""
    return tuple(note for note in book.notes if note.expires_at > now)


def find_approved(book: NoteBook, now: datetime) -> tuple[Note, ...]:
    """Return the notes that are shown, oldest first."""
    return tuple(note for note in find_current(book, now) if note.approved_at is not None)


def drop_expired(book: NoteBook, now: datetime) -> NoteChange:
    """Forget the notes whose time is over."""
    gone = tuple(note for note in book.notes if note.expires_at <= now)
    kept = book.model_copy(update={"notes": find_current(book, now)}) if gone else book
    return NoteChange(kept, gone, tuple(_tell(note, "expired", now) for note in gone))


def add_note(book: NoteBook, note: Note) -> NoteChange:
    """Add a note, which gets an id. One that is there already is not added twice; a person approves it.

    Raises:
        InvalidInputError: There are too many.
    """
    now, writer = note.written_at, note.written_by
    same = next((one for one in book.notes if (one.text, one.about) == (note.text, note.about)), None)
    if same is not None:
        is_decided = writer == "tool" or same.approved_at is not None
        return NoteChange(book, (same,)) if is_decided else approve_note(book, same.id, now)
    check_room(book)
    numbered = note.model_copy(update={"id": f"n{book.next_number}"})
    added = NoteBook(notes=(*book.notes, numbered), next_number=book.next_number + 1)
    return NoteChange(added, (numbered,), (_tell(numbered, "written", now),))


def check_room(book: NoteBook) -> None:
    """Refuse one note more than there may be.

    Raises:
        InvalidInputError: There are too many.
    """
    if len(book.notes) >= NOTES_AT_MOST:
        msg = f"there are {NOTES_AT_MOST} notes already; a person has to remove or refuse some first"
        raise InvalidInputError(msg, {})


def approve_note(book: NoteBook, note_id: str, now: datetime) -> NoteChange:
    """Let a note be shown; one that is shown stays as it is.

    Raises:
        NotFoundError: There is no such note.
    """
    note = _find(book, note_id)
    if note.approved_at is not None:
        return NoteChange(book, (note,))
    approved = note.model_copy(update={"approved_at": now})
    notes = tuple(approved if one.id == note_id else one for one in book.notes)
    return NoteChange(book.model_copy(update={"notes": notes}), (approved,), (_tell(approved, "approved", now),))


def refuse_note(book: NoteBook, note_id: str, now: datetime) -> NoteChange:
    """Forget a note that waits.

    Raises:
        NotFoundError: There is no such note.
        InvalidInputError: It is approved already.
    """
    note = _find(book, note_id)
    if note.approved_at is not None:
        msg = f"note {note_id} is approved; remove it instead"
        raise InvalidInputError(msg, {"note_id": note_id})
    return _forget(book, note, "refused", now)


def remove_note(book: NoteBook, note_id: str, now: datetime) -> NoteChange:
    """Forget a note, whether it waits or is shown.

    Raises:
        NotFoundError: There is no such note.
    """
    return _forget(book, _find(book, note_id), "removed", now)


def hide_in_notes(book: NoteBook, hide: Callable[[str], str]) -> NoteBook:
    """Return the notes with secrets hidden in them; the same object where there are none."""
    whole = "\n".join(note.text for note in book.notes)
    if hide(whole) == whole:
        return book
    hidden = ((note, hide(note.text)[:LONGEST_NOTE]) for note in book.notes)
    notes = tuple(note if text == note.text else note.model_copy(update={"text": text}) for note, text in hidden)
    return book.model_copy(update={"notes": notes})


def join_notes(stored: NoteBook, current: NoteBook) -> NoteBook:
    """Return the notes of a file that could not be read, and those that were written meanwhile, with new numbers."""
    number, added = stored.next_number, []
    for note in current.notes[: max(0, NOTES_AT_MOST - len(stored.notes))]:
        added.append(note.model_copy(update={"id": f"n{number}"}))
        number += 1
    return NoteBook(notes=(*stored.notes, *added), next_number=number)


def _find(book: NoteBook, note_id: str) -> Note:
    for note in book.notes:
        if note.id == note_id:
            return note
    msg = f"there is no note {note_id}"
    raise NotFoundError(msg, {"near_matches": nearest_names(note_id, [note.id for note in book.notes])})


def _forget(book: NoteBook, note: Note, event: _Event, now: datetime) -> NoteChange:
    kept = tuple(one for one in book.notes if one.id != note.id)
    return NoteChange(book.model_copy(update={"notes": kept}), (note,), (_tell(note, event, now),))


def _tell(note: Note, event: _Event, now: datetime) -> JournalEntry:
    writer = _WRITERS[note.written_by]
    about = note.about.in_words()
    sentences: dict[_Event, str] = {
        "written": f"{writer} wrote note {note.id} about {about}",
        "approved": f"a person approved note {note.id} about {about}, which {writer} had written",
        "refused": f"a person refused note {note.id} about {about}, which {writer} had written",
        "removed": f"a person removed note {note.id} about {about}, which {writer} had written",
        "expired": f"note {note.id} about {about} has expired",
    }
    if event == "written" and note.approved_at is None:
        sentences["written"] += "; it waits for a person"
    by = {"written": note.written_by, "expired": "time"}.get(event, "person")
    return JournalEntry(
        at=now,
        kind=JournalKind.NOTE,
        project=note.about.project,
        container=note.about.container,
        code=f"note_{event}",
        text=sentences[event],
        data={"note": note.id, "by": by, "written_by": note.written_by, "expires": note.expires_at.isoformat()},
    )
