"""Promise: what a container, an image or a person chose to say stands in `untrusted` alone, in every tool's answer."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import pytest
from pydantic import BaseModel

from bcon_exporter.agents.untrusted_text import OWN_WORDS, sort_fields
from bcon_exporter.cli.exits import Exit
from bcon_exporter.model.base import Frozen, Untrusted
from bcon_exporter.tools import TOOLS
from bcon_exporter.tools.check import CHECK
from bcon_exporter.tools.digest import DIGEST
from bcon_exporter.tools.host_views import HOST_DIAGNOSIS, HOST_DRIFT, HOST_STATS, NAMED_DIAGNOSIS
from tests.agents.asking import MAY_FAIL, OPTIONS, ask_agent, list_calls, outside_of_untrusted, tells
from tests.agents.asking_amiss import ask_amiss
from tests.agents.hostile import NEAR_PROJECT, PLACES, make_hostile_host
from tests.agents.recorded import make_context
from tests.table_rows import table

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN = (*TOOLS, HOST_DIAGNOSIS, HOST_DRIFT, HOST_STATS, NAMED_DIAGNOSIS, DIGEST, CHECK)
"""What is shown to agents: all tools, and those behind commands with `--format agent`."""


@pytest.fixture(scope="module")
def answers() -> dict[tuple[str, str, str], str]:
    """Tool, its input and the view's → the whole answer."""
    context = make_context(make_hostile_host())
    told = {}
    for name, payload in list_calls(context, list(PLACES)):
        for options in OPTIONS:
            asked = {"limit": 100, "max_bytes": 65536, **options, **payload}
            answer = ask_agent(context, name, asked)
            assert not answer.is_error or name in MAY_FAIL, answer.body
            told[name, json.dumps(payload), json.dumps(options)] = answer.body
    return told


@pytest.mark.promise("S10")
@table("tool", [tool.name for tool in TOOLS], shared=["answers"])
def test_no_tool_tells_the_sentence_outside_of_untrusted(tool: str, answers: dict[tuple[str, str, str], str]) -> None:
    bodies = {key: body for key, body in answers.items() if key[0] == tool}
    assert bodies
    assert [(key, body) for key, body in bodies.items() if tells(outside_of_untrusted(body))] == []


@pytest.mark.promise("S10")
def test_no_refusal_hint_or_completion_tells_the_sentence_outside_of_untrusted() -> None:
    facts = make_hostile_host()
    told = list(ask_amiss(make_context(facts), facts))
    assert {name for name, _ in told} == {
        *("restart_service", "schedule_task", "write_memory", "modify_config", "completion", "resource")
    }
    assert sum("several projects" in body for _, body in told) == 2 * len(OPTIONS), "both refusals name projects"
    hinted = {name for name, body in told if NEAR_PROJECT in outside_of_untrusted(body)}
    assert hinted == {"schedule_task", "write_memory"}, "both say that there is no such project"
    assert [(name, body) for name, body in told if tells(outside_of_untrusted(body))] == []


@pytest.mark.promise("S10")
@table("place", [name for name, place in PLACES.items() if place.shown], shared=["answers"])
def test_what_a_container_says_is_not_lost(place: str, answers: dict[tuple[str, str, str], str]) -> None:
    about = [body for key, body in answers.items() if f'"{place}"' in key[1] or key[0] in ("detect_drift",)]
    assert any(tells(body) for body in about)


def test_the_value_of_an_environment_variable_is_told_nowhere(answers: dict[tuple[str, str, str], str]) -> None:
    about = [body for key, body in answers.items() if '"environment-value"' in key[1]]
    assert about
    assert not any(tells(body) for body in about)


def list_models(hint: Any) -> Iterator[type]:
    """Yield the models and dataclasses that a type is made of, each once."""
    seen: set[type] = set()
    waiting = [hint]
    while waiting:
        current = waiting.pop()
        if isinstance(current, type) and (issubclass(current, BaseModel) or is_dataclass(current)):
            if current not in seen:
                seen.add(current)
                yield current
                hints = get_type_hints(current, include_extras=True)
                waiting += [hints[name] for name in sort_fields(current).names]
            continue
        waiting += [argument for argument in get_args(current) if not isinstance(argument, str)]


def list_shown_models() -> list[type]:
    return list(dict.fromkeys(model for tool in SHOWN for model in list_models(tool.output_type)))


@table("model", list_shown_models(), ids=lambda model: model.__name__)
def test_every_text_of_a_result_is_sorted(model: type) -> None:
    assert sorted(sort_fields(model).unsorted) == [], (
        f"{model.__name__}: mark these fields as Untrusted in the model, or list them in OWN_WORDS "
        "(agents/untrusted_text.py) if they hold words and names of ours only"
    )


def test_only_fields_that_there_are_count_as_our_words() -> None:
    models = {model.__name__: model for model in list_shown_models()}
    known = {name: fields for name, fields in OWN_WORDS.items() if name in models}
    assert {name: fields - set(sort_fields(models[name]).names) for name, fields in known.items()} == dict.fromkeys(
        known, frozenset()
    )


class Unsorted(Frozen):
    words: str
    marked: Untrusted = ""
    number: int = 0
    end: Exit = Exit.FINE


def test_a_text_that_nobody_has_sorted_is_not_trusted() -> None:
    sorting = sort_fields(Unsorted)
    assert set(sorting.unsorted) == {"words"}
    assert set(sorting.untrusted) == {"words", "marked"}
