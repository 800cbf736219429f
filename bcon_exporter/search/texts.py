"""What can be searched, as texts: parts of documents, signatures, incidents, notes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from bcon_exporter.model.incidents import Incident
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.notes import Note
from bcon_exporter.model.search import Collection
from bcon_exporter.model.signatures import Signature
from bcon_exporter.search.terms import find_terms

_SYMPTOMS_PAGE = "docs/symptoms"
_PAGES_OF_ROWS = ("docs/alerts", "docs/symptoms")
_SYMPTOMS = "symptoms/"
_RUNBOOK_OF_CONTAINERS = "BconContainer"
_LONG_PAGE = 5000
_LONG_SECTION = 3000
"""A page of more characters is taken by its sections, and a longer section is cut between two of its paragraphs."""


@dataclass(frozen=True, slots=True)
class SearchText:
    """One text.

    Attributes:
        id: Unique within its collection.
        document: Of several texts of one document only the best is found.
        title: What it is about; its words count more.
        body: Our words.
        untrusted: Words of containers and people.
        at: When it happened or was written; None for documents.
        hidden: More words by which it is found, which nobody reads.
    """

    id: str
    collection: Collection
    document: str
    title: str
    body: str
    untrusted: tuple[str, ...] = ()
    at: datetime | None = None
    hidden: str = ""


def split_document(name: str, markdown: str) -> Iterator[SearchText]:
    """Yield a runbook as one text, and each section of a page of the documentation as another.

    Args:
        name: As `read_documents` names it.
        markdown: The document.
    """
    sections = list(_find_sections(markdown))
    if name.startswith("runbooks/"):
        body = "\n\n".join(text for _, text in sections)
        yield SearchText(name, "runbooks", name, name.removeprefix("runbooks/"), body)
        return
    if len(markdown) <= _LONG_PAGE:
        headings = dict.fromkeys(heading for path, _ in sections for heading in path)
        body = "\n\n".join(text for _, text in sections)
        yield SearchText(name, "docs", name, " ".join([name.removeprefix("docs/"), *headings]), body)
        return
    for path, text in sections:
        heading = path[-1]
        anchor = "-".join("".join(char if char.isalnum() or char in "-_ " else "" for char in heading.lower()).split())
        for number, part in enumerate(_cut(text)):
            part_id = f"{name}#{anchor}" if number == 0 else f"{name}#{anchor}-{number + 1}"
            if name == _SYMPTOMS_PAGE and path[1:2] == ["The symptoms"] and len(path) > 2:  # noqa: PLR2004
                part_id = f"symptoms/{heading}"
            document = part_id if part_id.startswith("symptoms/") else name
            page = name.removeprefix("docs/")
            title = " ".join(dict.fromkeys([page, *path])) if document == name else f"container {heading}"
            yield SearchText(part_id, "docs", document, title, part)


def hand_out_rows(texts: Iterable[SearchText]) -> Iterator[SearchText]:
    """Yield texts with each row of a table that names one runbook, symptom or signature in that one's text.

    What an overview says of it answers a question about it; the overview itself answers none.
    """
    known = {text.id: text for text in texts}
    owners = {name.rpartition("/")[2]: name for name in known if not name.startswith("docs/")}
    rows: dict[str, list[str]] = {}
    for name, text in known.items():
        if text.document not in _PAGES_OF_ROWS:
            continue
        kept = []
        for line in text.body.splitlines():
            owner = _find_owner(line, owners) if line.startswith("|") else None
            if owner is not None:
                rows.setdefault(owner, []).append(line)
            else:
                kept.append(line)
        known[name] = replace(text, body="\n".join(kept))
    for name, text in known.items():
        if any(line and not line.startswith("|") for line in text.body.splitlines()):
            yield replace(text, body="\n".join([text.body, *rows.get(name, ())]))


def subject_of(document: str) -> str:
    """Return what a document is about, which a symptom and the runbook of its alert share: `oom_killed`."""
    name = document.rpartition("/")[2].removeprefix(_RUNBOOK_OF_CONTAINERS).removeprefix("Bcon")
    return "_".join(find_terms(name)) if document.startswith(("runbooks/", _SYMPTOMS)) else document


def _find_owner(row: str, owners: Mapping[str, str]) -> str | None:
    """Return the one text that a row is about; None where it names none, or several."""
    words = "".join(char if char.isalnum() or char == "_" else " " for char in row).split()
    named = {owners[word] for word in words if word in owners}
    return named.pop() if len(named) == 1 else None


def _find_sections(markdown: str) -> Iterator[tuple[list[str], str]]:
    """Yield each section's headings, from the page's down to its own, and its text; sections without text are none."""
    path: list[str] = []
    lines: list[str] = []
    is_code = False
    for line in [*markdown.splitlines(), "# "]:
        is_code ^= line.lstrip().startswith("```")
        level = len(line) - len(line.lstrip("#"))
        if is_code or not 0 < level < len(line) or line[level] != " ":
            lines.append(line)
            continue
        text = "\n".join(lines).strip()
        if text and path:
            yield list(path), text
        path, lines = [*path[: level - 1], line[level:].strip().replace("`", "")], []


def _cut(text: str) -> Iterator[str]:
    """Yield a text in parts of bearable length, cut between paragraphs or rows of a table."""
    part: list[str] = []
    size = 0
    for line in text.splitlines():
        if size > _LONG_SECTION and (not line or line.startswith(("|", "-"))):
            yield "\n".join(part)
            part, size = [], 0
        part.append(line)
        size += len(line) + 1
    if part:
        yield "\n".join(part)


def read_signature(signature: Signature) -> SearchText:
    """Return a signature as a text: what it means, why it happens, what to do, and lines that show it."""
    causes = [cause.text for cause in signature.causes]
    steps = [f"{one.action} {one.rationale}" for one in signature.suggestions]
    lines = [line for pattern in signature.patterns for line in pattern.matches]
    name = f"errors/{signature.id}"
    title = f"{signature.id}: {signature.explanation}"
    hidden = " ".join(pattern.regex for pattern in signature.patterns)
    return SearchText(name, "errors", name, title, "\n".join([*causes, *steps, *lines]), hidden=hidden)


def read_incident(incident: Incident) -> SearchText:
    """Return an incident as a text."""
    members = [f"{one.name}: {', '.join(one.symptoms)}" for one in incident.members]
    causes = [cause.description for cause in incident.causes]
    steps = [one.action for one in incident.suggestions]
    # The keys of variables and labels are free text, and what has changed is named by them.
    keys = [change.text for change in incident.changes if change.kind is JournalKind.CONFIG_CHANGE]
    changes = [change.text for change in incident.changes if change.kind is not JournalKind.CONFIG_CHANGE]
    ended = [f"Ended: {incident.ended_by.value}."] if incident.ended_by is not None else []
    body = "\n".join([*causes, *members, *changes, *steps, *ended])
    name = f"incidents/{incident.id}"
    title = f"{incident.title} ({incident.root.code})"
    return SearchText(name, "incidents", name, title, body, (*incident.evidence, *keys), incident.started_at)


def read_note(note: Note) -> SearchText:
    """Return a note as a text: what it says is a person's words."""
    writer = "A person wrote it" if note.written_by == "person" else "An agent wrote it, and a person approved it"
    body = f"A note about {note.about.in_words()}, until {note.expires_at:%Y-%m-%d}. {writer}."
    about = note.about.in_words()
    return SearchText(f"notes/{note.id}", "notes", f"notes/{note.id}", about, body, (note.text,), note.written_at)
