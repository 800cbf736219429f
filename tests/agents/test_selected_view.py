"""Promise: an agent may select from any answer; what is selected is untrusted, in the budget, and a mistake is told."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bcon_exporter.agents.answer_rendering import AgentAnswer, render_answer, split_options
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.tools import execute, find_tool
from tests.factories import NOON, container, exited, logs, snapshot
from tests.tools.hosts import context_of

CONTEXT = context_of(
    snapshot(*(container(name=f"c{number}") for number in range(60)), exited(3, name="job", logs=logs("x" * 900)))
)


def ask(tool: str, payload: dict[str, Any]) -> AgentAnswer:
    """Return what an agent reads of a tool's answer."""
    found = find_tool(tool)
    options, arguments = split_options(payload, found)
    return render_answer(found, execute(CONTEXT, tool, arguments), options, "shop-1", NOON)


def test_what_is_selected_stands_alone_and_is_untrusted() -> None:
    page = json.loads(ask("diagnose_all", {"select": "summaries[?status!='healthy'].container_name"}).body)
    assert page["report"] == {"untrusted": ["job"]}
    assert "findings" not in page
    assert page["isError"] is False


def test_markdown_has_it_in_a_fence() -> None:
    answer = ask("get_container_logs", {"container_id": "job", "select": "tail", "response_format": "markdown"})
    assert "~~~untrusted\n100\n~~~" in answer.body


def test_a_mistake_is_told_before_the_tool_is_called_and_one_that_shows_late_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match="at character 2"):
        split_options({"select": "a]"}, find_tool("diagnose_all"))
    answer = ask("diagnose_all", {"select": "nofunction(@)"})
    assert answer.is_error
    assert json.loads(answer.body)["error"]["code"] == "INVALID_INPUT"


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(
        ["@", "summaries", "summaries[].container_name", "summaries[0]", "[@,@,@]", "to_string(@)", "keys(@)"]
    ),
    st.integers(1024, 9000),
    st.sampled_from(["json", "markdown"]),
)
def test_what_is_selected_keeps_the_budget(expression: str, max_bytes: int, form: str) -> None:
    wanted = {"select": expression, "max_bytes": max_bytes, "response_format": form, "include_healthy": True}
    assert len(ask("diagnose_all", wanted).body.encode()) <= max_bytes
