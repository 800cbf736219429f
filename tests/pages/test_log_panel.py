"""The log on a container's page: the part that is asked for, what is marked in it, and how much of it there is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.errors import DockerConnectionError
from bcon_exporter.model.findings import SymptomType
from bcon_exporter.outputs.pages.log_panel import pick_lines, read_log_panel
from bcon_exporter.tools.replay import SnapshotHost
from tests.factories import ago, container, exited, line, logs, snapshot
from tests.outputs.scenes import diagnosis, make_context, symptom
from tests.table_rows import table

if TYPE_CHECKING:
    from datetime import datetime

    from bcon_exporter.model.container_facts import ContainerFacts, LogFacts
    from bcon_exporter.outputs.pages.log_panel import LogPanel

LINES = [f"line {number}" for number in range(100, 400)]


def shown(panel: LogPanel) -> list[str]:
    return [one.line.text for one in panel.lines]


def panel_of(facts: ContainerFacts, **query: str) -> LogPanel:
    return read_log_panel(make_context(snapshot(facts)), facts, diagnosis(facts), query)


def test_the_newest_lines_are_shown_and_those_that_the_diagnosis_quotes_are_marked_among_their_neighbours() -> None:
    facts = container(logs=logs(*LINES))
    seen = symptom(SymptomType.LOG_ERROR, evidence=("3 times: line 120", "line 390"))
    lines = pick_lines(facts, diagnosis(facts, status="error", symptoms=(seen,)))

    assert [one.line.text for one in lines if one.marked] == ["line 120", "line 390"]
    assert [one.line.text for one in lines if one.skipped] == ["line 340"], "told where lines are left out"
    assert [one.line.text for one in lines] == [*LINES[16:25], *LINES[-60:]]
    assert pick_lines(container(logs=None), diagnosis(facts)) == ()


def test_more_lines_can_be_had_until_there_are_no_more() -> None:
    facts = container(logs=logs(*LINES))
    usual, more, most = panel_of(facts), panel_of(facts, lines="200"), panel_of(facts, lines="500")

    assert (len(usual.lines), usual.more) == (60, 200)
    assert (shown(more), more.more) == (LINES[-200:], 500)
    assert (shown(most), most.more) == (LINES, 0)
    assert shown(panel_of(facts, lines="-1")) == LINES[-200:], "what cannot be asked for is the first step"


def test_what_is_looked_for_is_marked_in_any_case_and_as_it_stands() -> None:
    facts = container(logs=logs("a err <b>0 c", "nothing", "x[1] [y]"))

    assert [one.pieces for one in panel_of(facts, find="ERR <B>0").lines] == [("a ", "err <b>0", " c")]
    assert [one.pieces for one in panel_of(facts, find="[").lines] == [("x", "[", "1] ", "[", "y]")]
    assert shown(panel_of(facts, find="re:^n")) == ["nothing"]
    assert panel_of(facts, find="re:(").problem
    assert panel_of(facts, find="nowhere").lines == ()


def test_the_run_before_and_what_surrounds_the_last_end_can_be_had() -> None:
    lines = [line(f"{seconds} s ago", at=ago(seconds)) for seconds in (50, 40, 30, 20, 10)]
    facts = container(started_at=ago(25), finished_at=ago(29), logs=logs(*lines))

    assert shown(panel_of(facts, part="previous")) == ["50 s ago", "40 s ago", "30 s ago"]
    assert len(shown(panel_of(facts, part="crash"))) == 5
    never = panel_of(container(logs=logs("x"), finished_at=None), part="crash")
    assert (never.lines, "has not ended yet" in never.problem) == ((), True)


def test_a_page_stays_small_whatever_is_printed() -> None:
    facts = container(logs=logs(*("<" * 16_000 for _ in range(500))))
    panel = panel_of(facts, lines="500")

    assert 0 < len(panel.lines) < 20
    assert panel.more == 0


LEVELS = {
    "ERROR: it broke": "error",
    "2026-01-01 WARN slow": "warning",
    '{"level":"info","msg":"x"}': "info",
    "panic: nil": "critical",
    "just words": "unknown",
}


@table("text", LEVELS)
def test_a_line_has_the_level_that_it_says(text: str) -> None:
    assert panel_of(container(logs=logs(text))).lines[0].level == LEVELS[text]


class Mute(SnapshotHost):
    """An engine that does not answer."""

    def read_logs(self, container_id: str, *, tail: int, since: datetime | None, until: datetime | None) -> LogFacts:  # noqa: ARG002
        message = "the engine does not answer"
        raise DockerConnectionError(message, {})


@pytest.mark.parametrize("query", [{"lines": "200"}, {"find": "x"}, {"part": "previous"}])
def test_an_engine_that_does_not_answer_costs_what_was_asked_for_and_nothing_else(query: dict[str, str]) -> None:
    facts = exited(1, logs=logs("x"), started_at=ago(25))
    context = make_context(snapshot(facts))
    panel = read_log_panel(replace(context, host=Mute(snapshot(facts))), facts, diagnosis(facts), query)

    assert (panel.lines, panel.problem) == ((), "the engine does not answer")
