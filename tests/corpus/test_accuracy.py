"""The log analysis stays as right over the corpus as it has become, and righter than words alone.

`make accuracy` prints the figures; whoever raises them raises the floor.
"""

from __future__ import annotations

from functools import cache
from statistics import mean

from tests.corpus.excerpts import JUDGED, load_corpus
from tests.corpus.matchers import match_naively, match_with_product
from tests.corpus.score import Score, judge, score
from tests.table_rows import table

F1_AT_LEAST = {
    "LOG_ERROR": 0.96,
    "NETWORK_ERROR": 0.955,
    "OOM_KILLED": 0.98,
    "DISK_PRESSURE": 0.98,
    "auth_failure": 0.98,
    "permission": 0.95,
    "config_error": 0.89,
    "missing_dependency": 0.93,
    "port_in_use": 0.97,
}
FLAGGED_AT_MOST = 0.07
OVERLOOKED_AT_MOST = 0.015
EXACT_CAUSES_AT_LEAST = 0.95


@cache
def product() -> Score:
    return score(judge(load_corpus(), match_with_product))


@cache
def naive() -> Score:
    return score(judge(load_corpus(), match_naively))


@table("label", JUDGED)
def test_no_label_falls_below_its_floor(label: str) -> None:
    assert product().labels[label].f1 >= F1_AT_LEAST[label]


def test_it_is_righter_in_every_sum_than_words_alone() -> None:
    ours, words = product(), naive()
    assert mean(each.f1 for each in ours.labels.values()) > mean(each.f1 for each in words.labels.values())
    assert ours.flagged < words.flagged
    assert ours.overlooked < words.overlooked
    assert ours.causes_right > words.causes_right


def test_few_healthy_excerpts_are_called_ill() -> None:
    assert product().flagged_share <= FLAGGED_AT_MOST


def test_few_faults_are_overlooked() -> None:
    assert product().overlooked <= OVERLOOKED_AT_MOST * product().faulty


def test_the_set_of_causes_is_mostly_exact() -> None:
    assert product().causes_share >= EXACT_CAUSES_AT_LEAST
