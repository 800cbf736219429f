"""Prints how right the log analysis is: `python -m tests.corpus [--misses]`.

For the whole corpus and each split: figures beside a naive matcher's in the same run, and what is taken for what.
`--misses` lists the excerpts of the dev split that are not right; what is held out stays unseen.
"""

from __future__ import annotations

import sys

from tests.corpus.excerpts import SPLITS, load_corpus
from tests.corpus.matchers import match_naively, match_with_product
from tests.corpus.score import Judgement, judge, render, score

SHOWN_LINES = 6
SHOWN_CHARS = 240


def main(arguments: list[str]) -> int:
    """Print, and return 0: the floor is held by a test."""
    corpus = load_corpus()
    found, naive = judge(corpus, match_with_product), judge(corpus, match_naively)
    parts = [_part("all", found, naive)]
    for split in SPLITS:
        of_split = [tuple(one for one in said if one.excerpt.split == split) for said in (found, naive)]
        parts.append(_part(split, *of_split))
    if "--misses" in arguments:
        parts += [_miss(one) for one in found if one.excerpt.split == "dev" and (one.missing or one.extra)]
    sys.stdout.write("\n\n".join(parts) + "\n")
    return 0


def _part(name: str, found: tuple[Judgement, ...], naive: tuple[Judgement, ...]) -> str:
    programs = len({one.excerpt.software for one in found})
    return render(f"== {name}: {len(found)} excerpts of {programs} programs", score(found), score(naive))


def _miss(one: Judgement) -> str:
    newest = [line[:SHOWN_CHARS] for line in one.excerpt.lines[-SHOWN_LINES:]]
    head = f"{one.excerpt.id} ({one.excerpt.done}): missing {sorted(one.missing)}, extra {sorted(one.extra)}"
    return "\n    ".join([head, *newest])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
