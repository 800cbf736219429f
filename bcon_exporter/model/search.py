"""Search over runbooks, signatures, documents, incidents and notes: what is asked, and what is found."""

from typing import Literal

from pydantic import Field

from bcon_exporter.model.base import Frozen, Untrusted, UtcDatetime
from bcon_exporter.model.tool_inputs import Whole

Collection = Literal["runbooks", "errors", "docs", "incidents", "notes"]
"""What a text is from; `errors` are the signatures of the catalogue."""

AnyCollection = Literal["all", "runbooks", "errors", "docs", "incidents", "notes"]
LONGEST_QUERY = 512


class QueryMemoryInput(Frozen):
    """Input of query_memory."""

    query: str = Field(min_length=1, max_length=LONGEST_QUERY, description="Words, a question, or a log line")
    collection: AnyCollection = "all"
    top_k: Whole = Field(5, ge=1, le=20)
    min_score: float = Field(0.5, ge=0, le=1, allow_inf_nan=False)


class RagSearchInput(Frozen):
    """Input of rag_search: query_memory under the names that another tool has for it."""

    query: str = Field(min_length=1, max_length=LONGEST_QUERY, description="Words, a question, or a log line")
    collection: AnyCollection = "all"
    topK: Whole = Field(5, ge=1, le=20)  # noqa: N815 -- as its callers write it
    minScore: float = Field(  # noqa: N815
        0.5, ge=0, le=1, allow_inf_nan=False
    )


class SearchHit(Frozen):
    """One text that was found.

    Attributes:
        id: `runbooks/NAME`, `errors/SIGNATURE`, `docs/PAGE#SECTION`, `symptoms/CODE`, `incidents/ID`, `notes/ID`.
        score: 0 to 1; comparable between queries.
        content: The passage that fits best, in our words.
        untrusted: What containers have printed and people have written; content and this are 600 bytes at most.
        at: When it happened or was written; None for documents.
    """

    id: str
    collection: Collection
    score: float
    title: str
    content: str
    untrusted: tuple[Untrusted, ...] = ()
    at: UtcDatetime | None = None


class SearchReport(Frozen):
    """What was found, the best first.

    Attributes:
        total: How many fit, also beyond `top_k`.
    """

    results: tuple[SearchHit, ...]
    query: Untrusted
    total: int


class PassageMetadata(Frozen):
    """What is known of a passage; see `SearchHit`."""

    collection: Collection
    title: str
    untrusted: tuple[Untrusted, ...] = ()
    at: UtcDatetime | None = None


class Passage(Frozen):
    """One text that was found, as `rag_search` tells it; see `SearchHit`."""

    id: str
    content: str
    metadata: PassageMetadata
    score: float


class RagSearchReport(Frozen):
    """What was found, the best first."""

    results: tuple[Passage, ...]
    query: Untrusted
    totalFound: int  # noqa: N815 -- as its callers read it
