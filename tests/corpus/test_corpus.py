"""The corpus is what it says: excerpts of many programs, half of them healthy, labelled, neutral, with their recipe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.corpus.excerpts import FOLDER, HEALTHY, JUDGED, SPLITS, Excerpt, load_corpus

RECIPES = Path(__file__).parent / "recipes"
MAX_LINES = 60
INFORMING = re.compile(r"(net|mem|disk|res|data|exec):[a-z_]+|crash")
OF_A_MACHINE = re.compile(r"(?<!\w)/root/|/home/(?!\w*app)|\.pyenv|bcon|BEGIN (RSA |EC |OPENSSH )?PRIVATE KEY")


def test_it_holds_two_hundred_excerpts_of_forty_programs_and_half_of_them_healthy() -> None:
    corpus = load_corpus()
    healthy = sum(excerpt.is_healthy for excerpt in corpus)
    assert len(corpus) >= 200
    assert len({excerpt.software for excerpt in corpus}) >= 40
    assert 0.45 <= healthy / len(corpus) <= 0.55


def test_a_third_is_held_out_with_every_label_in_both_splits() -> None:
    corpus = load_corpus()
    assert 0.25 <= sum(excerpt.split == "held-out" for excerpt in corpus) / len(corpus) <= 0.42
    for split in SPLITS:
        labels = {label for excerpt in corpus if excerpt.split == split for label in excerpt.labels}
        assert {HEALTHY, *JUDGED} <= labels


def test_a_program_is_wholly_in_one_split() -> None:
    pairs = {(excerpt.software, excerpt.split) for excerpt in load_corpus()}
    assert len(pairs) == len({software for software, _ in pairs})


def test_every_id_occurs_once_and_has_its_recipe() -> None:
    ids = [excerpt.id for excerpt in load_corpus()]
    assert len(ids) == len(set(ids))
    scripts = {path.stem: path.read_text(encoding="utf-8") for path in RECIPES.glob("*.sh")}
    assert {path.stem for path in FOLDER.glob("*.jsonl")} == set(scripts)
    made = {stem: set(re.findall(r"(?:^|; )excerpt (\w+) ", text, re.MULTILINE)) for stem, text in scripts.items()}
    assert [each for each in ids if each.split("/")[1] not in made[each.split("/")[0]]] == []


def find_flaws(excerpt: Excerpt) -> list[str]:
    """What is wrong with an excerpt."""
    informing = {label for label in excerpt.labels if INFORMING.fullmatch(label)}
    checks = {
        "has labels that nobody judges": excerpt.labels - informing <= {HEALTHY, *JUDGED},
        "is healthy and more, or shows nothing": excerpt.labels == {HEALTHY}
        if excerpt.is_healthy
        else bool(excerpt.expected),
        "does not say what was done": bool(excerpt.done),
        "is empty or too long": 1 <= len(excerpt.lines) <= MAX_LINES,
        "tells of the machine it was made on": not any(OF_A_MACHINE.search(line) for line in excerpt.lines),
    }
    return [flaw for flaw, is_well in checks.items() if not is_well]


def test_every_excerpt_is_labelled_and_neutral() -> None:
    assert {excerpt.id: flaws for excerpt in load_corpus() if (flaws := find_flaws(excerpt))} == {}


@pytest.mark.parametrize(
    "excerpt", [one for one in load_corpus() if "OOM_KILLED" in one.labels], ids=lambda one: one.id
)
def test_whatever_ended_for_memory_is_an_error_too(excerpt: Excerpt) -> None:
    assert "LOG_ERROR" in excerpt.labels
