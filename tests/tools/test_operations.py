"""Promise: every operation of Flux and Scout answers, is denied with a preview, or says where it is to be had."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from bcon_exporter.agents.answer_rendering import render_answer, split_options
from bcon_exporter.agents.schemas import compact_schema
from bcon_exporter.model.container_facts import DiskFacts, EngineFacts
from bcon_exporter.model.operations import FIELDS, make_model, read_fields
from bcon_exporter.model.tool_inputs import NOW, Words
from bcon_exporter.tools import call_tool, find_tool
from bcon_exporter.tools.operations import TABLES
from bcon_exporter.tools.previews import PREVIEWS
from tests.factories import NOON, ago, compose, container, exited, line, logs, snapshot
from tests.table_rows import table
from tests.tools.hosts import context_of
from tests.tools.operation_inputs import good_inputs

if TYPE_CHECKING:
    from bcon_exporter.tools import Context

KEYS = {
    "flux": "container:list container:start container:stop container:restart container:pause container:resume "
    "container:logs container:stats container:inspect container:search container:pull container:recreate "
    "container:exec container:top compose:list compose:status compose:up compose:down compose:restart compose:logs "
    "compose:build compose:pull compose:recreate docker:info docker:df docker:prune docker:images docker:pull "
    "docker:build docker:rmi docker:networks docker:volumes host:status host:resources host:info host:uptime "
    "host:services host:network host:mounts",
    "scout": "nodes peek exec find delta emit beam ps df zfs:pools zfs:datasets zfs:snapshots logs:syslog logs:journal "
    "logs:dmesg logs:auth",
}
OPERATIONS = [(tool, operation) for tool, operations in TABLES.items() for operation in operations]
ENGINE = EngineFacts(name="shop-1", server_version="28.5.1", api_version="1.51")
NOT_IN_A_SNAPSHOT = {
    "host:mounts",
    "df",
    "docker:images",
    "docker:rmi",
    "docker:prune",
    "peek",
    "find",
    "delta",
    "emit",
}
CODES = {"answered": None, "denied": "permission_denied", "elsewhere": "not_available"}


def make_context(**parts: Any) -> Context:
    story = logs(line("Ready", at=ago(50)), line("ready now", at=ago(40), stream="stderr"))
    more = logs(line("db ready", at=ago(45)))
    facts = snapshot(
        container(name="api", compose=compose("api"), labels={"team": "red"}, logs=story),
        exited(3, name="shop-db-1", compose=compose("db"), logs=more),
        container(name="lonely", image="other:2"),
        networks=(),
        volumes=(),
        engine=ENGINE,
    )
    return replace(context_of(facts), **parts)


def ask(tool: str, context: Context | None = None, /, **payload: Any) -> Any:
    return call_tool(context or make_context(), tool, payload)


def test_the_table_has_every_key_of_the_starting_document() -> None:
    assert {tool: " ".join(one.key for one in operations) for tool, operations in TABLES.items()} == KEYS
    kinds = [str(operation.kind) for _, operation in OPERATIONS]
    assert {kind: kinds.count(kind) for kind in CODES} == {"answered": 24, "denied": 20, "elsewhere": 11}
    assert PREVIEWS.keys() <= {operation.key for _, operation in OPERATIONS if operation.kind == "denied"}


@table("tool", list(TABLES))
def test_every_operation_does_what_its_row_says(tool: str) -> None:
    for operation, payload in good_inputs(tool, container="lonely"):
        envelope = ask(tool, **payload)
        code = envelope.code.value if envelope.code is not None else None
        if operation.key in NOT_IN_A_SNAPSHOT:
            assert code in ("not_available", "invalid_input"), operation.key
            continue
        assert code == CODES[operation.kind], (operation.key, envelope.data())
        details = envelope.error.details if envelope.error is not None else {}
        if operation.kind == "denied":
            assert details["reason"] == "level_1"
            assert details["instead"]["tool"] in ("diagnose_container", "diagnose_all", "get_disk_usage", "scout")
            assert isinstance(details["command"], list)
        if operation.kind == "elsewhere":
            assert "{" not in str(details["would_help"])


def test_no_command_is_told_where_an_agent_could_run_it() -> None:
    context = make_context(tells_commands=False)
    for tool in TABLES:
        for operation, payload in good_inputs(tool, container="lonely"):
            error = ask(tool, context, **payload).error
            details = error.details if error is not None else {}
            assert not details.get("command"), operation.key
            assert not details.get("would_help") or operation.key in NOT_IN_A_SNAPSHOT, operation.key
    assert ask("restart_service", context, service="lonely").error.details["command"] == []


# ---- the fields


def limits_of(kind: Any) -> list[tuple[Any, bool]]:
    """Values at, below and beyond the limits of a field's type, each with whether it is taken."""
    if get_origin(kind) is Literal:
        return [*((word, True) for word in get_args(kind)), ("no such", False), (3, False)]
    bounds = list(getattr(kind, "__metadata__", ()))
    text = next((one for one in bounds if getattr(one, "pattern", None) is not None), None)
    numbers = {name: value for one in bounds for part in getattr(one, "metadata", ()) for name, value in vars_of(part)}
    if "ge" in numbers:
        low, high = numbers["ge"], numbers["le"]
        return [
            (low, True),
            (high, True),
            (low - 1, False),
            (high + 1, False),
            ("x", False),
            (True, False),
            (1.5, False),
        ]
    if text is not None:
        longest = getattr(text, "max_length", None)
        too_long = [("a" * longest, True), ("a" * (longest + 1), False)] if longest else []
        return [("", False), ("a\nb", False), (3, False), *too_long]
    return []


def vars_of(part: Any) -> list[tuple[str, Any]]:
    return [(name, getattr(part, name)) for name in ("ge", "le") if hasattr(part, name)]


EXAMPLES: dict[str, list[tuple[Any, bool]]] = {
    "grep": [("a" * 200, True), ("a" * 201, False), *((f"a{sign}b", False) for sign in ";&|`$()<>{}[]\\\"'\n\r\t")],
    "host": [("a-b_C9", True), ("a.b", False), ("a b", False)],
    "container_id": [("web_1.x-2", True), ("../x", False), ("web*", False)],
    "since": [("1h", True), ("30m", True), ("2024-01-15T10:00:00Z", True), ("soon", False), (7, False)],
    "target": [("h:/a", True), ("h:a", False), ("/a", False), ("a.b:/c", False)],
    "targets": [(["h:/a"], True), ([], False), (["h:/a"] * 21, False), (["x"], False)],
    "content": [("a" * 65_536, True), ("a" * 65_537, False)],
    "pull": [(True, True), (False, True), (1, False), ("yes", False)],
}
EXAMPLES["until"] = EXAMPLES["since"]


@table("tool", list(TABLES))
def test_each_field_is_taken_at_its_limits_and_refused_beyond_by_its_name(tool: str) -> None:
    tried = 0
    for operation, payload in good_inputs(tool):
        model = make_model(tool, operation)
        for spec in read_fields(operation.fields):
            if spec.default is ...:
                refused = {name: value for name, value in payload.items() if name != spec.name}
                assert errors_of(model, refused) == [(spec.name,)], (operation.key, spec.name)
            key = next(one for one in FIELDS if one.partition("~")[0] == spec.name and is_type(FIELDS[one], spec.type))
            for value, is_taken in (*limits_of(FIELDS[key]), *EXAMPLES.get(key, ())):
                tried += 1
                wrong = errors_of(model, {**payload, spec.name: value})
                assert wrong == [] if is_taken else {one[0] for one in wrong} == {spec.name}, (
                    operation.key,
                    spec,
                    value,
                )
        assert errors_of(model, {**payload, "nonsense": 1}) == [("nonsense",)]
    assert tried > 50


def is_type(kind: Any, used: Any) -> bool:
    return bool(used in (kind, kind | None))


def errors_of(model: type[Any], payload: dict[str, Any]) -> list[tuple[Any, ...]]:
    try:
        model.model_validate(payload, context={NOW: NOON})
    except ValidationError as error:
        return [one["loc"] for one in error.errors()]
    return []


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 12_000),
    st.text(max_size=12),
    st.sampled_from(["running", "all", "1h", "a:/b"]),
)


@pytest.mark.slow
@table("tool", list(TABLES))
def test_what_an_operation_takes_the_published_schema_takes_too(tool: str) -> None:
    flat = find_tool(tool).input_model
    published = set(compact_schema(find_tool(tool))["properties"])

    @settings(max_examples=150, deadline=None, database=None, derandomize=True)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        operation, payload = data.draw(st.sampled_from(list(good_inputs(tool))))
        names = [spec.name for spec in read_fields(operation.fields)]
        drawn = data.draw(st.dictionaries(st.sampled_from([*names, "response_format"]), VALUES, max_size=3))
        asked = {**payload, **drawn}
        wrong, loose = errors_of(make_model(tool, operation), asked), errors_of(flat, asked)
        assert {one[0] for one in loose} <= {one[0] for one in wrong}, "what the operation takes, the schema takes"
        assert asked.keys() <= published

    check()


@table(
    ("tool", "payload", "field"),
    [
        ("flux", {}, "action"),
        ("flux", {"action": "contaner"}, "action"),
        ("flux", {"action": "container"}, "subaction"),
        ("flux", {"action": "container", "subaction": "lits"}, "subaction"),
        ("scout", {"action": "zfs"}, "subaction"),
        ("scout", {"action": "nodes", "subaction": "x"}, "subaction"),
        ("flux", {"action": "container", "subaction": "logs"}, "container_id"),
        ("flux", {"action": "container", "subaction": "logs", "container_id": "api", "lnes": 3}, "lnes"),
        ("flux", {"action": "host", "subaction": "status", "host": "dookie"}, "host"),
        ("scout", {"action": "peek", "target": "dookie:/x"}, "host"),
        ("scout", {"action": "delta", "source": "/a"}, "target"),
        ("flux", {"action": "help", "topic": "contaner"}, "topic"),
    ],
)
def test_what_is_wrong_is_named(tool: str, payload: dict[str, Any], field: str) -> None:
    error = ask(tool, **payload).error
    assert error.code == "invalid_input"
    assert error.details["errors"][0]["field"] == field


# ---- the answers


@table(
    ("key", "fields", "names"),
    [
        ("container:list", {}, ["api", "shop-db-1", "lonely"]),
        ("container:list", {"state": "exited"}, ["shop-db-1"]),
        ("container:list", {"name_filter": "DB"}, ["shop-db-1"]),
        ("container:list", {"image_filter": "other"}, ["lonely"]),
        ("container:list", {"label_filter": "team=red"}, ["api"]),
        ("container:list", {"label_filter": "team=blue"}, []),
        ("container:list", {"limit": 1, "offset": 1}, ["shop-db-1"]),
        ("container:search", {"query": "RED"}, ["api"]),
        ("container:search", {"query": "other:"}, ["lonely"]),
        ("compose:list", {"host": "localhost"}, ["shop"]),
        ("compose:list", {"host": "shop-1", "name_filter": "x"}, []),
    ],
)
def test_lists_are_filtered_and_paged(key: str, fields: dict[str, Any], names: list[str]) -> None:
    action, _, subaction = key.partition(":")
    answer = ask("flux", action=action, subaction=subaction, **fields).value
    assert [row.name for row in answer.rows] == names
    assert answer.total >= len(names)


@table(
    ("fields", "lines"),
    [
        ({}, ["api Ready", "shop-db-1 db ready", "api stderr: ready now"]),
        ({"lines": 2}, ["shop-db-1 db ready", "api stderr: ready now"]),
        ({"service": "api"}, ["api Ready", "api stderr: ready now"]),
        ({"grep": "ready"}, ["shop-db-1 db ready", "api stderr: ready now"]),
        ({"since": "43s"}, ["api stderr: ready now"]),
    ],
)
def test_the_logs_of_a_project_are_merged_by_time(fields: dict[str, Any], lines: list[str]) -> None:
    payload = {"action": "compose", "subaction": "logs", "host": "localhost", "project": "shop", **fields}
    shown = view("flux", {**payload, "response_format": "json"})
    assert [entry.partition(" ")[2] for entry in json.loads(shown)["untrusted"]] == lines


def view(tool: str, payload: dict[str, Any]) -> str:
    chosen = find_tool(tool).for_input(payload)
    options, rest = split_options(payload, chosen)
    return render_answer(chosen, call_tool(make_context(), tool, rest), options, "h1", NOON).body


def test_agents_read_markdown_unless_they_ask_for_json_and_turn_pages() -> None:
    payload = {"action": "container", "subaction": "list", "limit": 2}
    assert view("flux", payload).startswith("**flux**: clusterName h1")
    first = json.loads(view("flux", {**payload, "response_format": "json"}))
    assert [row["name"] for row in first["rows"]] == ["api", "shop-db-1"]
    second = json.loads(view("flux", {**payload, "response_format": "json", "offset": first["more"]["next"]["offset"]}))
    assert [row["name"] for row in second["rows"]] == ["lonely"]


def test_a_grep_of_the_starting_document_tells_capitals_apart() -> None:
    payload = {"action": "container", "subaction": "logs", "container_id": "api", "grep": "ready"}
    assert [entry.message for entry in ask("flux", **payload).value.entries] == ["ready now"]


def test_a_project_is_shown_with_what_is_wrong_with_each_container() -> None:
    answer = ask("flux", action="compose", subaction="status", host="localhost", project="shop").value
    assert [(row.container, row.status) for row in answer.rows] == [("shop-db-1", "error"), ("api", "healthy")]
    assert "exited with code 3" in answer.rows[0].summary
    missing = ask("flux", action="compose", subaction="status", host="localhost", project="shpo").error
    assert (missing.code, missing.details["near_matches"]) == ("compose_file_not_found", ("shop",))


def test_the_space_is_that_of_the_file_system_that_a_path_is_in() -> None:
    disks = tuple(
        DiskFacts(path=path, used_ratio=0.5, total_bytes=2**30, free_bytes=2**29) for path in ("/var", "/srv")
    )
    context = context_of(snapshot(container(), disks=disks))
    shown = ask("scout", context, action="df", host="localhost", path="/var/lib/docker").value
    assert [(row.path, row.used_percent, row.free) for row in shown] == [("/var", 50.0, "512.0 MiB")]
    assert len(ask("scout", context, action="df", host="localhost").value) == 2


def test_help_is_made_of_the_table() -> None:
    everything = ask("flux", action="help").value
    assert " ".join(row.key for row in everything) == KEYS["flux"]
    row = ask("flux", action="help", topic="container:logs").value[0]
    assert row.fields == (
        *("container_id (required)", "host", "lines = 100", "since", "until", "grep", "stream = both"),
    )
    assert {one.key for one in ask("scout", action="help", topic="zfs").value} == {
        *("zfs:pools", "zfs:datasets", "zfs:snapshots"),
    }


def test_words_of_a_command_line_are_numbers_and_lists() -> None:
    words = Words({"action": "container", "subaction": "list", "limit": "1"})
    assert len(call_tool(make_context(), "flux", words).value.rows) == 1
    words = Words({"action": "emit", "targets": "localhost:/a,localhost:/b", "command": "ls"})
    assert call_tool(make_context(), "scout", words).code == "permission_denied"
