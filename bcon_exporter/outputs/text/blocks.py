"""The blocks that a report is made of. `terminal` and `markdown` print them; nothing else knows how they look.

Text of a span may come from anywhere: both printers remove what acts on a terminal, and escape what would be markup.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from bcon_exporter.model.findings import Severity
from bcon_exporter.secrets.cleaning import clean_name


class Style(StrEnum):
    """What a span stands for.

    COMMAND can be typed into a shell. CODE and TAG are names that programs use, such as a symptom's; a TAG is dim.
    CAUSE says why, ROOT where to begin. DOUBT marks what is unknown; GOOD, WARNING, BAD and WORST are degrees.
    """

    PLAIN = "plain"
    STRONG = "strong"
    DIM = "dim"
    COMMAND = "command"
    CODE = "code"
    TAG = "tag"
    CAUSE = "cause"
    ROOT = "root"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"
    WORST = "worst"
    DOUBT = "doubt"


SEVERITY_STYLES = {
    Severity.CRITICAL: Style.WORST,
    Severity.ERROR: Style.BAD,
    Severity.WARNING: Style.WARNING,
    Severity.INFO: Style.DIM,
}


@dataclass(frozen=True, slots=True)
class Span:
    """Text of one style."""

    text: str
    style: Style = Style.PLAIN


@dataclass(frozen=True, slots=True)
class Badge:
    """A word that says how bad it is; it stands out. `sign`: what a terminal shows in place of the word."""

    word: str
    style: Style
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence. The badge stands before it, each note by itself behind it."""

    spans: tuple[Span, ...] = ()
    badge: Badge | None = None
    notes: tuple[Span | Badge, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of what follows. `level`: 1 for the whole report, 2 for a part of it, 3 for a part of that."""

    line: Line
    level: int = 1


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what belongs to it."""

    heading: Heading
    body: "tuple[Block, ...]"


@dataclass(frozen=True, slots=True)
class Item:
    """A point of a list, with what is said about it."""

    line: Line
    details: "tuple[Block, ...]" = ()


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """What one label stands for: one point, or several."""

    label: Line
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Fields:
    """Labelled values. `label_width`: at least so many characters, so that several of these stand aligned."""

    fields: tuple[Field, ...]
    label_width: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells.

    Attributes:
        columns: Names of all columns; each row has a cell for each, the first its own name.
        numbers: Names of the columns that hold numbers.
        choices: Columns for a narrow terminal, the fullest choice first; the last is shown however narrow it is.
        whole: Names of columns that are never broken; where some are named, all others wrap, and the first is no name.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    numbers: tuple[str, ...] = ()
    choices: tuple[tuple[str, ...], ...] = ()
    whole: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quote:
    """Lines of a container, as it wrote them. `hit`: the line that was looked for; `bar`: set off on a terminal."""

    lines: tuple[Line, ...]
    bar: bool = True
    hit: int | None = None


@dataclass(frozen=True, slots=True)
class EmptyLine:
    """An empty line on a terminal."""


Block = Line | Heading | Section | Items | Fields | Table | Quote | EmptyLine
EMPTY_LINE = EmptyLine()


def plain(text: str) -> Span:
    """Return text as it is."""
    return Span(text)


def strong(text: str) -> Span:
    """Return text that stands out."""
    return Span(text, Style.STRONG)


def dim(text: str) -> Span:
    """Return text that is read last."""
    return Span(text, Style.DIM)


def name(raw: str, style: Style = Style.PLAIN) -> Span:
    """Return a name on one line."""
    return Span(clean_name(raw), style)


def line(*spans: Span | str, badge: Badge | None = None, notes: Iterable[Span | Badge] = ()) -> Line:
    """Return a line of spans and plain text; empty ones are left out."""
    texts = (span if isinstance(span, Span) else Span(span) for span in spans)
    shown = (note for note in notes if isinstance(note, Badge) or note.text)
    return Line(tuple(span for span in texts if span.text), badge, tuple(shown))


def comma_list(names: Iterable[str]) -> tuple[Span, ...]:
    """Return names with a comma between each two."""
    spans = [span for raw in names for span in (plain(", "), name(raw))]
    return tuple(spans[1:])


def field(label: str, *values: Span | str) -> Field:
    """Return a label with one value."""
    return Field(line(dim(label)), (Item(line(*values)),))
