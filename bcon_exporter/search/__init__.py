"""Pure search: texts with their terms, the score of a text for a question, and the passage that answers it."""

from bcon_exporter.search.passages import find_passage
from bcon_exporter.search.scoring import Question, Statistics, score_text
from bcon_exporter.search.terms import find_terms
from bcon_exporter.search.texts import (
    SearchText,
    hand_out_rows,
    read_incident,
    read_note,
    read_signature,
    split_document,
    subject_of,
)

__all__ = [
    "Question",
    "SearchText",
    "Statistics",
    "find_passage",
    "find_terms",
    "hand_out_rows",
    "read_incident",
    "read_note",
    "read_signature",
    "score_text",
    "split_document",
    "subject_of",
]
