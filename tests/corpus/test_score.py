"""The score counts labels, false alarms, exact sets of causes and what is taken for what; the naive one is naive."""

from __future__ import annotations

import pytest

from tests.corpus.capture import MOST_ALIKE, chosen, needed, neutral, not_too_alike, software_of, split_of
from tests.corpus.excerpts import FOLDER, Excerpt, load_corpus
from tests.corpus.matchers import match_naively, match_with_product
from tests.corpus.score import Counts, judge, render, score

REFUSED = frozenset({"LOG_ERROR", "NETWORK_ERROR"})


def excerpt(*labels: str, line: str = "x") -> Excerpt:
    return Excerpt(id="a/b", software="a", labels=frozenset(labels), done="x", split="dev", lines=(line,))


def test_counts_give_precision_recall_and_their_mean() -> None:
    counts = Counts(right=6, too_much=2, missed=4)
    assert (counts.precision, counts.recall) == (0.75, 0.6)
    assert counts.f1 == pytest.approx(2 / 3)


def test_a_healthy_one_is_flagged_by_any_label() -> None:
    said = score(
        judge([excerpt("healthy"), excerpt("healthy", line="y")], lambda lines: REFUSED & {lines[0], "LOG_ERROR"})
    )
    assert (said.healthy, said.flagged, said.flagged_share) == (2, 2, 1.0)
    assert score(judge([excerpt("healthy")], lambda _: frozenset())).flagged == 0


def test_causes_are_exact_only_without_one_too_many() -> None:
    one = excerpt("LOG_ERROR", "NETWORK_ERROR", "net:refused")
    assert score(judge([one], lambda _: REFUSED)).causes_share == 1.0
    assert score(judge([one], lambda _: REFUSED - {"LOG_ERROR"})).causes_share == 1.0
    assert score(judge([one], lambda _: REFUSED | {"config_error"})).causes_share == 0.0
    assert score(judge([excerpt("LOG_ERROR")], lambda _: REFUSED)).caused == 0


def test_the_matrix_shows_what_was_said_instead() -> None:
    said = score(judge([excerpt("LOG_ERROR", "permission")], lambda _: REFUSED))
    assert said.matrix == {("permission", "NETWORK_ERROR"): 1}
    said = score(
        judge([excerpt("LOG_ERROR", "permission"), excerpt("LOG_ERROR"), excerpt("healthy")], lambda _: frozenset())
    )
    assert said.matrix == {("permission", "nothing"): 1, ("other error", "nothing"): 1, ("healthy", "nothing"): 1}


def test_the_text_names_every_label_and_both_matchers() -> None:
    found = score(judge(load_corpus()[:40], match_naively))
    text = render("title", found, found)
    assert {"title", "LOG_ERROR", "port_in_use", "naive", "overlooked"} <= set(text.replace(",", " ").split())


def test_the_naive_matcher_goes_by_words_alone() -> None:
    assert match_naively(["INFO 0 errors, nothing refused"]) == REFUSED
    assert match_naively(["all is well"]) == frozenset()


def test_the_product_answers_in_the_labels_of_the_corpus() -> None:
    line = "2026-01-01 10:00:00 ERROR db: connect to db:5432 failed: Connection refused"
    assert match_with_product([line]) == REFUSED
    assert match_with_product(["INFO 0 errors, nothing refused"]) == frozenset()


def test_a_part_of_a_log_is_its_head_its_tail_or_from_a_line_on() -> None:
    lines = list("abcde")
    assert chosen(lines, "head", 2) == ["a", "b"]
    assert chosen(lines, "tail", 2) == ["d", "e"]
    assert chosen(lines, "from:c", 2) == ["c", "d"]
    assert chosen(lines, "from:z", 2) == ["a", "b"]


def test_a_kept_line_does_not_name_the_machine() -> None:
    assert neutral("\x1b[31mat /root/.pyenv/versions/3.11.7/lib/x.py on Linux 6.18.44-fc-v595\x1b[0m") == (
        "at /usr/local/lib/x.py on Linux 6.1.0"
    )


def test_a_recipe_of_several_programs_names_them_and_what_they_need() -> None:
    folder = FOLDER.parent / "recipes"
    assert software_of(folder / "brokers.sh", "nats_port") == "nats"
    assert software_of(folder / "nginx.sh", "port_taken") == "nginx"
    assert "nginx-light" in needed(folder / "nginx.sh", "apt")
    assert {split_of(name) for name in "abcdefghij"} == {"dev", "held-out"}


def test_of_faults_with_the_same_labels_only_the_first_few_are_kept() -> None:
    def made(labels: str, line: str) -> dict[str, object]:
        return {"labels": labels.split(), "lines": [line] if line else []}

    faults = [made("LOG_ERROR crash", str(number)) for number in range(MOST_ALIKE + 1)]
    others = [made("LOG_ERROR", "x"), *(made("healthy", str(number)) for number in range(MOST_ALIKE + 1))]
    assert not_too_alike([*faults, *others, made("LOG_ERROR", "")]) == [*faults[:-1], *others]
