"""Promise: the next page goes on in the list that the page before showed, though the host is another by then."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.agents.answer_rendering import render_answer, split_options
from bcon_exporter.agents.kept_pages import KEPT_SECONDS, MOST_LISTS, KeptPages
from bcon_exporter.tools import call_tool, find_tool
from tests.agents.recorded import make_context, make_host
from tests.factories import container, line, logs, snapshot
from tests.tools.hosts import context_of

if TYPE_CHECKING:
    from bcon_exporter.tools import Context


class Face:
    """A face of agents over a host that changes."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.seconds = 0.0
        self.looks = 0
        self.kept = KeptPages(lambda: self.seconds)

    def ask(self, name: str, **payload: Any) -> dict[str, Any]:
        tool = find_tool(name)
        options, arguments = split_options(payload, tool)
        answer = self.kept.find(tool, arguments, options)
        if answer is None:
            self.looks += 1
            envelope = call_tool(self.context, name, arguments)
            answer = render_answer(tool, envelope, options, "shop-1", self.context.now())
            self.kept.keep(tool, arguments, options, answer)
        told: dict[str, Any] = json.loads(answer.body)
        return told


def face() -> Face:
    return Face(make_context(make_host(50, 12)))


def other_host() -> Context:
    return make_context(make_host(30, 3))


def names(page: dict[str, Any]) -> list[str]:
    return [one["resource"]["name"] for one in page["findings"]]


def test_the_next_page_is_of_the_same_look_though_the_host_has_changed() -> None:
    whole = names(face().ask("diagnose_all", limit=100, max_bytes=65536))
    asked = face()
    first = asked.ask("diagnose_all", limit=5)
    asked.context = other_host()
    second = asked.ask("diagnose_all", limit=5, **first["more"]["next"])
    third = asked.ask("diagnose_all", limit=5, **second["more"]["next"])
    assert names(first) + names(second) + names(third) == whole
    assert second["metadata"] == first["metadata"]
    assert "changed" not in second["more"]
    assert "more" not in third
    assert asked.looks == 1


def test_a_first_page_always_looks_anew() -> None:
    asked = face()
    asked.ask("diagnose_all", limit=5)
    asked.ask("diagnose_all", limit=5)
    assert asked.looks == 2


def test_a_list_that_is_kept_no_longer_is_looked_at_anew_and_said_to_be_another() -> None:
    asked = face()
    following = asked.ask("diagnose_all", limit=2)["more"]["next"]
    asked.seconds = KEPT_SECONDS + 1
    asked.context = other_host()
    assert asked.ask("diagnose_all", limit=2, **following)["more"]["changed"] is True


@pytest.mark.slow
def test_the_newest_lists_are_kept() -> None:
    asked, following = face(), list[dict[str, Any]]()
    for more in range(MOST_LISTS + 1):
        asked.context = make_context(make_host(30 + more, 3))
        following.append(asked.ask("list_containers", all=True)["more"]["next"])
    looks = asked.looks
    for page in following[1:]:
        asked.ask("list_containers", all=True, **page)
    assert asked.looks == looks
    asked.ask("list_containers", all=True, **following[0])
    assert asked.looks == looks + 1


def test_another_question_is_not_answered_with_the_list() -> None:
    asked = face()
    following = asked.ask("list_containers", all=True, limit=5)["more"]["next"]
    asked.ask("list_containers", limit=5, **following)
    asked.ask("list_containers", all=True, limit=5, detail=True, **following)
    assert asked.looks == 3


def test_older_lines_of_a_log_follow_those_that_were_shown() -> None:
    lines = [line(f"request {number} took {number} ms") for number in range(60)]
    asked = Face(context_of(snapshot(container(name="api", logs=logs(*lines)))))
    first = asked.ask("get_container_logs", container_id="api", max_bytes=1024)
    asked.context = context_of(snapshot(container(name="api", logs=logs(*lines, line("one more")))))
    second = asked.ask("get_container_logs", container_id="api", **first["more"]["next"])
    assert len(first["untrusted"]) + len(second["untrusted"]) == 60
    assert asked.looks == 1
