"""Notes: what people know of their containers. They stand beside findings, and change none."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from bcon_exporter.model.base import Frozen, Untrusted, UtcDatetime
from bcon_exporter.model.durations import parse_duration
from bcon_exporter.model.findings import DriftType, SymptomType
from bcon_exporter.model.text_patterns import (
    CONTAINER_PATTERN,
    NOTE_ID_PATTERN,
    PROJECT_PATTERN,
    WHOLE_DURATION_PATTERN,
)
from bcon_exporter.model.tool_inputs import ContainerRef, ProjectName, Switch

NOTES_AT_MOST = 500
"""Of people: what they wrote, and what they approved."""
PENDING_AT_MOST = 100
PENDING_OF_ONE = 20
"""Of agents: notes that wait for a person, in all and of one caller. Beyond, the oldest pending one gives way."""
LONGEST_NOTE = 1000
LONGEST_LIFE = timedelta(days=365)
_USUAL_LIFE = "90d"

NoteWriter = Literal["person", "tool"]
"""Who wrote a note: a person by a command or over HTTP, or an agent by a tool."""
NoteStatus = Literal["pending", "approved"]
"""A pending note waits for a person, and is shown nowhere; a refused one is forgotten, and so is one that expired."""
Decision = Literal["approved", "refused"]
"""What a person says of a note that waits."""


class NoteAbout(Frozen):
    """What a note is about: all that is named must fit. Where nothing is named, it is about the host."""

    container: ContainerRef | None = Field(None, description="Name of a container")
    project: ProjectName | None = Field(None, description="Compose project")
    symptom: SymptomType | None = Field(None, description="Code of a symptom")
    drift: DriftType | None = Field(None, description="Type of a difference")

    @property
    def is_host(self) -> bool:
        """Whether nothing is named."""
        return self == NoteAbout()

    def in_words(self) -> str:
        """Return it as part of a sentence."""
        named = [self.container, self.project, self.symptom, self.drift]
        return ", ".join(str(one) for one in named if one is not None) or "the host"


class Note(Frozen):
    """What a person knows, for example "exits with 3 every Sunday, harmless".

    Attributes:
        id: `n` and a number.
        text: Masked, one line of at most 1,000 characters.
        approved_at: When a person approved it; None while it is pending.
    """

    id: str
    text: Untrusted
    about: NoteAbout = NoteAbout()
    written_by: NoteWriter
    written_at: UtcDatetime
    expires_at: UtcDatetime
    approved_at: UtcDatetime | None = None

    @property
    def status(self) -> NoteStatus:
        """Whether a person has approved it."""
        return "pending" if self.approved_at is None else "approved"


class NoteBook(Frozen):
    """All notes, oldest first, and the number of the next.

    Attributes:
        callers: Who wrote the pending ones, by id: a user or an address. Kept apart, since 0.2.0 reads the rest.
        displaced: So many gave way to newer ones of agents since none was pending.
    """

    notes: tuple[Note, ...] = ()
    next_number: int = 1
    callers: dict[str, str] = Field({}, exclude=True)
    displaced: int = Field(0, exclude=True)

    @property
    def pending(self) -> tuple[Note, ...]:
        """The notes that wait for a person, oldest first."""
        return tuple(note for note in self.notes if note.approved_at is None)


class ShownNote(Frozen):
    """An approved note beside a finding, or beside the report on the host. It changes none."""

    id: str
    text: Untrusted
    about: NoteAbout = NoteAbout()


def is_empty(notes: tuple[ShownNote, ...]) -> bool:
    """Return whether a report has no notes: it has no such field then."""
    return not notes


ShownNotes = Annotated[
    tuple[ShownNote, ...], Field(exclude_if=is_empty, description="What people know of it; left out when empty")
]


class NoteLine(Frozen):
    """A note of a list; see `Note`."""

    id: str
    status: NoteStatus
    text: Untrusted
    about: NoteAbout
    written_by: NoteWriter
    written_at: UtcDatetime
    expires_at: UtcDatetime
    approved_at: UtcDatetime | None = None


class NotesReport(Frozen):
    """All notes, those that wait for a person first.

    Attributes:
        displaced: So many notes of agents gave way to newer ones before a person decided.
    """

    timestamp: UtcDatetime
    notes: tuple[NoteLine, ...]
    displaced: int = 0


class WrittenNote(Frozen):
    """What became of a note that somebody wrote.

    Attributes:
        id: None in a dry run.
        dry_run: Nothing was stored: this is what would be.
        text: As it was given, masked by the rules. What is kept has the secrets of containers masked as well, which
            is not told here: who guesses one must not learn that it is one.
        status: Refused where the person was asked at once and wanted it forgotten.
        next_step: What has to happen until it is shown.
    """

    id: str | None
    dry_run: bool
    status: NoteStatus | Literal["refused"]
    text: Untrusted
    about: NoteAbout
    expires_at: UtcDatetime
    next_step: str


def _read_life(raw: str) -> str:
    length = parse_duration(raw)
    if not timedelta(minutes=1) <= length <= LONGEST_LIFE:
        msg = "must be between 1m and 365d"
        raise ValueError(msg)
    return raw


_ABOUT_SCHEMA = {
    "anyOf": [
        {
            "type": "object",
            "properties": {
                "container": {"type": "string", "pattern": CONTAINER_PATTERN},
                "project": {"type": "string", "pattern": PROJECT_PATTERN},
                "symptom": {"type": "string", "enum": [symptom.value for symptom in SymptomType]},
                "drift": {"type": "string", "enum": [drift.value for drift in DriftType]},
            },
            "additionalProperties": False,
        },
        {"type": "null"},
    ]
}
"""Written out where it stands: what describes a tool's input can refer to nothing."""


class NewNoteInput(Frozen):
    """What somebody notes."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=LONGEST_NOTE)] = Field(
        description="A sentence or two"
    )
    about: Annotated[NoteAbout | None, WithJsonSchema(_ABOUT_SCHEMA)] = Field(
        None, description="All that is named must fit; else the host"
    )
    expires: Annotated[
        str, StringConstraints(max_length=64, pattern=WHOLE_DURATION_PATTERN), AfterValidator(_read_life)
    ] = Field(_USUAL_LIFE, description="How long; 365d at most")

    @property
    def life(self) -> timedelta:
        """For how long it holds."""
        return parse_duration(self.expires)


class WriteMemoryInput(NewNoteInput):
    """Input of write_memory."""

    dry_run: Switch = Field(True, description="Only say what would be kept")


class NoteInput(Frozen):
    """Which note a person has decided on."""

    note_id: Annotated[str, StringConstraints(pattern=NOTE_ID_PATTERN)] = Field(description="As `notes list` shows it")
