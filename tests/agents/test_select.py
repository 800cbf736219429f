"""Promise: an expression chooses what JMESPath says, tells where it is wrong, and costs little whatever it says."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bcon_exporter.agents.bounded_jmespath import LEAST_LIMIT
from bcon_exporter.agents.select import check_expression, select, select_in
from bcon_exporter.errors import ErrorCode, InvalidInputError
from bcon_exporter.tools import call_tool
from tests.factories import container, exited, snapshot
from tests.table_rows import table
from tests.tools.hosts import context_of

pytestmark = pytest.mark.filterwarnings("ignore:deprecated string literal:PendingDeprecationWarning")

REPORT: dict[str, Any] = {
    "total": 3,
    "unread": {},
    "summaries": [
        {
            "container_name": "db",
            "status": "critical",
            "project": "shop",
            "since": 900,
            "ports": [5432],
            "symptoms": [
                {"type": "oom_killed", "severity": "critical", "evidence": ["killed", "limit 16 MiB"]},
                {"type": "restart_loop", "severity": "error", "evidence": []},
            ],
        },
        {
            "container_name": "api",
            "status": "error",
            "project": "shop",
            "since": 60,
            "ports": [80, 443],
            "symptoms": [{"type": "network_error", "severity": "error", "evidence": ["connection refused"]}],
        },
        {"container_name": "web", "status": "healthy", "project": None, "since": 0, "ports": [], "symptoms": []},
    ],
}
CHOSEN: tuple[tuple[str, object], ...] = (
    ("@", REPORT),
    ("total", 3),
    ("nothing", None),
    ("nothing.of.the.kind", None),
    ("summaries[0].container_name", "db"),
    ("summaries[-1].container_name", "web"),
    ("summaries[9]", None),
    ("summaries[*].container_name", ["db", "api", "web"]),
    ("summaries[].container_name", ["db", "api", "web"]),
    ("summaries[:2].since", [900, 60]),
    ("summaries[::-1].since", [0, 60, 900]),
    ("summaries[?status!='healthy'].container_name", ["db", "api"]),
    ("summaries[?status==`error`].container_name", ["api"]),
    ('summaries[?status==`"error"`].container_name', ["api"]),
    ("summaries[?since>`50` && project=='shop'].since", [900, 60]),
    ("summaries[?since>=`60` || status=='healthy'] | length(@)", 3),
    ("summaries[?!(project)].container_name", ["web"]),
    ("summaries[?project==`null`].container_name", ["web"]),
    ("summaries[].symptoms[].type", ["oom_killed", "restart_loop", "network_error"]),
    ("summaries[*].symptoms[*].type", [["oom_killed", "restart_loop"], ["network_error"], []]),
    ("summaries[].symptoms[?severity=='critical'][].type", ["oom_killed"]),
    ("summaries[].ports[]", [5432, 80, 443]),
    ("summaries[0].{name: container_name, why: symptoms[0].type}", {"name": "db", "why": "oom_killed"}),
    ("summaries[].[container_name, since]", [["db", 900], ["api", 60], ["web", 0]]),
    ("{all: total, bad: length(summaries[?status!='healthy'])}", {"all": 3, "bad": 2}),
    ("summaries[?contains(container_name, 'b')].container_name", ["db", "web"]),
    ("summaries[?contains(ports, `443`)].container_name", ["api"]),
    ("summaries[?starts_with(status, 'crit')] | [0].container_name", "db"),
    ("summaries[?ends_with(container_name, 'i')].container_name", ["api"]),
    ("sort_by(summaries, &since)[].container_name", ["web", "api", "db"]),
    ("max_by(summaries, &since).container_name", "db"),
    ("min_by(summaries, &since).container_name", "web"),
    ("sum(summaries[].since)", 960),
    ("avg(summaries[].since)", 320.0),
    ("sort(summaries[].container_name) | join(', ', @)", "api, db, web"),
    ("map(&length(symptoms), summaries)", [2, 1, 0]),
    ("reverse(summaries[].since)", [0, 60, 900]),
    ("keys(@)", ["total", "unread", "summaries"]),
    ("not_null(summaries[2].project, 'none')", "none"),
    ("to_string(summaries[1].ports)", "[80,443]"),
    ("merge({a: total}, {b: `1`})", {"a": 3, "b": 1}),
    ("summaries[0].*.type || 'no such'", "no such"),
    ('"summaries"[0]."container_name"', "db"),
    ("to_number('1e999')", None),
)


@table(("expression", "chosen"), CHOSEN, ids=[expression for expression, _ in CHOSEN])
def test_an_expression_chooses_what_jmespath_says(expression: str, chosen: object) -> None:
    assert select(expression, REPORT) == chosen


def test_at_least_forty_expressions_are_tried() -> None:
    assert len(CHOSEN) >= 40


@table(
    ("expression", "said", "position"),
    [
        ("", "is empty; @ chooses all", None),
        ("a.", "ends too early, at character 3", 3),
        ("a[0", "ends too early, at character 4", 4),
        ("a.b c", "unexpected unquoted identifier, at character 5", 5),
        ("a ; b", "unknown token ;, at character 3", 3),
        ("a = b", "at character 3", 3),
        ("summaries[?x == 'a]", "unclosed ' delimiter, at character 17", 17),
        ("nofunction(@)", "there is no function nofunction()", None),
        ("length(a, b)", "length() takes 1 arguments, not 2", None),
        ("length(total)", "length() takes string or array or object, not number", None),
        ("&total", "gives an expression instead of a value", None),
        ("to_string(&total)", "not expref", None),
        ("summaries[::0]", "cannot be calculated", None),
        ("ceil(`1e999`)", "cannot be calculated", None),
        ("`1` < 'a'", "cannot be calculated", None),
        ("contains('a', `1`)", "cannot be calculated", None),
        ("!" * 512, "is nested too deeply", None),
        ("a" * 513, "must have 512 characters at most", None),
    ],
)
def test_what_is_wrong_is_told_with_its_place(expression: str, said: str, position: int | None) -> None:
    with pytest.raises(InvalidInputError) as refused:
        select(expression, REPORT)
    assert said in refused.value.message
    assert refused.value.details.get("position") == position
    assert refused.value.details["errors"][0]["field"] == "select"  # type: ignore[index]  # a list of problems


def test_an_error_tells_nothing_of_the_report() -> None:
    for expression in ("length(total)", "sort_by(summaries, &ports)", "sum(summaries[].container_name)", "abs(@)"):
        with pytest.raises(InvalidInputError) as refused:
            select(expression, {"total": 424242, "summaries": [{"container_name": "hunter2", "ports": ["hunter2"]}]})
        told = json.dumps([refused.value.message, refused.value.details])
        assert "424242" not in told
        assert "hunter2" not in told


def test_the_form_alone_is_checked_without_a_report() -> None:
    check_expression("nofunction(@)")
    with pytest.raises(InvalidInputError):
        check_expression("a.")


def repeat(step: str, head: str = "@") -> str:
    """Return a pipe of as many equal steps as an expression may have."""
    return head + ("|" + step) * ((512 - len(head)) // (len(step) + 1))


def many(rows: int) -> dict[str, Any]:
    """Return a report of some size, 64 KiB with 230 rows."""
    symptom = {
        "type": "exit_error",
        "severity": "error",
        "evidence": [f"line {number} of a log" for number in range(4)],
    }
    row = {"container_name": "shop-api", "status": "error", "symptoms": [symptom], "labels": {"a": "b"}}
    return {"summaries": [{**row, "id": f"{number:012x}"} for number in range(rows)]}


HOSTILE = {
    "doubled lists": repeat("[@,@]"),
    "doubled objects": repeat("{a:@,b:@}"),
    "doubled and flattened": repeat("[@,@][]", "summaries"),
    "doubled and merged": repeat("merge(@,{a:@,b:@})"),
    "a list of many": f"[{','.join('@' * 200)}]|[*].[@,@,@,@,@,@,@,@]|[].[@,@,@,@,@]",
    "many as text": repeat("[@,@]", "@")[:200] + "|to_string(@)",
    "text of text": repeat("to_string([@,@])"),
    "joined text": repeat("join('',[@,@])", "to_string(@)"),
    "long glue": "join(to_string(@),summaries[].symptoms[].evidence[])",
    "two trees compared": "[[@],[@]]" + "|[*].[@,@]" * 40 + "|[0]==[1]",
    "a tree searched": "[[`1`],[`1`]]" + "|[*].[@,@]" * 40 + "|contains(@,[0])",
    "text of all for each": f"[{','.join(['summaries[*].to_string(@)'] * 18)}]",
    "text of each in many conditions": "summaries[?" + "||".join(["contains(to_string(@),'zz')"] * 17) + "]",
    "many conditions": f"{'summaries|' * 2}[?{'||'.join('a' * 150)}]",
    "projections in projections": "[summaries,summaries,summaries][]" + ".[@,@,@,@][]" * 39,
    "sorted again and again": repeat("sort_by(@,&id)", "summaries"),
    "sorted by text": "sort_by(summaries,&to_string([@,@,@,@,@,@,@,@,@,@,@,@,@,@,@,@]))",
    "parentheses": "(" * 255 + "@" + ")" * 255,
    "brackets": "[" * 250 + "@" + "]" * 250,
    "a large number": f"`{'9' * 500}`",
    "a large index": f"summaries[{'9' * 490}]",
}


@table("expression", HOSTILE.values(), ids=HOSTILE)
@table("rows", [3, 230])
def test_a_hostile_expression_is_answered_in_bounds_or_refused(rows: int, expression: str) -> None:
    assert len(expression) <= 512
    chosen = attempt(lambda: select(expression, many(rows)))
    assert len(json.dumps(chosen)) <= 2 * LEAST_LIMIT


@table(
    "name",
    [
        *("doubled lists", "doubled objects", "doubled and flattened", "text of text", "joined text", "long glue"),
        *("two trees compared", "a tree searched", "projections in projections"),
    ],
)
def test_an_expression_that_doubles_without_end_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="makes more than 1024 KiB; choose less"):
        select(HOSTILE[name], many(230))


def test_an_expression_that_takes_too_many_steps_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="takes too long"):
        select("[*].[" + ",".join("@" * 12) + "]|[][?" + "||".join("a" * 150) + "]", [{}] * 9_000)


def test_a_large_report_may_be_sorted_and_cut() -> None:
    report = many(12_000)
    assert len(json.dumps(report)) > 2 * LEAST_LIMIT
    assert select("sort_by(summaries, &id)[-1].id", report) == f"{11_999:012x}"


HOWS = (
    *("{}|{}", "[{},{}]", "({}) == ({})", "({})[?{}]", "{{x: {}, y: {}}}", "({})[].[{}]", "({}) || {}", "map(&{}, {})"),
)
BUILT = st.recursive(
    st.sampled_from(["@", "a", "b[0]", "b[]", "b[*].a", "`1`", "'x'", "keys(@)", "*", "c.a"]),
    lambda part: st.builds(lambda one, two, how: how.format(one, two), part, part, st.sampled_from(HOWS)),
    max_leaves=12,
)


@settings(max_examples=200)
@given(BUILT)
def test_what_is_chosen_is_what_the_library_itself_chooses(expression: str) -> None:
    import jmespath

    value = {"a": 1, "b": [{"a": [1, 2]}, {"a": "x"}, 3], "c": {"a": None}}
    chosen = attempt(lambda: select(expression, value))
    wanted = attempt(lambda: jmespath.search(expression, value)) if len(expression) <= 512 else None
    assert chosen == wanted


def attempt(work: Callable[[], Any]) -> Any:
    """Return what work returns, or "refused"."""
    try:
        return work()
    except (ValueError, TypeError, InvalidInputError):
        return "refused"


def test_an_envelope_is_selected_from_and_an_error_stays_one() -> None:
    context = context_of(snapshot(container(), exited(name="job")))
    whole = call_tool(context, "diagnose_all", {"include_healthy": True})
    part = select_in("summaries[].container_name | sort(@)", whole)
    assert part.data() == {"result": ["api", "job"]}
    assert part.value is whole.value

    lost = call_tool(context, "get_container_info", {"container_id": "nobody"})
    assert select_in("name", lost) is lost
    assert select_in("nofunction(@)", whole).code is ErrorCode.INVALID_INPUT
