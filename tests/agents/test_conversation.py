"""From "something is wrong on this host" an agent comes to cause, first step and a hand-over in few calls and bytes."""

from __future__ import annotations

from functools import cache

import pytest

from tests.agents.conversation import BYTES_MAX, CALLS_MAX, HOSTS, PAGE, Broken, Conversation, converse, render_page


@cache
def talked(broken: Broken) -> Conversation:
    return converse(broken)


@pytest.mark.parametrize("broken", HOSTS, ids=lambda broken: broken.host)
def test_the_agent_comes_to_the_true_cause_and_a_first_step(broken: Broken) -> None:
    said = talked(broken)

    assert said.root == broken.root
    assert broken.holds in said.cause
    assert said.first_step
    for part in (said.root, said.cause, said.first_step, broken.story):
        assert part in said.hand_over


@pytest.mark.parametrize("broken", HOSTS, ids=lambda broken: broken.host)
def test_five_calls_and_20_kb_are_enough(broken: Broken) -> None:
    said = talked(broken)

    assert len(said.calls) <= CALLS_MAX
    assert said.bytes_read <= BYTES_MAX


@pytest.mark.slow
def test_the_transcript_in_the_documentation_is_what_is_said_now() -> None:
    assert PAGE.read_text() == render_page(), "run make agents-conversation"
