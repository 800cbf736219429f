"""Promise: list, info, stats and logs show what is known, and say so where nothing is."""

import pytest

from bcon_exporter.model.container_facts import ContainerState, EngineFacts, HealthStatus, Mount
from bcon_exporter.tools import call_tool
from tests.factories import ago, compose, container, exited, health, line, logs, network, snapshot, usage
from tests.table_rows import table
from tests.tools.hosts import ScriptedHost, context_of

WEB = container(
    name="web",
    image="registry:5000/shop/web:2",
    labels={"team": "a", "tier": ""},
    compose=compose("web"),
    networks=(network("front"),),
    mounts=(Mount(type="volume", source="data", target="/data"),),
    health=health(HealthStatus.UNHEALTHY),
    ports={"80/tcp": "8080, 127.0.0.1:9443", "81/tcp": None},
    created_at=ago(10),
)
DONE = exited(3, name="done", health=health(HealthStatus.HEALTHY), created_at=ago(20))
LOOP = container(name="loop", state=ContainerState.RESTARTING, usage=None, created_at=ago(30))
HOST = snapshot(
    WEB, DONE, LOOP, engine=EngineFacts(name="h", server_version="20", api_version="1.41", memory_bytes=1000)
)


def names(**payload: object) -> list[str]:
    return [one.name for one in call_tool(context_of(HOST), "list_containers", payload).value]


def test_a_list_shows_what_is_up_and_on_request_the_rest() -> None:
    assert names() == ["web", "loop"]
    assert names(all=True) == ["web", "done", "loop"]


@table(
    ("key", "value", "found"),
    [
        ("name", "we", ["web"]),
        ("status", "exited", ["done"]),
        ("exited", "3", ["done"]),
        ("exited", "0", []),
        ("label", "team", ["web"]),
        ("label", "team=a", ["web"]),
        ("label", "team=b", []),
        ("label", "tier=", ["web"]),
        ("ancestor", "registry:5000/shop/web", ["web"]),
        ("ancestor", "registry:5000/shop/web:2", ["web"]),
        ("ancestor", "registry", []),
        ("health", "unhealthy", ["web"]),
        ("health", "healthy", []),
        ("health", "none", []),
        ("network", "front", ["web"]),
        ("network", "fron", []),
        ("volume", "data", ["web"]),
        ("volume", "/data", ["web"]),
        ("project", "shop", ["web"]),
        ("service", "web", ["web"]),
        ("id", WEB.id[:6], ["web"]),
        ("publish", "8080", ["web"]),
        ("publish", "8000-9000/tcp", ["web"]),
        ("publish", "9443", ["web"]),
        ("publish", "8080/udp", []),
        ("publish", "80", []),
        ("publish", "8081", []),
        ("since", "done", ["web"]),
        ("before", "web", ["loop"]),
        ("before", "done", ["loop"]),
        ("since", "web", []),
    ],
)
def test_filters_mean_what_docker_ps_means(key: str, value: str, found: list[str]) -> None:
    assert names(filters={key: value}) == found


def test_all_filters_must_match() -> None:
    assert names(filters={"name": "web", "label": "team=b"}) == []


def test_a_stopped_container_shows_no_frozen_health_and_a_running_one_no_old_exit() -> None:
    stopped = call_tool(context_of(HOST), "get_container_info", {"container_id": "done"}).value
    running = call_tool(context_of(HOST), "get_container_info", {"container_id": "web"}).value
    assert (stopped.health, stopped.exit_code) == (None, 3)
    assert (running.health, running.exit_code) == (HealthStatus.UNHEALTHY, None)


def test_a_container_is_found_by_name_id_or_prefix_and_missed_with_near_matches() -> None:
    for reference in ("web", WEB.id, WEB.short_id):
        assert call_tool(context_of(HOST), "get_container_info", {"container_id": reference}).value.name == "web"
    error = call_tool(context_of(HOST), "get_container_info", {"container_id": "wbe"}).data()["error"]
    assert (error["code"], error["details"]["near_matches"]) == ("container_not_found", ["web"])


def test_stats_show_percent_of_what_it_may_use_and_the_host_memory_as_limit() -> None:
    stats = call_tool(context_of(HOST), "get_container_stats", {"container_id": "web"}).value
    assert (stats.cpu_percent, stats.cpu_count, stats.memory_limit_bytes, stats.last_known) == (5.0, 2.0, 1000, False)


def test_stats_without_an_earlier_sample_take_a_second_one() -> None:
    facts = snapshot(container(usage=usage(cpu_ratio=None, samples=1)))
    host = ScriptedHost(facts)
    call_tool(context_of(facts, host=host), "get_container_stats", {"container_id": "api"})
    assert [wants.wait_for_usage for wants in host.wants] == [False, True]
    one_shot = ScriptedHost(facts)
    call_tool(context_of(facts, host=one_shot, one_shot=True), "get_container_stats", {"container_id": "api"})
    assert [wants.wait_for_usage for wants in one_shot.wants] == [True]


def test_a_stopped_container_has_its_last_known_stats_or_an_error() -> None:
    known = snapshot(exited(1, name="done", last_usage=usage()))
    assert call_tool(context_of(known), "get_container_stats", {"container_id": "done"}).value.last_known
    error = call_tool(context_of(HOST), "get_container_stats", {"container_id": "done"}).data()["error"]
    assert error["code"] == "invalid_input"
    assert "never seen running" in error["message"]


@pytest.mark.parametrize(("limit", "percent"), [(400, 25.0), (None, 10.0)])
def test_last_known_stats_have_a_memory_percentage_where_usage_and_limit_are_known(
    limit: int | None, percent: float
) -> None:
    last = usage(memory_usage_bytes=100, memory_limit_bytes=limit, memory_ratio=None)
    known = snapshot(exited(1, name="done", last_usage=last), engine=HOST.engine)
    assert call_tool(context_of(known), "get_container_stats", {"container_id": "done"}).value.memory_percent == percent


def test_a_filter_by_age_names_a_container_that_is_there() -> None:
    error = call_tool(context_of(HOST), "list_containers", {"filters": {"since": "wbe"}}).data()["error"]
    assert (error["code"], error["details"]["near_matches"]) == ("container_not_found", ["web"])


def test_no_input_at_all_is_an_empty_one() -> None:
    assert (
        call_tool(context_of(HOST), "list_containers", None).value
        == call_tool(context_of(HOST), "list_containers", {}).value
    )


def test_logs_since_how_long_ago_are_counted_back_from_now() -> None:
    facts = snapshot(container(logs=logs(line("old", at=ago(700)), line("new", at=ago(500)))))
    answer = call_tool(context_of(facts), "get_container_logs", {"container_id": "api", "since": "10m"}).value
    assert [one.message for one in answer.entries] == ["new"]
    assert answer.since == ago(600)


def test_usage_that_could_not_be_read_says_why() -> None:
    facts = snapshot(container(usage=None, unread={"usage": "stats hang"}))
    error = call_tool(context_of(facts), "get_container_stats", {"container_id": "api"}).data()["error"]
    assert error["code"] == "timeout"
    assert "stats hang" in error["message"]
    unknown = call_tool(context_of(snapshot(container(usage=None))), "get_container_stats", {"container_id": "api"})
    assert unknown.data()["error"]["code"] == "docker_connection_failed"


def test_logs_are_the_newest_lines_with_or_without_times() -> None:
    facts = snapshot(container(logs=logs("one", "two", line("three", stream="stderr"))))
    answer = call_tool(context_of(facts), "get_container_logs", {"container_id": "api", "tail": 2, "timestamps": False})
    assert [(one.stream, one.message, one.timestamp) for one in answer.value.entries] == [
        ("stdout", "two", None),
        ("stderr", "three", None),
    ]
    assert call_tool(context_of(facts), "get_container_logs", {"container_id": "api"}).value.entries[0].timestamp


_TWO_RUNS = logs(
    line("first: Hello", at=ago(300)),
    line("first: ERROR 7", at=ago(61), stream="stderr"),
    line("second: hello", at=ago(50)),
    line("second: careful", at=ago(40), stream="stderr"),
)


@table(
    ("asked", "shown"),
    [
        ({"grep": "hello"}, ["first: Hello", "second: hello"]),
        ({"grep": "re:^second.*o$"}, ["second: hello"]),
        ({"grep": "hello", "tail": 1}, ["second: hello"]),
        ({"stream": "stderr"}, ["first: ERROR 7", "second: careful"]),
        ({"stream": "stderr", "tail": 1}, ["second: careful"]),
        ({"stream": "stdout", "grep": "first"}, ["first: Hello"]),
        ({"part": "previous"}, ["first: Hello", "first: ERROR 7"]),
        ({"part": "previous", "stream": "stderr"}, ["first: ERROR 7"]),
        ({"part": "crash", "tail": 2}, ["first: ERROR 7", "second: hello"]),
        ({"part": "crash", "grep": "re:7|careful"}, ["first: ERROR 7", "second: careful"]),
        ({"grep": "", "tail": 1}, "grep"),
        ({"grep": "re:("}, "cannot be used"),
        ({"stream": "stdin"}, "stream"),
        ({"part": "next"}, "part"),
    ],
)
def test_an_agent_gets_the_part_of_a_log_that_a_person_can_have(
    asked: dict[str, object], shown: list[str] | str
) -> None:
    facts = snapshot(container(started_at=ago(55), finished_at=ago(60), logs=_TWO_RUNS))
    answer = call_tool(context_of(facts), "get_container_logs", {"container_id": "api", **asked})
    if isinstance(shown, str):
        assert answer.error is not None
        assert answer.error.code == "invalid_input"
        assert shown in answer.error.message
    else:
        assert [entry.message for entry in answer.value.entries] == shown
