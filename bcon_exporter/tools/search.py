"""Tools that search what is known: runbooks, signatures, documents, incidents, notes."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from bcon_exporter.diagnosis import recognise
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.memory import find_approved
from bcon_exporter.model.search import (
    AnyCollection,
    Passage,
    PassageMetadata,
    QueryMemoryInput,
    RagSearchInput,
    RagSearchReport,
    SearchHit,
    SearchReport,
)
from bcon_exporter.search import (
    Question,
    SearchText,
    find_passage,
    hand_out_rows,
    read_incident,
    read_note,
    read_signature,
    split_document,
)
from bcon_exporter.secrets.masking import safe_text
from bcon_exporter.shipped_documents import read_documents
from bcon_exporter.stages import EXPERIMENTAL
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.incidents import find_open
from bcon_exporter.tools.tool import Tool

PASSAGE_BYTES = 600
_OWN_WORDS_BYTES = 300
_RECOGNISED = 0.75
_RECOGNISED_SHARE = 0.25
_STEP = 0.02
"""A signature that the question shows, as a line of a log, has at least .75, and more the better its words fit; of
several the first says why, so each further one has a little less."""


def query_memory(context: Context, request: QueryMemoryInput) -> SearchReport:
    """Return what answers a question, the best first.

    Raises:
        InvalidInputError: The question has no word.
    """
    question, found = _find(context, request.query, request.collection, request.min_score)
    chosen = [(one.load(), one.score) for one in found[: request.top_k]]
    hits = tuple(_to_hit(text, score, question) for text, score in chosen if text is not None)
    return SearchReport(results=hits, query=safe_text(request.query), total=len(found))


def rag_search(context: Context, request: RagSearchInput) -> RagSearchReport:
    """Return the same as `query_memory`, in the shape that agents of another tool read.

    Raises:
        InvalidInputError: The question has no word.
    """
    report = query_memory(
        context,
        QueryMemoryInput(
            query=request.query, collection=request.collection, top_k=request.topK, min_score=request.minScore
        ),
    )
    passages = tuple(
        Passage(
            id=hit.id,
            content=hit.content,
            score=hit.score,
            metadata=PassageMetadata(collection=hit.collection, title=hit.title, untrusted=hit.untrusted, at=hit.at),
        )
        for hit in report.results
    )
    return RagSearchReport(results=passages, query=report.query, totalFound=report.total)


class _Found(NamedTuple):
    """A text that fits.

    Attributes:
        at: When it was; of texts with the same score the newest comes first.
        load: Returns the text; None when it is gone meanwhile.
    """

    score: float
    at: str
    load: Callable[[], SearchText | None]


def _find(context: Context, query: str, collection: AnyCollection, min_score: float) -> tuple[Question, list[_Found]]:
    """Return the question and what fits, the best first, of equals the newest."""
    if not any(char.isalnum() for char in query):
        msg = "query: must have a word"
        raise InvalidInputError(msg, {"errors": [{"field": "query", "message": "must have a word"}]})
    index = context.search_index
    index.prepare(context.catalogue, lambda: _load_shipped(context))
    question = index.read_question(query)
    found: list[_Found] = []
    if collection in ("all", "runbooks", "errors", "docs"):
        shipped = _find_shipped(context, query, question)
        found += [
            _Found(score, "", partial(_same, text)) for text, score in shipped if collection in ("all", text.collection)
        ]
    if collection in ("all", "incidents"):
        found += _find_incidents(context, question)
    if collection in ("all", "notes"):
        found += _find_notes(context, question)
    fits = [one for one in found if one.score >= min_score and one.score > 0]
    return question, sorted(fits, key=lambda one: (round(one.score, 3), one.at), reverse=True)


def _same(text: SearchText) -> SearchText:
    return text


def _load_shipped(context: Context) -> Iterator[SearchText]:
    documents = read_documents().items()
    texts = [text for name, markdown in documents for text in split_document(name, markdown)]
    yield from hand_out_rows([*texts, *map(read_signature, context.catalogue.signatures)])


def _find_shipped(context: Context, query: str, question: Question) -> list[tuple[SearchText, float]]:
    """Return documents and signatures; a signature that the question itself shows, as a line of a log, comes first."""
    index = context.search_index
    scores = {text.id: (text, score) for text, score in index.find_shipped(question)}
    for number, signature_id in enumerate(recognise(query, context.catalogue)):
        text = index.shipped(f"errors/{signature_id}")
        if text is not None:
            score = scores.get(text.id, (text, 0.0))[1]
            scores[text.id] = (text, _RECOGNISED - number * _STEP + _RECOGNISED_SHARE * score)
    return list(scores.values())


def _find_incidents(context: Context, question: Question) -> Iterator[_Found]:
    """Yield incidents: those that go on, and those that are over."""
    index, memory = context.search_index, context.memory

    def load(incident_id: str) -> SearchText | None:
        incident = memory.find_ended_incident(incident_id)
        return read_incident(incident) if incident is not None else None

    index.take_incidents(memory.ended_incidents_mark(), memory.ended_incident_ids, load)
    for incident in find_open(context):
        text = read_incident(incident)
        yield _Found(index.score(question, text), incident.started_at.isoformat(), partial(_same, text))
    for incident_id, at, score in index.find_incidents(question):
        yield _Found(score, at, partial(load, incident_id))


def _find_notes(context: Context, question: Question) -> Iterator[_Found]:
    """Yield the notes that a person has approved."""
    index = context.search_index
    notes = {note.id: note for note in find_approved(context.memory.memory.notes, context.now())}
    index.take_notes(tuple(notes.values()), lambda: map(read_note, notes.values()))
    for note_id, at, score in index.find_notes(question):
        if note_id in notes:
            yield _Found(score, at, partial(_same, read_note(notes[note_id])))


def _to_hit(text: SearchText, score: float, question: Question) -> SearchHit:
    weights = question.weights
    untrusted = "\n".join(text.untrusted)
    content = find_passage(text.body, weights, _OWN_WORDS_BYTES if untrusted else PASSAGE_BYTES)
    passage = find_passage(untrusted, weights, PASSAGE_BYTES - len(content.encode())) if untrusted else ""
    return SearchHit(
        id=text.id,
        collection=text.collection,
        score=round(score, 3),
        title=text.title,
        content=content,
        untrusted=(passage,) if passage else (),
        at=text.at,
    )


SEARCH_TOOLS = (
    Tool(
        "query_memory",
        "Search runbooks, error signatures, documents, incidents and notes for a question or log line.",
        QueryMemoryInput,
        SearchReport,
        query_memory,
        works=False,
        toolset="core",
        rows="results",
        stage=EXPERIMENTAL,
    ),
    Tool(
        "rag_search",
        "The same as query_memory, with the names that other agents know.",
        RagSearchInput,
        RagSearchReport,
        rag_search,
        works=False,
        rows="results",
        stage=EXPERIMENTAL,
    ),
)
