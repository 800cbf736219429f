"""Notes: what people know of their containers. They stand beside findings, and change none.

An agent's note waits until a person approves it. Only the daemon's own state is changed, and nothing is asked of the
engine.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from bcon_exporter.callers import CALLER
from bcon_exporter.errors import DockerConnectionError
from bcon_exporter.memory import (
    NoteChange,
    add_note,
    approve_note,
    find_approved,
    find_current,
    find_same,
    hide_in_notes,
    refuse_note,
    remove_note,
)
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.incidents import Incident
from bcon_exporter.model.name_suggestions import did_you_mean
from bcon_exporter.model.notes import (
    LONGEST_NOTE,
    Decision,
    NewNoteInput,
    Note,
    NoteAbout,
    NoteBook,
    NoteInput,
    NoteLine,
    NotesReport,
    NoteWriter,
    ShownNote,
    WriteMemoryInput,
    WrittenNote,
)
from bcon_exporter.model.reports import DiagnoseAllReport, DiagnosisReport, DriftReport
from bcon_exporter.model.tool_inputs import Nothing
from bcon_exporter.secrets.masking import safe_text
from bcon_exporter.stages import EXPERIMENTAL
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.tool import Tool

_IS_SHOWN = "it is shown beside the findings that it is about"
_IS_FORGOTTEN = "a person refused it: it is forgotten, do not write it again"
_WAITS = "it waits until a person approves it: bcon-exporter notes approve {id}"
_NOBODY_KEEPS = "notes are kept by the daemon, and none is asked here; is `bcon-exporter serve` running?"
_DRY_RUN = "nothing was kept; with dry_run false it would wait until a person approves it"


# -- what people and agents do ---------------------------------------------------------------------------------------


def write_memory(context: Context, request: WriteMemoryInput) -> WrittenNote:
    """Keep what an agent knows as a note that waits for a person; or only say what would be kept.

    Raises:
        RateLimitedError: One caller writes too many.
        DockerConnectionError: This is a command, and no daemon answers that would keep it.
    """
    note, hint = _make(context, request, "tool")
    if request.dry_run:
        return _to_answer(note, note, f"{_DRY_RUN}{hint}", dry_run=True)
    if context.one_shot:
        return _ask_daemon(context, request)
    kept = _keep(context, note)
    next_step = _WAITS.format(id=kept.id) if kept.approved_at is None else _IS_SHOWN
    return _to_answer(note, kept, f"{next_step}{hint}")


def add_note_of_person(context: Context, request: NewNoteInput) -> WrittenNote:
    """Keep what a person knows; it is shown at once.

    Raises:
        InvalidInputError: There are too many notes.
        RateLimitedError: One caller writes too many.
    """
    note, hint = _make(context, request, "person")
    kept = _keep(context, note)
    return _to_answer(note, kept, f"{_IS_SHOWN}{hint}")


def approve(context: Context, request: NoteInput) -> NoteLine:
    """Let a note be shown. For a person's word alone: their command, their request, their answer to an agent's client.

    Raises:
        NotFoundError: There is no such note.
        DockerConnectionError: This is a command, and no daemon answers.
    """
    if context.one_shot:
        return _have_decided(context, request, "approved")
    now = context.now()
    return _to_line(context.memory.keep_notes(lambda book: approve_note(book, request.note_id, now), now).notes[0])


def refuse(context: Context, request: NoteInput) -> NoteLine:
    """Forget a note that waits; for a person's word alone.

    Raises:
        NotFoundError: There is no such note.
        InvalidInputError: It is approved already.
        DockerConnectionError: This is a command, and no daemon answers.
    """
    if context.one_shot:
        return _have_decided(context, request, "refused")
    now = context.now()
    return _to_line(context.memory.keep_notes(lambda book: refuse_note(book, request.note_id, now), now).notes[0])


def tell_decision(written: WrittenNote, decision: Decision | None) -> WrittenNote:
    """Return what is told of a note about which a person was asked; None where they did not say.

    Only to be called once the decision was carried out.
    """
    if decision is None:
        return written.model_copy(update={"next_step": f"the person did not decide; {written.next_step}"})
    next_step = f"a person approved it; {_IS_SHOWN}" if decision == "approved" else _IS_FORGOTTEN
    return written.model_copy(update={"status": decision, "next_step": next_step})


def remove(context: Context, request: NoteInput) -> NoteLine:
    """Forget a note; for a person's word alone.

    Raises:
        NotFoundError: There is no such note.
    """
    now = context.now()
    return _to_line(context.memory.keep_notes(lambda book: remove_note(book, request.note_id, now), now).notes[0])


def list_notes(context: Context, request: Nothing) -> NotesReport:  # noqa: ARG001 -- tools share a shape
    """Return all notes, those that wait for a person first, then the newest first."""
    now = context.now()
    book = context.memory.memory.notes
    notes = sorted(find_current(book, now), key=lambda note: note.written_at, reverse=True)
    notes.sort(key=lambda note: note.approved_at is not None)
    return NotesReport(timestamp=now, notes=tuple(map(_to_line, notes)), displaced=book.displaced)


def settle_notes(context: Context, hidden_at: int) -> int:
    """Forget the notes that have expired, and hide in the others the secrets that were learned since they were written.

    Args:
        context: Of the daemon.
        hidden_at: Version of what is known of secrets at which this was done last.

    Returns:
        The version of now.
    """
    book, version, now = context.memory.memory.notes, context.secrets.version, context.now()
    if not book.notes:
        return version
    if version != hidden_at or any(note.expires_at <= now for note in book.notes):
        context.memory.keep_notes(lambda kept: NoteChange(hide_in_notes(kept, context.secrets.hide)), now)
    return version


def _make(context: Context, request: NewNoteInput, writer: NoteWriter) -> tuple[Note, str]:
    """Return the note as somebody asked for it, and what to tell of its subject."""
    now = context.now()
    about, hint = _name_subject(context, request.about or NoteAbout())
    return Note(
        id="",
        text=_mask(request.text),
        about=about,
        written_by=writer,
        written_at=now,
        expires_at=now + request.life,
        approved_at=now if writer == "person" else None,
    ), hint


def _keep(context: Context, note: Note) -> Note:
    """Keep a note; the same one again costs its caller nothing."""
    masked = _masked(context, note)

    def add(book: NoteBook) -> NoteChange:
        if find_same(book, masked) is None:
            context.change_rates.count(context.monotonic(), is_agent=note.written_by == "tool")
        return add_note(book, masked, CALLER.get())

    return context.memory.keep_notes(add, note.written_at).notes[0]


def _mask(text: str) -> str:
    return safe_text(" ".join(text.split()), max_chars=LONGEST_NOTE)


def _masked(context: Context, note: Note) -> Note:
    """Return a note with the secrets of all containers hidden in it."""
    return note.model_copy(update={"text": _mask(context.secrets.hide(note.text))})


def _name_subject(context: Context, about: NoteAbout) -> tuple[NoteAbout, str]:
    """Return the subject with a container's name in place of its id, and a word on a name that is not there now."""
    scan = context.scans.diagnosis
    containers = scan.snapshot.containers if scan is not None else ()
    names = {facts.name for facts in containers}
    if about.container is not None and about.container not in names:
        name = _find_name(containers, about.container)
        if name is not None:
            return about.model_copy(update={"container": name}), ""
        if names:
            return about, f"; no container {about.container} is there now{did_you_mean(about.container, names)}"
    projects = {facts.compose.project for facts in containers if facts.compose is not None}
    if about.project is not None and projects and about.project not in projects:
        return about, f"; no project {about.project} is there now{did_you_mean(about.project, projects)}"
    return about, ""


def _find_name(containers: Iterable[ContainerFacts], container_id: str) -> str | None:
    """Return the name of the container with this id, whole or as it is shown."""
    return next((facts.name for facts in containers if container_id in (facts.short_id, facts.id)), None)


def _ask_daemon(context: Context, request: WriteMemoryInput) -> WrittenNote:
    if context.write_note is None:
        raise DockerConnectionError(_NOBODY_KEEPS, {})
    return context.write_note(request)


def _have_decided(context: Context, request: NoteInput, decision: Decision) -> NoteLine:
    if context.decide_note is None:
        raise DockerConnectionError(_NOBODY_KEEPS, {})
    return context.decide_note(request, decision)


def _to_answer(asked: Note, kept: Note, next_step: str, *, dry_run: bool = False) -> WrittenNote:
    return WrittenNote(
        id=kept.id or None,
        dry_run=dry_run,
        status=kept.status,
        text=asked.text,
        about=kept.about,
        expires_at=kept.expires_at,
        next_step=next_step,
    )


def _to_line(note: Note) -> NoteLine:
    return NoteLine(
        id=note.id,
        status=note.status,
        text=note.text,
        about=note.about,
        written_by=note.written_by,
        written_at=note.written_at,
        expires_at=note.expires_at,
        approved_at=note.approved_at,
    )


# -- beside which reports they stand ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Subject:
    """What a report is about, and the codes that it has found: a note fits all of whose names are here."""

    container: str | None = None
    project: str | None = None
    codes: frozenset[str] = frozenset()


def with_notes(context: Context, report: DiagnosisReport) -> DiagnosisReport:
    """Return a container's report with the notes that are about it; the same object where there are none."""
    notes = _choose(_find_approved(context), (_container_of(report),))
    return report.model_copy(update={"notes": notes}) if notes else report


def with_notes_of_host(context: Context, report: DiagnoseAllReport) -> DiagnoseAllReport:
    """Return the host's report with the notes about it and its containers, each beside its container as well."""
    approved = _find_approved(context)
    if not approved:
        return report
    subjects = [_container_of(one) for one in report.reports]
    reports = tuple(
        one.model_copy(update={"notes": notes}) if (notes := _choose(approved, (subject,))) else one
        for one, subject in zip(report.reports, subjects, strict=True)
    )
    shown = {note.id for one in reports for note in one.notes}
    notes = tuple(_to_shown(note) for note, _ in approved if note.about.is_host or note.id in shown)
    return report.model_copy(update={"reports": reports, "notes": notes}) if notes else report


def with_notes_of_drift(context: Context, report: DriftReport) -> DriftReport:
    """Return a project's drift with the notes that are about it; the same object where there are none."""
    approved = _find_approved(context)
    notes = _choose(approved, _differences_of(report)) if approved else ()
    return report.model_copy(update={"notes": notes}) if notes else report


def with_notes_of_incident(context: Context, incident: Incident) -> Incident:
    """Return an incident with the notes that are about its members; never to be stored so."""
    notes = _choose(_find_approved(context), _members_of(incident))
    return incident.model_copy(update={"notes": notes}) if notes else incident


def find_notes_of_project(
    context: Context, project: str, reports: Iterable[DiagnosisReport], drift: DriftReport | None
) -> tuple[ShownNote, ...]:
    """Return the notes that are about a project, its containers as they were diagnosed, or its drift."""
    subjects = [_Subject(project=project), *map(_container_of, reports)]
    return _choose(_find_approved(context), (*subjects, *(_differences_of(drift) if drift is not None else ())))


class PendingNotes(NamedTuple):
    """How many notes of agents wait for a person, and how many gave way to newer ones since some do."""

    waiting: int
    displaced: int


def count_pending(context: Context) -> PendingNotes:
    """Return how many notes wait. What they say is shown on no page: nobody has approved it."""
    book = context.memory.memory.notes
    current = {note.id for note in find_current(book, context.now())}
    return PendingNotes(sum(note.id in current for note in book.pending), book.displaced)


def find_notes_of_host(context: Context) -> tuple[ShownNote, ...]:
    """Return the notes that are about the host as a whole."""
    return tuple(_to_shown(note) for note, _ in _find_approved(context) if note.about.is_host)


def _container_of(report: DiagnosisReport) -> _Subject:
    codes = frozenset(symptom.type.value for symptom in report.symptoms)
    return _Subject(report.container_name, report.project, codes)


def _differences_of(report: DriftReport) -> tuple[_Subject, ...]:
    project, found = report.project_name, (*report.differences, *report.doubts)
    of_each = (_Subject(one.container_name, project, frozenset((one.drift_type.value,))) for one in found)
    return (_Subject(project=project), *of_each)


def _members_of(incident: Incident) -> tuple[_Subject, ...]:
    root = incident.root
    members = (_Subject(one.container, one.project, frozenset(one.symptoms)) for one in incident.members)
    return (_Subject(root.container, root.project, frozenset((root.code,))), *members)


def _find_approved(context: Context) -> tuple[tuple[Note, frozenset[str]], ...]:
    """Return the notes that are shown, each with the codes that it names; the newest first."""
    approved = tuple(reversed(find_approved(context.memory.memory.notes, context.now())))
    codes = (frozenset(code.value for code in (note.about.symptom, note.about.drift) if code) for note in approved)
    return tuple(zip(approved, codes, strict=True))


def _choose(approved: Iterable[tuple[Note, frozenset[str]]], subjects: Collection[_Subject]) -> tuple[ShownNote, ...]:
    """Return the notes that fit one of the subjects; one about the host fits none."""
    return tuple(
        _to_shown(note)
        for note, codes in approved
        if not note.about.is_host and any(_fits(note.about, codes, subject) for subject in subjects)
    )


def _fits(about: NoteAbout, codes: frozenset[str], subject: _Subject) -> bool:
    return (
        about.container in (None, subject.container)
        and about.project in (None, subject.project)
        and codes <= subject.codes
    )


def _to_shown(note: Note) -> ShownNote:
    return ShownNote(id=note.id, text=note.text, about=note.about)


WRITE_MEMORY = Tool(
    "write_memory",
    "Note what is known of a container, project, symptom or drift. It waits for a person, and changes no finding.",
    WriteMemoryInput,
    WrittenNote,
    write_memory,
    works=False,
    effect="own_state",
    stage=EXPERIMENTAL,
)
NOTE_TOOLS = (WRITE_MEMORY,)
LIST_NOTES = Tool("list_notes", "All notes, those that wait first.", Nothing, NotesReport, list_notes, works=False)
ADD_NOTE = Tool("add_note", "Note what a person knows.", NewNoteInput, WrittenNote, add_note_of_person, works=False)
APPROVE_NOTE = Tool("approve_note", "Let a note be shown.", NoteInput, NoteLine, approve, works=False)
REFUSE_NOTE = Tool("refuse_note", "Forget a note that waits.", NoteInput, NoteLine, refuse, works=False)
REMOVE_NOTE = Tool("remove_note", "Forget a note.", NoteInput, NoteLine, remove, works=False)
"""What a person decides: called over HTTP, by commands, and by the client of an agent that has asked its person. No
tool of the registry does it."""
