"""How right the search is: labelled questions, of which half were written by somebody who saw the documents alone.

python -m tests.search.judging
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.model.search import QueryMemoryInput
from bcon_exporter.tools.search import query_memory
from tests.factories import snapshot
from tests.outputs.scenes import make_context

if TYPE_CHECKING:
    from bcon_exporter.tools import Context

FILES = ("queries_page.yaml", "queries_own.yaml")


@dataclass
class Judged:
    """Attributes: `misses`: what was asked and found instead."""

    asked: int = 0
    first: int = 0
    third: int = 0
    strange: int = 0
    answered: int = 0
    misses: list[str] = field(default_factory=list)

    def add(self, other: Judged) -> None:
        """Take in what another file gave."""
        for name in ("asked", "first", "third", "strange", "answered"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.misses += other.misses


def load_queries(name: str) -> list[dict[str, Any]]:
    """The questions of a file."""
    queries: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / name).read_text())
    return queries


def document_of(name: str) -> str:
    """What a label and a found id are compared by: a page of the documentation counts whole."""
    return name.partition("#")[0]


def judge(context: Context, queries: list[dict[str, Any]]) -> Judged:
    """Ask all, with the defaults."""
    judged = Judged()
    for one in queries:
        hits = query_memory(context, QueryMemoryInput(query=one["query"])).results
        found = [document_of(hit.id) for hit in hits]
        if one["strange"]:
            judged.strange += 1
            judged.answered += bool(found)
            if found:
                judged.misses.append(f"answered  {one['query'][:70]!r}: {hits[0].id} {hits[0].score}")
            continue
        wanted = {document_of(name) for name in one["wanted"]}
        ranks = [rank for rank, name in enumerate(found) if name in wanted]
        judged.asked += 1
        judged.first += bool(ranks and ranks[0] == 0)
        judged.third += bool(ranks and ranks[0] < 3)
        if not ranks or ranks[0] > 0:
            place = f"rank {ranks[0] + 1}" if ranks else "not found"
            told = ", ".join(f"{hit.id} {hit.score}" for hit in hits[:3]) or "nothing"
            judged.misses.append(f"{place:9} {one['query'][:70]!r} wants {sorted(wanted)}: {told}")
    return judged


def make_search_context() -> Context:
    """A context with the shipped texts and no host."""
    return make_context(snapshot(), catalogue=load_catalogue(None))


def main() -> None:
    """Print the table."""
    context, whole = make_search_context(), Judged()
    for name in (*FILES, "together"):
        judged = whole if name == "together" else judge(context, load_queries(name))
        if judged is not whole:
            whole.add(judged)
        sys.stdout.write(
            f"{name}: top-1 {judged.first}/{judged.asked}, top-3 {judged.third}/{judged.asked},"
            f" strange answered {judged.answered}/{judged.strange}\n"
        )
    sys.stdout.write("".join(f"  {miss}\n" for miss in whole.misses))


if __name__ == "__main__":
    main()
