"""What happens to notes: written, approved, refused, removed, expired; each with the entry that the journal gets."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from bcon_exporter.errors import InvalidInputError, NotFoundError
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.name_suggestions import nearest_names
from bcon_exporter.model.notes import (
    LONGEST_NOTE,
    NOTES_AT_MOST,
    PENDING_AT_MOST,
    PENDING_OF_ONE,
    Note,
    NoteBook,
    NoteWriter,
)

_Event = Literal["written", "approved", "refused", "removed", "expired", "displaced"]
NOTE_CODES: frozenset[str] = frozenset(
    f"note_{event}" for event in ("written", "approved", "refused", "removed", "expired", "displaced")
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
    kept = _with_notes(book, find_current(book, now)) if gone else book
    return NoteChange(kept, gone, tuple(_tell(note, "expired", now) for note in gone))


def add_note(book: NoteBook, note: Note, caller: str = "") -> NoteChange:
    """Add a note, which gets an id. One that is there already is not added twice; a person approves it.

    Args:
        book: Before it.
        note: One of an agent waits; where there are too many of these, the oldest of the agent that has most gives way.
        caller: Whose note it is, as limits count it.

    Raises:
        InvalidInputError: There are too many of people.
    """
    now, writer = note.written_at, note.written_by
    same = find_same(book, note)
    if same is not None:
        is_decided = writer == "tool" or same.approved_at is not None
        return NoteChange(book, (same,)) if is_decided else approve_note(book, same.id, now)
    if note.approved_at is not None:
        check_room(book)
        made = NoteChange(book)
    else:
        made = _make_way(book, caller, now)
    book = made.book
    numbered = note.model_copy(update={"id": f"n{book.next_number}"})
    callers = {**book.callers, numbered.id: caller} if note.approved_at is None else book.callers
    update = {"notes": (*book.notes, numbered), "next_number": book.next_number + 1, "callers": callers}
    return NoteChange(book.model_copy(update=update), (numbered,), (*made.entries, _tell(numbered, "written", now)))


def find_same(book: NoteBook, note: Note) -> Note | None:
    """Return the note that says the same about the same."""
    return next((known for known in book.notes if (known.text, known.about) == (note.text, note.about)), None)


def _make_way(book: NoteBook, caller: str, now: datetime) -> NoteChange:
    """Return the notes with room for one more of an agent: of its own, or of whose most are pending."""
    pending = Counter(book.callers.get(note.id, "") for note in book.pending)
    if pending[caller] >= PENDING_OF_ONE:
        whose = caller
    elif pending.total() >= PENDING_AT_MOST:
        whose = max(pending, key=lambda name: pending[name])
    else:
        return NoteChange(book)
    oldest = next(note for note in book.pending if book.callers.get(note.id, "") == whose)
    made = _forget(book, oldest, "displaced", now)
    return replace(made, book=made.book.model_copy(update={"displaced": book.displaced + 1}))


def check_room(book: NoteBook) -> None:
    """Refuse one note of people more than there may be; those of agents that wait take no room of theirs.

    Raises:
        InvalidInputError: There are too many.
    """
    if len(book.notes) - len(book.pending) >= NOTES_AT_MOST:
        msg = f"there are {NOTES_AT_MOST} notes already; a person has to remove some first"
        raise InvalidInputError(msg, {})


def approve_note(book: NoteBook, note_id: str, now: datetime) -> NoteChange:
    """Let a note be shown; one that is shown stays as it is.

    Raises:
        NotFoundError: There is no such note.
        InvalidInputError: There are too many that people wrote or approved.
    """
    note = _find(book, note_id)
    if note.approved_at is not None:
        return NoteChange(book, (note,))
    check_room(book)
    approved = note.model_copy(update={"approved_at": now})
    notes = tuple(approved if one.id == note_id else one for one in book.notes)
    return NoteChange(_with_notes(book, notes), (approved,), (_tell(approved, "approved", now),))


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
    joined = stored
    room = NOTES_AT_MOST - (len(stored.notes) - len(stored.pending))
    for note in current.notes:
        if note.approved_at is None:
            joined = _make_way(joined, current.callers.get(note.id, ""), note.written_at).book
        elif room <= 0:
            continue
        room -= note.approved_at is not None
        numbered = note.model_copy(update={"id": f"n{joined.next_number}"})
        callers = {**joined.callers}
        if note.approved_at is None:
            callers[numbered.id] = current.callers.get(note.id, "")
        update = {"notes": (*joined.notes, numbered), "next_number": joined.next_number + 1, "callers": callers}
        joined = joined.model_copy(update=update)
    return joined


def _find(book: NoteBook, note_id: str) -> Note:
    for note in book.notes:
        if note.id == note_id:
            return note
    msg = f"there is no note {note_id}"
    raise NotFoundError(msg, {"near_matches": nearest_names(note_id, [note.id for note in book.notes])})


def _forget(book: NoteBook, note: Note, event: _Event, now: datetime) -> NoteChange:
    kept = tuple(one for one in book.notes if one.id != note.id)
    return NoteChange(_with_notes(book, kept), (note,), (_tell(note, event, now),))


def _with_notes(book: NoteBook, notes: tuple[Note, ...]) -> NoteBook:
    """Return the book with other notes; who wrote one is known as long as it waits."""
    pending = {note.id for note in notes if note.approved_at is None}
    callers = {note_id: caller for note_id, caller in book.callers.items() if note_id in pending}
    return book.model_copy(update={"notes": notes, "callers": callers, "displaced": book.displaced if pending else 0})


def _tell(note: Note, event: _Event, now: datetime) -> JournalEntry:
    writer = _WRITERS[note.written_by]
    about = note.about.in_words()
    sentences: dict[_Event, str] = {
        "written": f"{writer} wrote note {note.id} about {about}",
        "approved": f"a person approved note {note.id} about {about}, which {writer} had written",
        "refused": f"a person refused note {note.id} about {about}, which {writer} had written",
        "removed": f"a person removed note {note.id} about {about}, which {writer} had written",
        "expired": f"note {note.id} about {about} has expired",
        "displaced": f"note {note.id} about {about}, which {writer} had written, gave way to a newer one: no person had"
        " decided on it",
    }
    if event == "written" and note.approved_at is None:
        sentences["written"] += "; it waits for a person"
    by = {"written": note.written_by, "expired": "time", "displaced": "tool"}.get(event, "person")
    return JournalEntry(
        at=now,
        kind=JournalKind.NOTE,
        project=note.about.project,
        container=note.about.container,
        code=f"note_{event}",
        text=sentences[event],
        data={"note": note.id, "by": by, "written_by": note.written_by, "expires": note.expires_at.isoformat()},
    )
