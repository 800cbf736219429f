"""What is said of a thousand services costs in proportion to them: one search for all, no square of lines."""

from __future__ import annotations

from difflib import SequenceMatcher
from random import Random

import pytest

from bcon_exporter.secrets.known_secrets import KnownSecrets
from bcon_exporter.tools.check import hide_among
from bcon_exporter.tools.what_if import render_diff

SECRETS = KnownSecrets(frozenset({"correct-horse-7", "first-line-9\nsecond-line-9", "0123456789abcdef"}))
SENTENCES = [f"s{number} cannot be recreated: its port 80{number} is taken" for number in range(2000)]


class Counted:
    """Hides secrets, and counts how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, text: str) -> str:
        self.calls += 1
        return SECRETS.hide(text)


@pytest.mark.parametrize(
    ("among", "most_calls"),
    [
        ([], 1),
        (["it says correct-horse-7 here"], 30),
        (["ends with first-line-9", "second-line-9 begins it"], 60),
        (["both first-line-9\nsecond-line-9", "0123456789abcdef"], 60),
    ],
)
def test_of_many_sentences_only_those_with_a_secret_are_searched_apart(among: list[str], most_calls: int) -> None:
    texts = [*SENTENCES[:1000], *among, *SENTENCES[1000:], *SENTENCES]
    counted = Counted()
    hide = hide_among(texts, counted)
    assert counted.calls <= most_calls
    assert [hide(text) for text in texts] == [SECRETS.hide(text) for text in texts]
    assert hide("what was not among them: correct-horse-7") == "what was not among them: ***"


def as_is(text: str) -> str:
    return text


def render_wholly(before: str, after: str, context_lines: int) -> str:
    """A unified diff as difflib makes it of whole texts."""
    old, new, lines = before.split("\n"), after.split("\n"), []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(context_lines):
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                lines += [f" {line}" for line in old[i1:i2]]
                continue
            lines += [f"-{line}" for line in old[i1:i2]] + [f"+{line}" for line in new[j1:j2]]
    return "\n".join(lines)


@pytest.mark.parametrize("context_lines", [0, 3])
def test_leaving_out_the_ends_that_are_the_same_changes_no_diff_of_one_place(context_lines: int) -> None:
    chance = Random(7)
    for _ in range(200):
        before = [f"- line {number}" for number in range(chance.randrange(1, 20))]
        after = list(before)
        at = chance.randrange(len(before))
        after[at : at + chance.randrange(3)] = [f"- new {number}" for number in range(chance.randrange(3))]
        texts = "\n".join(before), "\n".join(after)
        diff = render_diff(*texts, "compose.yaml", as_is, context_lines=context_lines)
        shown = [line for line in diff.split("\n")[2:] if not line.startswith("@@")]
        assert "\n".join(shown) == render_wholly(*texts, context_lines)


@pytest.mark.parametrize("count", [3000])
def test_lines_that_stand_thousands_of_times_in_both_texts_are_not_all_compared(count: int) -> None:
    before = "\n".join(["- a: 1", *["- restart: always"] * count, "- b: 1"])
    after = "\n".join(["- a: 2", *["- restart: always", "- x: y"] * count, "- b: 2"])
    diff = render_diff(before, after, "compose.yaml", as_is).split("\n")
    assert [line[1:] for line in diff[2:] if line[0] in " -"] == before.split("\n")
    assert [line[1:] for line in diff[2:] if line[0] in " +"] == after.split("\n")
