"""Promise: raw Engine JSON becomes facts; what is missing is None with its reason, and nonsense never raises."""

import copy
import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bcon_exporter.engine.parse import (
    has_changed,
    parse_container,
    parse_engine,
    parse_engine_start,
    parse_network,
    parse_placement,
    parse_volume,
    update_listed,
)
from bcon_exporter.engine.parse.container import parse_compose
from bcon_exporter.engine.parse.json_fields import from_epoch, parse_time
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus, Limits, Mount, VolumeFacts
from bcon_exporter.model.naming import normalise_name
from bcon_exporter.model.wiring import Wiring
from tests.table_rows import table

ID = "1d9ce5dc444139c94e0ffda0e4e5c52d67a15b50496f8eccdc30b5b3a711ae4d"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DEFAULT_BRIDGE = {"com.docker.network.bridge.default_bridge": "true"}


def make_listed(**changes: Any) -> dict[str, Any]:
    return {
        "Id": ID,
        "Names": ["/shop-web-1"],
        "Image": "shop/web:1",
        "ImageID": "sha256:e807",
        "Created": 1795300183,
        "Ports": [
            {"IP": "0.0.0.0", "PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"},
            {"IP": "::", "PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"},
            {"PrivatePort": 9000, "Type": "tcp"},
        ],
        "Labels": {
            "com.docker.compose.project": "shop",
            "com.docker.compose.service": "web",
            "com.docker.compose.container-number": "1",
            "com.docker.compose.oneoff": "False",
            "com.docker.compose.project.config_files": "/srv/a.yml,/srv/b.yml",
            "com.docker.compose.project.working_dir": "/srv",
            "backup.password": "hunter2",
        },
        "State": "running",
        "Status": "Up 2 hours (unhealthy)",
        "NetworkSettings": {"Networks": {"shop_default": {"Aliases": None, "IPAddress": "172.18.0.2"}}},
        "Mounts": [{"Type": "volume", "Name": "data", "Source": "/x/_data", "Destination": "/data", "RW": True}],
    } | changes


def make_inspected(**changes: Any) -> dict[str, Any]:
    return {
        "Id": ID,
        "Name": "/shop-web-1",
        "Created": "2026-11-21T22:29:43.463183262Z",
        "Image": "sha256:e807",
        "RestartCount": 2,
        "State": {
            "Status": "running",
            "Running": True,
            "OOMKilled": False,
            "Pid": 303,
            "ExitCode": 0,
            "Error": "",
            "StartedAt": "2026-11-21T22:29:43.844414743Z",
            "FinishedAt": "0001-01-01T00:00:00Z",
            "Health": {
                "Status": "unhealthy",
                "FailingStreak": 7,
                "Log": [
                    {
                        "Start": f"2026-11-21T22:29:4{i}.844829097Z",
                        "End": f"2026-11-21T22:29:4{i}.93993843Z",
                        "ExitCode": 1,
                        "Output": f"\x1b[31mprobe {i}\x1b[0m token=abc\n",
                    }
                    for i in range(7)
                ],
            },
        },
        "HostConfig": {
            "LogConfig": {"Type": "json-file"},
            "RestartPolicy": {"Name": "on-failure", "MaximumRetryCount": 3},
            "NanoCpus": 500_000_000,
            "Memory": 67_108_864,
            "PidsLimit": None,
            "CpusetCpus": "",
            "CgroupParent": "/bcon",
            "NetworkMode": "shop_default",
            "Tmpfs": {"/run": "", "/work": "rw,exec,size=1m"},
        },
        "Config": {
            "Image": "shop/web:1",
            "Tty": False,
            "StopSignal": "SIGQUIT",
            "Labels": make_listed()["Labels"],
            "Healthcheck": {"Test": ["CMD", "x"], "Interval": 1_000_000_000, "Timeout": 2_500_000_000},
        },
        "NetworkSettings": {
            "Networks": {"shop_default": {"Aliases": ["web", "1d9ce5dc4441"], "IPAddress": "172.18.0.2"}}
        },
        "Mounts": make_listed()["Mounts"],
    } | changes


def parse(listed: Any, inspected: Any = None) -> ContainerFacts:
    facts = parse_container(listed, inspected)
    assert facts is not None
    return facts


def with_state(**state: Any) -> ContainerFacts:
    return parse(make_listed(), make_inspected(State=make_inspected()["State"] | state))


def with_host_config(**changes: Any) -> ContainerFacts:
    return parse(make_listed(), make_inspected(HostConfig=make_inspected()["HostConfig"] | changes))


@pytest.mark.parametrize(
    ("config", "has_person"),
    [
        ({"Tty": True, "AttachStdin": True}, True),
        ({"Tty": True, "AttachStdin": False}, None),
        ({"Tty": False, "AttachStdin": True}, None),
        ({}, None),
    ],
)
def test_a_terminal_to_type_at_tells_of_a_person(config: dict[str, Any], *, has_person: bool | None) -> None:
    assert parse(make_listed(), make_inspected(Config=config)).has_person is has_person


@pytest.mark.parametrize(
    ("endpoint", "address"),
    [
        ({"IPAddress": "172.18.0.2", "IPAMConfig": {"IPv4Address": "172.18.0.9"}}, "172.18.0.2"),
        ({"IPAddress": "", "IPAMConfig": {"IPv4Address": "172.18.0.9"}}, "172.18.0.9"),
        ({"IPAddress": "", "IPAMConfig": {"IPv6Address": "fd00::9"}}, "fd00::9"),
        ({"IPAddress": "", "IPAMConfig": None}, None),
    ],
)
def test_a_stopped_container_keeps_the_address_that_is_fixed(endpoint: dict[str, Any], address: str | None) -> None:
    facts = parse(make_listed(), make_inspected(NetworkSettings={"Networks": {"shop_default": endpoint}}))
    assert [network.ip_address for network in facts.networks] == [address]


@pytest.mark.parametrize(
    ("listed", "error", "state"),
    [
        ("removing", "driver overlay2 failed to remove root filesystem", ContainerState.DEAD),
        ("dead", "", ContainerState.DEAD),
        ("removing", "", ContainerState.REMOVING),
        ("running", "", ContainerState.REMOVING),
    ],
)
def test_only_a_removal_that_has_failed_leaves_a_dead_container(listed: str, error: str, state: ContainerState) -> None:
    inspected = make_inspected(State={"Status": "dead", "Dead": True, "Error": error})
    assert parse(make_listed(State=listed), inspected).state is state


def test_a_running_container_has_all_its_facts() -> None:
    facts = parse(make_listed(), make_inspected())
    assert facts.unread == {}
    assert (facts.id, facts.name, facts.image) == (ID, "shop-web-1", "shop/web:1")
    assert facts.state is ContainerState.RUNNING
    assert facts.started_at == datetime(2026, 11, 21, 22, 29, 43, 844414, tzinfo=UTC)
    assert facts.finished_at is None
    assert facts.exit_code is None
    assert facts.restart_policy == "on-failure:3"
    assert facts.stop_signal == "SIGQUIT"
    assert facts.limits == Limits(memory_bytes=67_108_864, cpus=0.5)
    assert facts.ports == {"80/tcp": "8080", "9000/tcp": None}
    assert facts.networks[0].aliases == ("web", "1d9ce5dc4441")
    assert facts.mounts == (
        Mount(type="volume", source="data", target="/data"),
        Mount(type="tmpfs", source="", target="/run"),
        Mount(type="tmpfs", source="", target="/work", allows_exec=True),
    )


def test_the_compose_identity_is_what_the_labels_claim() -> None:
    compose = parse(make_listed()).compose
    assert compose is not None
    assert (compose.project, compose.service, compose.number, compose.oneoff) == ("shop", "web", 1, False)
    assert compose.config_files == ("/srv/a.yml", "/srv/b.yml")
    assert parse(make_listed(Labels={"com.docker.compose.project": "shop"})).compose is None


def test_label_values_are_masked() -> None:
    assert parse(make_listed(), make_inspected()).labels["backup.password"] == "***"


def test_without_inspect_each_missing_fact_has_its_reason() -> None:
    facts = parse_container(make_listed(), None, unread_reason="timed out")
    assert facts is not None
    assert facts.restart_count is None
    assert facts.limits is None
    assert {facts.unread[name] for name in ("restart_count", "limits", "oom_killed", "tty", "started_at")} == {
        "timed out"
    }
    assert facts.health is not None
    assert facts.health.status is HealthStatus.UNHEALTHY


def test_the_status_text_tells_the_exit_code_where_inspect_is_missing() -> None:
    assert parse(make_listed(State="exited", Status="Exited (137) 3 days ago")).exit_code == 137


def test_probes_are_the_last_five_newest_last_cleaned_and_masked() -> None:
    health = parse(make_listed(), make_inspected()).health
    assert health is not None
    assert [probe.output for probe in health.probes] == [f"probe {i} token=***" for i in range(2, 7)]
    assert (health.failing_streak, health.timeout_seconds, health.interval_seconds) == (7, 2.5, 1.0)
    assert (health.start_period_seconds, health.retries) == (0.0, 3)


def test_a_start_failure_keeps_its_error_and_exit_code() -> None:
    facts = with_state(
        Status="created", ExitCode=127, Error='exec: "nosuch": not found', StartedAt="0001-01-01T00:00:00Z"
    )
    assert facts.state is ContainerState.CREATED
    assert facts.exit_code == 127
    assert facts.error == 'exec: "nosuch": not found'
    assert facts.started_at is None


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("exited", ContainerState.EXITED),
        ("stopped", ContainerState.EXITED),
        ("configured", ContainerState.CREATED),
        ("initialized", ContainerState.CREATED),
        ("stopping", ContainerState.RUNNING),
        ("paused", ContainerState.PAUSED),
        ("Removing", ContainerState.REMOVING),
    ],
)
def test_states_of_docker_and_podman_are_known(name: str, state: ContainerState) -> None:
    assert with_state(Status=name).state is state


def test_an_unknown_state_is_told_by_flags_and_else_stated_as_unread() -> None:
    assert with_state(Status="odd", Running=True, Paused=True).state is ContainerState.PAUSED
    assert "state" in parse({"Id": ID, "State": "odd", "Status": ""}).unread


@pytest.mark.parametrize(
    ("changes", "limits"),
    [
        ({"Memory": 0, "NanoCpus": 0}, Limits()),
        ({"NanoCpus": 0, "CpuQuota": 20_000, "CpuPeriod": 0, "Memory": 0}, Limits(cpus=0.2)),
        ({"NanoCpus": 0, "CpuQuota": 150_000, "CpuPeriod": 50_000, "Memory": 0}, Limits(cpus=3.0)),
        ({"NanoCpus": 0, "CpuQuota": -1, "Memory": 0}, Limits()),
        ({"PidsLimit": -1, "Memory": 0, "NanoCpus": 0}, Limits()),
        ({"PidsLimit": 0, "Memory": 0, "NanoCpus": 0}, Limits()),
        (
            {"PidsLimit": 1, "Memory": 1, "NanoCpus": 0, "CpusetCpus": "0-1"},
            Limits(pids=1, memory_bytes=1, cpuset_cpus="0-1"),
        ),
    ],
)
def test_limits_that_are_not_set_are_none(changes: dict[str, Any], limits: Limits) -> None:
    assert with_host_config(**changes).limits == limits


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        ({"Name": "no"}, "no"),
        ({"Name": ""}, "no"),
        ({"Name": "always"}, "always"),
        ({"Name": "unless-stopped", "MaximumRetryCount": 0}, "unless-stopped"),
        ({"Name": "on-failure", "MaximumRetryCount": 0}, "on-failure"),
        ({"Name": "on-failure", "MaximumRetryCount": 3}, "on-failure:3"),
    ],
)
def test_restart_policies_read_as_compose_writes_them(policy: dict[str, Any], text: str) -> None:
    assert with_host_config(RestartPolicy=policy).restart_policy == text


@pytest.mark.parametrize(
    ("address", "text"),
    [("0.0.0.0", "8080"), ("", "8080"), ("127.0.0.1", "127.0.0.1:8080"), ("::1", "[::1]:8080"), ("::", "[::]:8080")],
)
def test_ports_name_their_address_unless_it_is_all(address: str, text: str) -> None:
    ports = [{"IP": address, "PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"}]
    assert parse(make_listed(Ports=ports)).ports == {"80/tcp": text}


def test_ports_of_a_stopped_container_are_those_it_exposes() -> None:
    config = make_inspected()["Config"] | {"ExposedPorts": {"80/tcp": {}, "53/udp": {}}}
    assert parse(make_listed(Ports=[]), make_inspected(Config=config)).ports == {"80/tcp": None, "53/udp": None}


def test_placement_tells_where_processes_are() -> None:
    placement = parse_placement(make_inspected())
    assert (placement.pid, placement.cgroup_parent, placement.own_network) == (303, "/bcon", True)
    stopped = make_inspected(State={"Pid": 0})
    assert parse_placement(stopped).pid is None
    for mode in ("host", "container:abc", "none"):
        shared = make_inspected(HostConfig={"NetworkMode": mode})
        assert parse_placement(shared).own_network is False


def test_a_link_alias_is_not_taken_for_the_name() -> None:
    assert parse(make_listed(Names=["/other/alias", "/mine"])).name == "mine"


@pytest.mark.parametrize(
    ("name", "normal"),
    [("1d9ce5dc4441_shop-web-1", "shop-web-1"), ("1d9ce5dc444_web", "1d9ce5dc444_web"), ("web", "web")],
)
def test_only_composes_temporary_prefix_is_taken_off(name: str, normal: str) -> None:
    assert normalise_name(name) == normal


def test_time_passing_is_no_change_of_a_list_entry() -> None:
    before = make_listed()
    assert not has_changed(before, make_listed())
    assert not has_changed(before, make_listed(Status="Up 3 hours (unhealthy)"))
    assert not has_changed(make_listed(Status="Up About an hour"), make_listed(Status="Up 2 hours"))
    assert not has_changed(
        make_listed(Status="Exited (1) 59 seconds ago"), make_listed(Status="Exited (1) 2 minutes ago")
    )
    mounts, ports = [{"Name": "a"}, {"Name": "b"}], [{"PrivatePort": 80}, {"PrivatePort": 81}]
    assert not has_changed(make_listed(Mounts=mounts, Ports=ports), make_listed(Mounts=mounts[::-1], Ports=ports[::-1]))
    assert has_changed(make_listed(Mounts=mounts), make_listed(Mounts=mounts[:1]))
    assert has_changed(before, make_listed(Status="Up 3 hours (healthy)"))
    assert has_changed(before, make_listed(Status="Exited (0) 1 second ago"))
    assert has_changed(make_listed(Status="Exited (1) 1 day ago"), make_listed(Status="Exited (2) 1 day ago"))
    assert has_changed(before, make_listed(Names=["/other"]))
    assert has_changed(before, make_listed(Status=None))


def test_an_unchanged_container_keeps_its_facts_but_for_the_status_text() -> None:
    facts = parse(make_listed(), make_inspected())
    assert update_listed(facts, make_listed()) is facts
    later = update_listed(facts, make_listed(Status="Up 3 hours"))
    assert later.status_text == "Up 3 hours"
    assert later.model_copy(update={"status_text": facts.status_text}) == facts


@table(
    ("text", "at"),
    [
        ("2026-11-21T22:29:43.463183262Z", datetime(2026, 11, 21, 22, 29, 43, 463183, tzinfo=UTC)),
        ("2026-11-21T22:29:43.4Z", datetime(2026, 11, 21, 22, 29, 43, 400000, tzinfo=UTC)),
        ("2026-11-21T22:29:43Z", datetime(2026, 11, 21, 22, 29, 43, tzinfo=UTC)),
        ("2026-11-21T23:29:43.4631832+01:00", datetime(2026, 11, 21, 22, 29, 43, 463183, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", None),
        ("", None),
        ("yesterday", None),
        (None, None),
        (12, None),
        ("9999-12-31T23:59:59-23:59", None),
    ],
)
def test_times_are_truncated_to_microseconds_and_the_zero_time_is_none(text: Any, at: datetime | None) -> None:
    assert parse_time(text) == at


def test_epoch_times_out_of_range_are_none() -> None:
    assert from_epoch(None) is None
    assert from_epoch(0) is None
    assert from_epoch(2**62) is None
    assert from_epoch(1, 1_500_000_000) == datetime(1970, 1, 1, 0, 0, 1, 500000, tzinfo=UTC)


def test_names_of_networks_and_volumes_are_masked_by_shape_alone() -> None:
    token, anonymous = "gl" + "pat-" + "a1B2" * 5, "0123456789abcdef" * 4
    network, volume = parse_network({"Id": "1", "Name": f"net-{token}"}), parse_volume({"Name": f"kept-{token}"})
    assert network is not None
    assert volume is not None
    assert token not in network.name + volume.name
    assert [parse_volume({"Name": name}) for name in (anonymous, "shop_data")] == [
        VolumeFacts(name=anonymous, driver=""),
        VolumeFacts(name="shop_data", driver=""),
    ]


def test_engine_facts_from_info_and_version() -> None:
    info = {"Name": "h", "Driver": "overlay2", "CgroupVersion": "v2", "NCPU": 4, "MemTotal": 8, "DockerRootDir": "/d"}
    version = {"Version": "4.3.1", "ApiVersion": "1.41", "Components": [{"Name": "Podman Engine"}]}
    engine = parse_engine(info, version)
    assert (engine.cpu_count, engine.memory_bytes, engine.cgroup_version, engine.is_podman) == (4, 8, "2", True)
    assert parse_engine(None, []).cpu_count is None


@table(
    ("bridge", "expected"),
    [
        ({"Created": "2026-01-01T12:00:00.5Z", "Options": DEFAULT_BRIDGE}, NOON + timedelta(milliseconds=500)),
        ({"Created": "2026-01-01T13:00:00+01:00", "Options": DEFAULT_BRIDGE}, NOON),
        ({"Created": "2026-01-01T12:00:00Z", "Options": {}}, None),
        ({"Created": "0001-01-01T00:00:00Z", "Options": DEFAULT_BRIDGE}, None),
        ({"Created": 12, "Options": DEFAULT_BRIDGE}, None),
        ({"Options": DEFAULT_BRIDGE}, None),
        ({}, None),
        ([], None),
    ],
)
def test_an_engine_came_up_when_it_made_its_default_network(bridge: Any, expected: datetime | None) -> None:
    assert parse_engine_start(bridge) == expected


def test_an_engine_says_who_it_is_and_whether_containers_outlive_it() -> None:
    engine = parse_engine({"ID": "ABCD:EFGH", "LiveRestoreEnabled": True}, {})
    assert (engine.id, engine.keeps_containers) == ("ABCD:EFGH", True)
    assert (parse_engine({}, {}).id, parse_engine({"LiveRestoreEnabled": "yes"}, {}).keeps_containers) == (None, False)


def test_an_engine_cannot_do_what_it_says_and_only_that() -> None:
    assert parse_engine({"SwapLimit": False, "MemoryLimit": True, "CPUShares": None}, {}).cannot == ("memswap_limit",)
    assert parse_engine({}, {}).cannot == ()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
    | st.sampled_from(["\ud800", "0001-01-01T00:00:00Z", "running", "2026-11-21T22:29:43Z", ID]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def _all_paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += _all_paths(inner, (*path, key))
    return found


PATHS = [(0, p) for p in _all_paths(make_listed()) if p] + [(1, p) for p in _all_paths(make_inspected()) if p]


@pytest.mark.slow
@settings(max_examples=400)
@given(st.lists(st.tuples(st.sampled_from(PATHS), JSON), min_size=1, max_size=4))
def test_any_field_of_any_type_gives_facts_or_none_and_never_raises(changes: list[tuple[tuple[int, Any], Any]]) -> None:
    raws: list[Any] = [copy.deepcopy(make_listed()), copy.deepcopy(make_inspected())]
    for (which, path), value in changes:
        target = raws[which]
        for key in path[:-1]:
            try:
                target = target[key]
            except (KeyError, IndexError, TypeError):
                break
        fits = isinstance(path[-1], str) if isinstance(target, dict) else isinstance(target, list)
        if fits and (isinstance(target, dict) or path[-1] in range(len(target))):
            target[path[-1]] = value
    facts = parse_container(raws[0], raws[1])
    parse_placement(raws[1])
    if facts is not None:
        json.loads(facts.model_dump_json())


@given(JSON, JSON)
def test_any_json_at_all_never_raises(first: Any, second: Any) -> None:
    parse_container(first, second)
    parse_placement(first)
    parse_engine(first, second)
    parse_network(first)
    parse_volume(first)


@table("listed", [None, {}, [], "", 0, {"Id": ""}, {"Id": "../images/x"}, {"Id": "a" * 129}, {"Id": 5}])
def test_without_a_usable_id_there_are_no_facts(listed: Any) -> None:
    assert parse_container(listed) is None


def test_parsing_is_cheap() -> None:
    listed, inspected = make_listed(), make_inspected()
    parse(listed, inspected)
    best = float("inf")
    for _ in range(200):  # the best of many: a machine has hiccups
        started = time.thread_time()
        parse(listed, inspected)
        best = min(best, time.thread_time() - started)
    assert best < 0.002


def test_wiring_is_what_was_configured_whether_it_runs_or_not() -> None:
    facts = with_host_config(
        PortBindings={"80/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8080"}], "81/tcp": None},
        ExtraHosts=["db:192.0.2.7", "v6:2001:db8::1", "odd"],
        Links=["/shop-db-1:/shop-web-1/db"],
        ReadonlyRootfs=True,
    )
    assert facts.wiring == Wiring(
        network_mode="shop_default",
        published={"80/tcp": "127.0.0.1:8080"},
        extra_hosts={"db": "192.0.2.7", "v6": "2001:db8::1"},
        links={"db": "shop-db-1"},
        read_only_root=True,
    )


def test_wiring_is_unknown_without_inspect() -> None:
    assert parse(make_listed()).wiring is None


@pytest.mark.parametrize(
    ("labels", "hook", "index", "is_replica"),
    [
        ({"hook": "pre_start", "hook-index": "1"}, "pre_start", 1, False),
        ({"hook": "pre_start"}, "pre_start", None, False),
        ({"hook": "pre_start", "hook-index": "-1"}, "pre_start", None, False),
        ({"hook-index": "1"}, None, None, True),
        ({"hook": ""}, None, None, True),
        ({"oneoff": "True"}, None, None, False),
    ],
)
def test_a_hook_is_known_by_its_label(
    labels: dict[str, str], hook: str | None, index: int | None, *, is_replica: bool
) -> None:
    mine = {"project": "shop", "service": "web", **labels}
    claim = parse_compose({f"com.docker.compose.{key}": value for key, value in mine.items()})
    assert claim is not None
    assert (claim.hook, claim.hook_index, claim.is_replica) == (hook, index, is_replica)
