"""Each rule of `check`: where it says something, and beside it where it must not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

import pytest

from bcon_exporter.compose.failures import explain_failure
from bcon_exporter.compose.wanted_deployment import make_deployment
from bcon_exporter.deployments.check import CHECK_RULES, check_deployment, judge
from bcon_exporter.model.check_report import CheckCode, CheckInput, CheckVerdict
from bcon_exporter.model.container_facts import AddressPool, ContainerState, Limits, NetworkFacts, VolumeFacts
from bcon_exporter.model.deployment import (
    BindSource,
    ComposeRefusal,
    Dependency,
    FilePlace,
    HostFacts,
    ImageFacts,
    KeyLocation,
    MissingEnvFile,
    PathMount,
    WantedDeployment,
    WantedFile,
    WantedHook,
    WantedNetwork,
    WantedVolume,
)
from bcon_exporter.model.wiring import Wiring
from tests.deployments.checking import ENGINE, GIB, IMAGE, check, listening, own, port, said, service, situation
from tests.factories import container, usage
from tests.table_rows import table

BLIND = HostFacts(unseen={"everything": "the engine runs on another machine"})


def test_every_code_has_one_rule() -> None:
    assert sorted(rule.code for rule in CHECK_RULES) == sorted(CheckCode)


def test_nothing_is_said_of_a_plain_service() -> None:
    report = check(service())
    assert said(report) == []
    assert report.verdict is CheckVerdict.OK


def test_who_could_not_judge_everything_does_not_say_that_it_would_come_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(_: object) -> NoReturn:
        raise ZeroDivisionError

    broken = tuple(replace(rule, find=break_down) if rule.code == "port_taken" else rule for rule in CHECK_RULES)
    monkeypatch.setattr(judge, "CHECK_RULES", broken)

    report = check_deployment(situation(service()))

    assert (report.verdict, report.rule_errors) == (CheckVerdict.UNKNOWN, ("port_taken",))
    assert report.summary == "Not everything could be judged: port_taken failed, a defect of bcon-exporter."
    assert report.rule_faults["port_taken"].startswith("port_taken (ZeroDivisionError at test_check_rules.py:")


@table(
    ("wanted", "held", "is_taken"),
    [
        (port(8080), "8080", True),
        (port(8080), "127.0.0.1:8080", True),
        (port(8080, address="127.0.0.1"), "8080", True),
        (port(8080, address="127.0.0.1"), "127.0.0.1:8080", True),
        (port(8080, address="127.0.0.1"), "127.0.0.2:8080", False),
        (port(8080, address="127.0.0.1"), "[::1]:8080", False),
        (port(8080, address="0.0.0.0"), "[::1]:8080", False),
        (port(8080, address="::1"), "[::1]:8080", True),
        (port(8081), "8080", False),
        (port(8080, protocol="udp"), "8080", False),
        (port(8080, 8081), "8080", False),
        (port(8080, 8081), "8080, 127.0.0.1:8081", True),
        (port(8080), "²", False),
    ],
)
def test_port_taken_by_a_container_of_somebody_else(wanted: Any, held: str, is_taken: bool) -> None:
    report = check(service(ports=(wanted,)), containers=[container(name="other", ports={"80/tcp": held})])
    assert said(report) == ([("fails", "port_taken", "web")] if is_taken else [])


@pytest.mark.parametrize(
    ("holder", "is_taken"),
    [
        (own(ports={"80/tcp": "8080"}), False),
        (own(of="api", ports={"80/tcp": "8080"}), False),
        (own("app-orphan-1", of="orphan", ports={"80/tcp": "8080"}), True),
        (own("app-debug-1", of="debug", ports={"80/tcp": "8080"}), True),
        (container(ports={"80/tcp": "8080"}, state=ContainerState.EXITED), False),
        (container(ports={"80/tcp": "8080"}, state=ContainerState.PAUSED), True),
        (container(ports={"80/tcp": None}), False),
    ],
)
def test_port_taken_only_by_what_runs_and_stays(holder: Any, is_taken: bool) -> None:
    services = (service(ports=(port(8080),)), service("api"), service("debug", enabled=False))
    assert said(check(*services, containers=[holder])) == ([("fails", "port_taken", "web")] if is_taken else [])


@pytest.mark.parametrize(
    ("socket", "is_taken"),
    [
        (listening(8080), True),
        (listening(8080, "::"), True),
        (listening(8080, "127.0.0.1"), True),
        (listening(8080, "127.0.0.2"), False),
        (listening(8080, protocol="udp"), False),
        (listening(8081), False),
    ],
)
def test_port_taken_by_a_process_of_the_host(socket: Any, is_taken: bool) -> None:
    host = HostFacts(sockets=(socket,), paths={}, default_log_is_bounded=True)
    report = check(service(ports=(port(8080, address="127.0.0.1"),)), host=host)
    assert said(report) == ([("fails", "port_taken", "web")] if is_taken else [])


def test_the_engine_itself_listens_on_the_port_of_the_container_that_is_replaced() -> None:
    host = HostFacts(sockets=(listening(8080), listening(8080, "::")), paths={}, default_log_is_bounded=True)
    report = check(service(ports=(port(8080),)), containers=[own(ports={"80/tcp": "8080"})], host=host)
    assert said(report) == []


def test_sockets_are_not_judged_beside_a_container_of_the_project_in_the_hosts_network() -> None:
    host = HostFacts(sockets=(listening(8080),), paths={}, default_log_is_bounded=True)
    before = own(wiring=Wiring(network_mode="host"))
    report = check(service(ports=(port(8080),)), containers=[before], host=host)
    assert said(report) == []
    assert ["processes" in one.what for one in report.not_checked] == [True]


def test_port_twice_of_two_services_and_of_replicas_and_within_one() -> None:
    both = check(service("api", ports=(port(80),)), service("web", ports=(port(80, address="127.0.0.1"),)))
    assert said(both) == [("fails", "port_twice", "web")]
    assert said(check(service(ports=(port(80),), replicas=3))) == [("fails", "port_twice", "web")]
    assert said(check(service(ports=(port(80), port(80, target=81))))) == [("fails", "port_twice", "web")]
    assert said(check(service("api", ports=(port(80),)), service(ports=(port(80, protocol="udp"),)))) == []
    assert said(check(service("api", ports=(port(80),)), service(ports=(port(80),), enabled=False))) == []
    assert said(check(service("api", ports=(port(80),)), service(ports=(port(80),), replicas=0))) == []


def test_a_range_has_a_port_for_each_replica_or_is_too_narrow() -> None:
    assert said(check(service(ports=(port(80, 82),), replicas=3))) == []
    assert said(check(service(ports=(port(80, 82),), replicas=4))) == [("fails", "port_twice", "web")]
    fixed = service("api", ports=(port(81),))
    assert said(check(fixed, service(ports=(port(80, 82),), replicas=3))) == [("fails", "port_twice", "web")]


def test_what_starts_only_when_another_one_has_ended_may_have_its_port() -> None:
    later = Dependency(service="init", condition="service_completed_successfully")
    services = (service("init", ports=(port(80),)), service(ports=(port(80),), depends_on=(later,)))
    assert said(check(*services)) == []
    started = later.model_copy(update={"condition": "service_started"})
    services = (services[0], services[1].model_copy(update={"depends_on": (started,)}))
    assert said(check(*services)) == [("fails", "port_twice", "web")]


@pytest.mark.parametrize(
    ("holder", "is_taken"),
    [
        (container(name="front", state=ContainerState.CREATED), True),
        (own("front", of="orphan"), True),
        (own("front"), False),
        (container(name="back"), False),
    ],
)
def test_name_taken(holder: Any, is_taken: bool) -> None:
    report = check(service(container_name="front"), containers=[holder])
    assert said(report) == ([("fails", "name_taken", "web")] if is_taken else [])


def test_name_taken_by_replicas_and_of_names_that_compose_makes() -> None:
    assert said(check(service(container_name="front", replicas=2))) == [("fails", "name_taken", "web")]
    foreign = container(name="app-web-2")
    assert said(check(service(replicas=2), containers=[foreign])) == [("fails", "name_taken", "web")]
    assert said(check(service(), containers=[foreign])) == []


@pytest.mark.parametrize(
    ("name", "is_taken"),
    [("app-web-1999999999", True), ("app-web-2000000001", False), ("app-web-07", False), ("web-1", False)],
)
def test_two_billion_replicas_are_not_counted_out(name: str, is_taken: bool) -> None:
    report = check(service(replicas=2_000_000_000), containers=[container(name=name)])
    assert said(report) == ([("fails", "name_taken", "web")] if is_taken else [])


@table(
    ("name", "is_one"),
    [
        *((name, True) for name in ("app", "app:1", "ghcr.io/x/y__z:1.2-rc_1", "localhost:5000/a", "REG.example:1/a")),
        *((name, True) for name in ("a@sha256:" + "0" * 64, "a:1@sha256:" + "0" * 64, "[::1]:5000/x", "a.b-c--d/e")),
        *(
            (name, False)
            for name in ("MyApp:1", "app:", "a b", "a\0b", "-a", "a/", "a/B", "", "a:b:c", "a..b", "a___b")
        ),
    ],
)
def test_a_name_that_no_image_can_have_fails(name: str, is_one: bool) -> None:
    deployment = make_deployment({"name": "app", "services": {"web": {"image": name or "${NOTHING}"}}}, {"web"})
    assert deployment.wanted.services[0].has_image_name is is_one
    found = said(check(service(has_image_name=is_one)))
    assert found == ([] if is_one else [("fails", "image_missing", "web")])


def test_external_networks_and_volumes_that_are_missing_and_used() -> None:
    wanted = service(networks=("far",), volumes=("store",))
    external: dict[str, Any] = {
        "deployment": situation(wanted).deployment.model_copy(  # type: ignore[union-attr]
            update={
                "networks": (WantedNetwork(key="far", name="far", external=True),),
                "volumes": (WantedVolume(key="store", name="the-store", external=True),),
            }
        )
    }
    found = said(check(wanted, **external))
    assert found == [("fails", "network_missing", "web"), ("fails", "volume_missing", "web")]
    there: dict[str, Any] = {
        "networks": [NetworkFacts(id="1", name="far", driver="bridge")],
        "volumes": [VolumeFacts(name="the-store", driver="local")],
    }
    assert said(check(wanted, **there, **external)) == []
    unread = check(wanted, networks=None, volumes=None, **external)
    assert said(unread) == []
    assert [one.what for one in unread.not_checked] == ["external networks", "external volumes"]


@pytest.mark.parametrize(
    ("name", "subnet", "is_taken"),
    [
        ("wide", "10.77.0.0/16", True),
        ("narrow", "10.77.1.128/25", True),
        ("beside", "10.77.2.0/24", False),
        ("six", "fd00::/64", False),
        ("app_default", "10.77.0.0/16", False),
        ("odd", "no subnet", False),
    ],
)
def test_subnet_taken(name: str, subnet: str, is_taken: bool) -> None:
    wanted = service(networks=("default",))
    network = WantedNetwork(key="default", name="app_default", subnets=("10.77.1.0/24",))
    deployment = situation(wanted).deployment.model_copy(update={"networks": (network,)})  # type: ignore[union-attr]
    existing = NetworkFacts(id="1", name=name, driver="bridge", subnets=(subnet,))
    report = check(wanted, deployment=deployment, networks=[existing])
    assert said(report) == ([("fails", "subnet_taken", "web")] if is_taken else [])


def test_a_bind_mount_of_nothing_is_a_risk_and_fails_where_nothing_may_be_made() -> None:
    host = HostFacts(sockets=(), paths={"/a": False, "/b": True}, default_log_is_bounded=True)
    made, there = BindSource(source="/a", target="/a"), BindSource(source="/b", target="/b")
    strict, unseen = BindSource(source="/a", target="/s", creates=False), BindSource(source="/c", target="/c")
    assert said(check(service(binds=(made, there)), host=host)) == [("risk", "bind_missing", "web")]
    assert said(check(service(binds=(strict,)), host=host)) == [("fails", "bind_missing", "web")]
    report = check(service(binds=(unseen,)), host=host)
    assert (said(report), [one.what for one in report.not_checked]) == ([], ["the path /c"])


def test_a_missing_env_file_stands_beside_the_refusal_of_compose() -> None:
    missing = (MissingEnvFile(path="/srv/web.env", service="web"), MissingEnvFile(path="/srv/x.env"))
    report = check(service(), missing_env_files=missing, refusal=ComposeRefusal(message="no", file="a", line=3))
    assert said(report) == [
        ("fails", "compose_error", None),
        ("fails", "env_file_missing", None),
        ("fails", "env_file_missing", "web"),
    ]
    assert (report.findings[0].file, report.findings[0].line) == ("a", 3)


def test_an_env_file_that_is_missing_counts_once() -> None:
    missing = tuple(MissingEnvFile(path="/srv/.env", service=name) for name in ("api", "web", "worker"))
    failure = explain_failure("env file /srv/.env not found: stat /srv/.env: no such file", ())
    refusal = ComposeRefusal(message=failure.message)
    report = check(service(), missing_env_files=missing, refusal=refusal)
    assert [code for _, code, _ in said(report)] == ["compose_error", "env_file_missing"]
    assert "/srv/.env, which api, web and worker name, is not there." in report.findings[1].message


def test_files_of_secrets_and_configs_that_are_missing_and_used() -> None:
    host = HostFacts(sockets=(), paths={"/t": False, "/u": False, "/c": True}, default_log_is_bounded=True)
    files = {"secrets": (WantedFile(key="t", path="/t"), WantedFile(key="u", path="/u"), WantedFile(key="e"))}
    used = service(secrets=("t", "e"), configs=("c",))
    report = check(used, host=host, **files, configs=(WantedFile(key="c", path="/c"),))
    assert said(report) == [("fails", "secret_missing", "web")]
    report = check(service(configs=("c",)), host=host, configs=(WantedFile(key="c", path="/t"),))
    assert said(report) == [("fails", "config_missing", "web")]


@pytest.mark.parametrize(
    ("facts", "severity"),
    [
        ({}, "risk"),
        ({"pull_policy": "missing"}, "risk"),
        ({"is_built": True}, "risk"),
        ({"pull_policy": "never", "is_built": True}, "risk"),
        ({"pull_policy": "never"}, "fails"),
    ],
)
def test_image_missing(facts: dict[str, Any], severity: str) -> None:
    assert said(check(service(**facts), images={"web": None})) == [(severity, "image_missing", "web")]


def test_an_image_of_which_nothing_is_known_or_that_is_always_pulled_is_not_judged() -> None:
    assert [one.what for one in check(service(), images={}).not_checked] == ["the image app:1 of web"]
    always = check(service(pull_policy="always"))
    assert (said(always), len(always.not_checked)) == ([], 1)


@table(
    ("platform", "image", "emulated", "is_wrong"),
    [
        (None, "amd64", (), False),
        (None, "386", (), False),
        (None, "arm64", (), True),
        (None, "arm64", ("aarch64",), False),
        ("linux/arm64/v8", None, (), True),
        ("linux/arm64", None, ("aarch64",), False),
        ("linux/amd64", "amd64", (), False),
        ("linux", "amd64", (), False),
    ],
)
def test_image_platform(platform: str | None, image: str | None, emulated: tuple[str, ...], is_wrong: bool) -> None:
    host = HostFacts(sockets=(), paths={}, emulated=emulated, default_log_is_bounded=True)
    facts = IMAGE if image is None else IMAGE.model_copy(update={"architecture": image})
    report = check(service(platform=platform), images={"web": facts}, host=host)
    assert said(report) == ([("fails", "image_platform", "web")] if is_wrong else [])


def test_devices_and_runtimes_that_are_missing() -> None:
    host = HostFacts(sockets=(), paths={"/dev/x": False, "/dev/y": True}, default_log_is_bounded=True)
    assert said(check(service(devices=("/dev/x", "/dev/y")), host=host)) == [("fails", "device_missing", "web")]
    assert said(check(service(runtime="rocket"))) == [("fails", "runtime_missing", "web")]
    assert said(check(service(runtime="runc"))) == []
    assert said(check(service(runtime="io.containerd.runc.v2"))) == []


@pytest.mark.parametrize(
    ("runtimes", "hook", "driver", "expected"),
    [
        (("runc",), False, "", [("fails", "runtime_missing", "web")]),
        (("runc",), True, "", []),
        (("runc",), None, "", []),
        (("nvidia", "runc"), False, "nvidia", []),
        (("runc",), False, "cdi", []),
    ],
)
def test_a_gpu_without_a_driver(runtimes: tuple[str, ...], hook: bool | None, driver: str, expected: list[Any]) -> None:
    engine = ENGINE.model_copy(update={"runtimes": runtimes})
    host = HostFacts(sockets=(), paths={}, has_gpu_hook=hook, default_log_is_bounded=True)
    assert said(check(service(gpu_drivers=(driver,)), engine=engine, host=host)) == expected


def test_memory_of_all_that_would_run_just_at_and_just_above_the_hosts() -> None:
    other = container(name="other", limits=Limits(memory_bytes=2 * GIB))
    at = service(memory_limit_bytes=3 * GIB, replicas=2)
    assert said(check(at, containers=[other])) == []
    above = at.model_copy(update={"memory_limit_bytes": 3 * GIB + 1})
    assert said(check(above, containers=[other])) == [("risk", "memory_over_host", None)]
    assert said(check(service(), containers=[container(limits=Limits(memory_bytes=9 * GIB))])) == []
    assert said(check(service(memory_reservation_bytes=9 * GIB))) == [("risk", "memory_over_host", None)]


def test_limit_below_use_of_now_and_of_the_last_day() -> None:
    running = own(usage=usage(memory_usage_bytes=100))
    assert said(check(service(memory_limit_bytes=100), containers=[running])) == []
    assert said(check(service(memory_limit_bytes=99), containers=[running])) == [("risk", "limit_below_use", "web")]
    peaks = {running.id: 200}
    day = check(service(memory_limit_bytes=150), containers=[running], peak_memory_bytes=peaks)
    assert said(day) == [("risk", "limit_below_use", "web")]
    blind = check(service(memory_limit_bytes=99), containers=[own(usage=None)])
    assert (said(blind), len(blind.not_checked)) == ([], 1)


@pytest.mark.parametrize(
    ("origin", "image", "expected"),
    [
        ("file", False, []),
        ("image", True, []),
        ("image", False, [("fails", "dependency_never_ready", "web")]),
        ("none", True, [("fails", "dependency_never_ready", "web")]),
    ],
)
def test_waiting_for_the_health_of_what_has_no_check(origin: Any, image: bool, expected: list[Any]) -> None:
    waiting = service(depends_on=(Dependency(service="db", condition="service_healthy"),))
    images: dict[str, ImageFacts | None] = {
        "web": IMAGE,
        "db": IMAGE.model_copy(update={"has_health_check": image}),
    }
    assert said(check(service("db", health_check=origin), waiting, images=images)) == expected


def test_waiting_in_vain_only_where_it_is_certain_and_required() -> None:
    healthy = Dependency(service="db", condition="service_healthy")
    optional = healthy.model_copy(update={"required": False})
    assert said(check(service("db", health_check="none"), service(depends_on=(optional,)))) == []
    unknown = check(service("db"), service(depends_on=(healthy,)), images={"web": IMAGE})
    assert said(unknown) == []
    assert len(unknown.not_checked) == 2
    ended = Dependency(service="db", condition="service_completed_successfully")
    for policy, is_wrong in (("always", True), ("unless-stopped", True), ("on-failure", False), ("no", False)):
        report = check(service("db", restart=policy), service(depends_on=(ended,)))
        assert said(report) == ([("fails", "dependency_never_ready", "web")] if is_wrong else [])


@pytest.mark.parametrize(
    ("facts", "bounded", "is_said"),
    [
        ({"log_driver": None}, False, True),
        ({"log_driver": None}, True, False),
        ({"log_driver": None}, None, False),
        ({"log_driver": "json-file"}, False, True),
        ({"log_driver": None, "log_options": ("max-size",)}, False, False),
        ({"log_driver": "local"}, False, False),
    ],
)
def test_log_unbounded(facts: dict[str, Any], bounded: bool | None, is_said: bool) -> None:
    host = HostFacts(sockets=(), paths={}, default_log_is_bounded=bounded)
    report = check(service(**facts), host=host)
    assert said(report) == ([("advice", "log_unbounded", "web")] if is_said else [])
    assert report.verdict is CheckVerdict.OK


def test_advice_on_restart_tags_and_secrets_is_one_line_each() -> None:
    assert said(check(service(restart=""))) == [("advice", "no_restart_policy", "web")]
    assert said(check(service(restart="", runs_once=True))) == []
    for image, is_said in (("app", True), ("reg:5000/app", True), ("app:latest", True), ("app:1", False)):
        assert bool(said(check(service(image=image)))) is is_said, image
    assert said(check(service(image="app@sha256:" + "0" * 64))) == []
    assert said(check(service(image="app", is_built=True))) == []
    secret = check(service(secret_variables=("TOKEN", "PASSWORD")))
    assert said(secret) == [("advice", "secret_in_environment", "web")]


def test_a_finding_stands_where_its_key_stands_or_the_nearest_one_above() -> None:
    places = {
        "services.web": KeyLocation(place=FilePlace(file="a.yaml", line=2)),
        "services.web.ports": KeyLocation(
            place=FilePlace(file="b.yaml", line=5),
            items={"9000:80": FilePlace(file="b.yaml", line=6), "127.0.0.1:8080:80": FilePlace(file="b.yaml", line=7)},
        ),
    }
    report = check(service(ports=(port(8080),), replicas=2, restart=""), places=places)
    assert [(one.code.value, one.file, one.line) for one in report.findings] == [
        ("port_twice", "b.yaml", 7),
        ("no_restart_policy", "a.yaml", 2),
    ]


def test_what_cannot_be_seen_is_told_and_changes_no_verdict() -> None:
    wanted = service(ports=(port(80),), binds=(BindSource(source="/a", target="/a"),), devices=("/dev/x",))
    report = check(wanted, host=BLIND)
    assert report.verdict is CheckVerdict.OK
    assert len(report.not_checked) == 3


def test_the_verdict_is_unknown_only_where_nothing_was_judged() -> None:
    unknown = check_deployment(situation(service(), problem="no binary").model_copy(update={"deployment": None}))
    assert unknown.verdict is CheckVerdict.UNKNOWN
    refused = situation(service(), refusal=ComposeRefusal(message="no")).model_copy(update={"deployment": None})
    assert check_deployment(refused).verdict is CheckVerdict.FAILS


def test_a_check_replays_from_its_input_as_json() -> None:
    given = situation(service(ports=(port(8080),)), containers=[container(ports={"80/tcp": "8080"})])
    again = CheckInput.model_validate_json(given.model_dump_json())
    assert check_deployment(again) == check_deployment(given)
    assert said(check_deployment(again)) == [("fails", "port_taken", "web")]


def test_a_thousand_services_are_judged_with_every_rule() -> None:
    names = [f"s{number}" for number in range(1000)]
    services = [
        service(name, ports=(port(10_000 + number % 900), port(20_000, 29_999)), replicas=2, memory_limit_bytes=1)
        for number, name in enumerate(names)
    ]
    containers = [own(f"app-{name}-1", of=name, ports={"80/tcp": str(40_000 + at)}) for at, name in enumerate(names)]
    host = HostFacts(sockets=tuple(listening(40_000 + at) for at in range(1000)), paths={}, default_log_is_bounded=True)
    report = check(*services, containers=containers, host=host)
    assert {one.code for one in report.findings} == {CheckCode.PORT_TWICE, CheckCode.LIMIT_BELOW_USE}
    assert sum(one.code is CheckCode.PORT_TWICE for one in report.findings) == 1000


ARM = ImageFacts(id="sha256:" + "2" * 64, os="linux", architecture="arm64")


@pytest.mark.parametrize(
    ("hook", "image", "service_says", "expected"),
    [
        ({"image": "tool:1"}, IMAGE, {}, []),
        ({"image": "tool:1"}, None, {}, [("risk", "hook_image_missing", "web")]),
        ({"image": "tool:1"}, None, {"pull_policy": "never"}, [("fails", "hook_image_missing", "web")]),
        ({"image": "tool:1", "is_built": True}, None, {"pull_policy": "never"}, []),
        ({"image": "app:1"}, IMAGE, {}, []),
        ({"image": "Tool:1", "has_image_name": False}, None, {}, [("fails", "hook_image_missing", "web")]),
        ({"image": "tool:1"}, ARM, {}, [("fails", "image_platform", "web")]),
        ({"image": "app:1", "per_replica": True}, IMAGE, {}, [("fails", "compose_error", "web")]),
        (
            {"image": "app:1", "binds": (BindSource(source="/srv/x", target="/x", creates=False),)},
            IMAGE,
            {},
            [("fails", "bind_missing", "web")],
        ),
        ({"image": "app:1", "devices": ("/dev/x",)}, IMAGE, {}, [("fails", "device_missing", "web")]),
    ],
)
def test_a_hook_is_judged_beside_its_service(
    hook: dict[str, Any], image: ImageFacts | None, service_says: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    wanted = WantedHook(name="pre_start[0]", **hook)
    images = {"web": IMAGE, "web pre_start[0]": image}
    host = HostFacts(sockets=(), paths={"/srv/x": False, "/dev/x": False}, emulated=(), default_log_is_bounded=True)
    assert said(check(service(hooks=(wanted,), **service_says), images=images, host=host)) == expected


def test_of_the_image_of_a_hook_that_could_not_be_read_nothing_is_said() -> None:
    wanted = WantedHook(name="pre_start[0]", image="tool:1")
    report = check(service(hooks=(wanted,)), images={"web": IMAGE})
    assert (said(report), report.not_checked[0].what) == ([], "the image tool:1 of web pre_start[0]")


@pytest.mark.parametrize(
    ("programs", "expected"),
    [
        ({"cloud": True, "docker-model": True}, []),
        (
            {"cloud": False, "docker-model": False},
            [("fails", "provider_missing", "db"), ("fails", "provider_missing", "web")],
        ),
        ({}, []),
    ],
)
def test_a_provider_and_models_need_a_program(programs: dict[str, bool], expected: list[tuple[str, str, str]]) -> None:
    services = (service(uses_models=True), service("db", enabled=False, provider="cloud"))
    report = check(*services, programs=programs)
    assert said(report) == expected
    assert len(report.not_checked) == (0 if programs else 2)


def networks(*subnets: str) -> tuple[NetworkFacts, ...]:
    """Networks of the host."""
    return tuple(
        NetworkFacts(id=f"n{index}", name=f"n{index}", driver="bridge", subnets=(subnet,))
        for index, subnet in enumerate(subnets)
    )


def using(*wanted: WantedNetwork, keys: tuple[str, ...] | None = None) -> WantedDeployment:
    """A deployment whose one service uses these networks."""
    used = tuple(network.key for network in wanted) if keys is None else keys
    return WantedDeployment(project="app", services=(service(networks=used),), networks=wanted)


TWO_POOLS = (AddressPool(base="10.0.0.0/23", size=24), AddressPool(base="10.1.0.0/24", size=24))


@pytest.mark.parametrize(
    ("taken", "needed", "expected"),
    [
        (("10.0.0.0/24", "10.0.1.0/24"), 1, 0),
        (("10.0.0.0/24", "10.0.1.0/24", "10.1.0.0/28"), 1, 1),
        (("10.0.0.0/8",), 1, 1),
        ((), 3, 0),
        ((), 4, 1),
        (("192.168.0.0/16", "fd00::/64"), 3, 0),
    ],
)
def test_a_new_network_needs_a_subnet_of_the_engines_pools(taken: tuple[str, ...], needed: int, expected: int) -> None:
    keys = [f"net{index}" for index in range(needed)]
    wanted = tuple(WantedNetwork(key=key, name=f"app_{key}", takes_from_pools=True) for key in keys)
    engine = ENGINE.model_copy(update={"address_pools": TWO_POOLS})
    report = check(deployment=using(*wanted), images={"web": IMAGE}, networks=networks(*taken), engine=engine)
    assert said(report) == [("fails", "address_pools_used_up", "web")] * expected


@pytest.mark.parametrize(
    "network",
    [
        {"external": True, "takes_from_pools": True},
        {"takes_from_pools": False},
        {"name": "n0", "takes_from_pools": True},
        {"key": "unused", "takes_from_pools": True},
    ],
)
def test_a_network_that_takes_no_subnet_from_the_pools_needs_none(network: dict[str, Any]) -> None:
    wanted = WantedNetwork(**{"key": "default", "name": "app_default", **network})
    full = networks("10.0.0.0/8")
    engine = ENGINE.model_copy(update={"address_pools": TWO_POOLS})
    report = check(deployment=using(wanted, keys=("default",)), images={"web": IMAGE}, networks=full, engine=engine)
    assert "address_pools_used_up" not in [code for _, code, _ in said(report)]


def test_the_engines_own_pools_are_those_of_its_source() -> None:
    wanted = (WantedNetwork(key="default", name="app_default", takes_from_pools=True),)
    subnets = [f"172.{second}.0.0/16" for second in range(17, 32)] + [
        f"192.168.{third}.0/20" for third in range(0, 256, 16)
    ]
    all_taken = check(deployment=using(*wanted), images={"web": IMAGE}, networks=networks(*subnets))
    assert said(all_taken) == [("fails", "address_pools_used_up", "web")]
    one_left = check(deployment=using(*wanted), images={"web": IMAGE}, networks=networks(*subnets[1:]))
    assert said(one_left) == []


@pytest.mark.parametrize(
    ("asked", "lies_on", "fails"),
    [
        *(
            (asked, lies_on, lies_on == "private")
            for asked in ("slave", "rslave")
            for lies_on in ("private", "slave", "shared")
        ),
        *(
            (asked, lies_on, lies_on != "shared")
            for asked in ("shared", "rshared")
            for lies_on in ("private", "slave", "shared")
        ),
        ("rprivate", "private", False),
        ("", "private", False),
        ("rslave", None, False),
    ],
)
def test_a_propagation_needs_a_mount_that_allows_it(asked: str, lies_on: str | None, *, fails: bool) -> None:
    mounts = {"/d": PathMount(point="/", propagation=lies_on)} if lies_on else {}
    host = HostFacts(sockets=(), paths={"/d": True}, mounts=mounts, emulated=(), default_log_is_bounded=True)
    report = check(service(binds=(BindSource(source="/d", target="/d", propagation=asked),)), host=host)
    assert said(report) == ([("fails", "mount_not_shared", "web")] if fails else [])
