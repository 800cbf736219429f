"""Field by field: what is declared counts, image defaults merge, what appeared behind Compose's back is seen."""

from __future__ import annotations

import pytest

from bcon_exporter.model.findings import Severity
from bcon_exporter.model.reports import DriftStatus
from bcon_exporter.secrets.normal_form import ABSENT_TEXT
from tests.drift.builders import BASE, drift, kinds, only, project, replica, sealed, service
from tests.table_rows import table

CONFIG = "config_mismatch"


@table(
    "path",
    [
        "environment.A",
        "labels.a",
        "command",
        "ports.80/tcp",
        "volumes./data",
        "mem_limit",
        "restart",
        "cap_add",
        "user",
    ],
)
def test_a_declared_field_is_compared_absent_changed_and_equal(path: str) -> None:
    desired = project(service(fields={path: "one"}))
    assert drift(desired, replica(fields={path: "one"})).status is DriftStatus.SYNCED
    assert kinds(drift(desired, replica(fields={path: "two"}))) == [("web", CONFIG, path)]
    assert kinds(drift(desired, replica())) == [("web", CONFIG, path)]


@table(
    "path",
    [
        "environment.A",
        "labels.a",
        "ports.80/tcp",
        "volumes./data",
        "networks.bridge",
        "mem_limit",
        "restart",
        "cap_drop",
    ],
)
def test_what_appeared_although_nothing_asks_for_it_is_seen(path: str) -> None:
    found = only(drift(project(service()), replica(fields={path: "attached"})))
    assert (found.field, found.expected) == (path, "absent")
    assert found.outside_compose, "the hash is the file's, so nobody but Compose's back did it"


def test_image_defaults_are_expected_and_a_declaration_overrides_them() -> None:
    image = {
        "environment.PATH": "/bin",
        "labels.maintainer": "me",
        "user": "app",
        "volumes./data": "volume (anonymous)",
    }
    assert drift(project(service()), replica(image_fields=image)).status is DriftStatus.SYNCED
    overridden = replica(image_fields=image, fields={"user": "5", "environment.PATH": "/usr/bin"})
    desired = project(service(fields={"user": "5", "environment.PATH": "/usr/bin"}))
    assert drift(desired, overridden).status is DriftStatus.SYNCED
    assert kinds(drift(project(service()), overridden)) == [
        ("web", CONFIG, "environment.PATH"),
        ("web", CONFIG, "user"),
    ]


def test_a_variable_taken_away_must_not_come_from_the_image() -> None:
    desired = project(service(fields={"environment.A": "\0absent"}))
    assert kinds(drift(desired, replica(image_fields={"environment.A": "1"}))) == [("web", CONFIG, "environment.A")]
    assert drift(desired, replica()).status is DriftStatus.SYNCED


def test_an_unread_image_accuses_nobody_of_its_defaults() -> None:
    container = replica(fields={"environment.PATH": "/bin", "mem_limit": "64m"})
    assert container.config is not None
    config = container.config.model_copy(update={"image_fields": None})
    report = drift(project(service()), container.model_copy(update={"config": config}))
    assert kinds(report) == [("web", CONFIG, "mem_limit")]


@pytest.mark.parametrize("path", ["logging.driver", "logging.options.max-size", "ulimits.nofile", "ipc", "hostname"])
def test_what_the_engine_fills_in_counts_only_to_explain_an_unequal_hash(path: str) -> None:
    container = replica(fields={path: "x"})
    assert drift(project(service()), container).status is DriftStatus.SYNCED
    changed = only(drift(project(service()), replica(fields={path: "x"}, claim={"config_hash": "h2"})))
    assert (changed.field, changed.severity) == (path, Severity.INFO)


def test_a_declared_log_driver_has_no_options_but_its_own() -> None:
    desired = project(service(fields={"logging.driver": "local"}))
    container = replica(fields={"logging.driver": "local", "logging.options.max-size": "1m"})
    assert kinds(drift(desired, container)) == [("web", CONFIG, "logging.options.max-size")]


@pytest.mark.parametrize("name", ["HTTP_PROXY", "no_proxy"])
def test_proxy_variables_of_the_docker_configuration_are_no_drift(name: str) -> None:
    assert drift(project(service()), replica(fields={f"environment.{name}": "p"})).status is DriftStatus.SYNCED


def test_a_lost_network_is_one_difference_and_a_lost_alias_is_one() -> None:
    lost = replica()
    assert lost.config is not None
    without = lost.model_copy(update={"config": lost.config.model_copy(update={"fields": {}})})
    found = only(drift(project(service()), without))
    assert (found.field, found.compose_would) == ("networks.shop_default", "recreate")
    path = "networks.shop_default.aliases.db"
    alias = only(drift(project(service(fields={path: "set"})), replica()))
    assert (alias.field, alias.compose_would) == (path, "nothing")


@pytest.mark.parametrize("mode", ["network_mode", "pid", "ipc"])
def test_a_shared_namespace_must_be_the_one_of_the_services_living_container(mode: str) -> None:
    web = replica()
    desired = project(service(), service("side", config_hash=None, fields={mode: "service:web"}))
    good = replica("side", fields={mode: f"container:{web.short_id}"})
    assert drift(desired, web, good).status is DriftStatus.SYNCED
    stale = replica("side", fields={mode: "container:0123456789ab"})
    assert kinds(drift(desired, web, stale)) == [("side", CONFIG, mode)]


def test_mounts_of_volumes_from_are_not_the_files_to_declare() -> None:
    desired = project(service(fields={"volumes_from": "container:files"}))
    shared = replica(fields={"volumes_from": "files", "volumes./x": "volume y"})
    assert drift(desired, shared).status is DriftStatus.SYNCED


def test_mounts_that_came_with_another_containers_volumes_go_with_them() -> None:
    shared = replica(fields={"volumes_from": "files", "volumes./x": "volume y"})
    assert kinds(drift(project(service()), shared)) == [("web", CONFIG, "volumes_from")]


ENTRY = '["/entry"]'
COMMAND = '["serve"]'


@pytest.mark.parametrize(
    ("declared", "runs", "found"),
    [
        ({"entrypoint": ENTRY, "command": ABSENT_TEXT}, {"command": COMMAND}, ["entrypoint"]),
        ({}, {"entrypoint": ENTRY}, ["entrypoint"]),
        ({}, {"entrypoint": ENTRY, "command": '["other"]'}, ["command", "entrypoint"]),
        ({"entrypoint": ENTRY, "command": '["new"]'}, {"command": COMMAND}, ["command", "entrypoint"]),
        ({}, {"command": '["other"]'}, ["command"]),
    ],
)
def test_the_images_command_comes_and_goes_with_an_entrypoint_unnoticed(
    declared: dict[str, str], runs: dict[str, str], found: list[str]
) -> None:
    changed = replica(fields=runs)
    assert changed.config is not None
    config = changed.config.model_copy(update={"image_fields": sealed({"command": COMMAND})})
    report = drift(project(service(fields=declared)), changed.model_copy(update={"config": config}))
    assert [one.field for one in report.differences] == found


def test_an_exposed_port_follows_its_published_one() -> None:
    desired = project(service(fields={"ports.80/tcp": "8080", "expose.80/tcp": "exposed"}))
    assert kinds(drift(desired, replica())) == [("web", CONFIG, "ports.80/tcp")]


@pytest.mark.parametrize(
    ("name", "declared", "same"),
    [
        ("shop-web-1", None, True),
        ("shop_web_1", None, True),
        ("0123456789ab_shop-web-1", None, True),
        ("renamed", None, False),
        ("mine", "mine", True),
        ("shop-web-1", "mine", False),
    ],
)
def test_a_renamed_container_is_seen(*, name: str, declared: str | None, same: bool) -> None:
    fields = {"container_name": declared} if declared else {}
    report = drift(project(service(fields=fields)), replica(name=name))
    assert kinds(report) == ([] if same else [("web", CONFIG, "container_name")])
    if not same:
        assert only(report).compose_would == "nothing"


def test_the_old_container_name_left_as_an_alias_is_part_of_the_rename() -> None:
    desired = project(service(fields={"container_name": "mine"}))
    renamed = replica(name="other", fields={"networks.shop_default.aliases.mine": "set"})
    assert kinds(drift(desired, renamed)) == [("web", CONFIG, "container_name")]


def test_a_value_that_hangs_on_an_unset_variable_is_low_confidence() -> None:
    desired = project(service(fields={"user": ""}, config_hash=None, doubtful=("user",)), unresolved=("WHO",))
    (found,) = drift(desired, replica(fields={"user": "5"})).doubts
    assert (found.severity, found.confidence < 0.5) == (Severity.INFO, True)


def test_environment_values_are_never_said_but_their_change_is() -> None:
    desired = project(service(fields={"environment.MODE": "canary-old", "environment.GONE": "canary-gone"}))
    report = drift(desired, replica(fields={"environment.MODE": "canary-new", "environment.EXTRA": "canary-more"}))
    assert [one.field for one in report.differences] == ["environment.EXTRA", "environment.GONE", "environment.MODE"]
    assert "canary" not in report.model_dump_json()
    changed = report.differences[2]
    assert changed.expected != changed.actual
    assert changed.expected.startswith("set (fingerprint ")


def test_two_values_masked_alike_are_told_apart_by_fingerprint() -> None:
    path = "labels.api_token"
    found = only(drift(project(service(fields={path: "canary-one"})), replica(fields={path: "canary-two"})))
    assert "canary" not in found.model_dump_json()
    assert found.expected != found.actual


def test_docker_update_is_outside_compose_and_left_alone_by_it() -> None:
    found = only(drift(project(service()), replica(fields={"mem_limit": "96m"})))
    assert (found.outside_compose, found.compose_would) == (True, "nothing")


def test_a_missing_volume_makes_compose_recreate() -> None:
    desired = project(service(fields={"volumes./data": "volume shop_data"}))
    assert only(drift(desired, replica())).compose_would == "recreate"


def test_base_fields_fit_each_other() -> None:
    assert BASE.keys() <= service().fields.keys()


def test_an_unequal_hash_is_not_explained_by_what_every_engine_sets() -> None:
    filled = {"cgroup": "host", "ipc": "private", "logging.driver": "json-file", "runtime": "runc"}
    found = only(drift(project(service()), replica(fields=filled, claim={"config_hash": "h0"})))
    assert found.field is None
    more = replica(fields={**filled, "init": "true"}, claim={"config_hash": "h0"})
    assert only(drift(project(service()), more)).field == "init"


@pytest.mark.parametrize("shared", [{"network_mode": "service:db"}, {"network_mode": "host"}, {"uts": "host"}])
def test_an_unequal_hash_is_not_explained_by_a_shared_host_name(shared: dict[str, str]) -> None:
    changed = {"fields": {**shared, "hostname": "other"}, "claim": {"config_hash": "h2"}}
    report = drift(project(service(fields=shared)), replica(**changed))
    assert [one.field for one in report.differences] == [None]
    own = drift(project(service()), replica(fields={"hostname": "other"}, claim={"config_hash": "h2"}))
    assert [one.field for one in own.differences] == ["hostname"]


def test_an_unequal_hash_is_not_explained_by_what_most_containers_of_this_host_have() -> None:
    journal = {"logging.driver": "journald"}
    odd = replica(fields=journal, claim={"config_hash": "h0"})
    others = [replica(f"s{number}", fields=journal, claim={"project": "x"}) for number in range(3)]
    assert only(drift(project(service()), odd)).field == "logging.driver"
    assert only(drift(project(service()), odd, *others)).field is None


@pytest.mark.parametrize("mode", ["container:0123456789ab", "host", "none"])
def test_a_shared_ipc_namespace_is_never_the_engines_own_choice(mode: str) -> None:
    desired = project(service(config_hash=None))
    assert only(drift(desired, replica(fields={"ipc": mode}))).field == "ipc"
    assert drift(desired, replica(fields={"ipc": "shareable"})).status is DriftStatus.SYNCED


def test_the_alias_of_a_host_name_goes_with_it() -> None:
    alias = "networks.shop_default.aliases.old"
    found = only(drift(project(service(fields={"hostname": "new"})), replica(fields={"hostname": "old", alias: "set"})))
    assert found.field == "hostname"


def test_a_secret_from_another_file_was_not_changed_outside_compose() -> None:
    path = "volumes./run/secrets/key"
    desired = project(service(fields={path: "bind /b read-only"}, unhashed=(path,)))
    found = only(drift(desired, replica(fields={path: "bind /a read-only"})))
    assert (found.outside_compose, found.compose_would) == (False, "nothing")
    assert "outside Compose" not in found.message


def test_a_selinux_label_is_excused_only_where_the_engine_adds_it() -> None:
    label = {"security_opt.label=disable": "set"}
    given: tuple[dict[str, str], ...] = ({"privileged": "true"}, {"ipc": "host"}, {"pid": "host"})
    excused = [drift(project(service(fields=own)), replica(fields=own | label)).status for own in given]
    assert excused == [DriftStatus.SYNCED] * 3
    assert kinds(drift(project(service()), replica(fields=label))) == [("web", CONFIG, "security_opt.label=disable")]
