"""Links, shared volumes and mount options are compared by the living container; what an engine drops is no drift."""

from __future__ import annotations

import pytest

from bcon_exporter.model.container_facts import EngineFacts
from tests.drift.builders import drift, kinds, only, project, replica, sealed, service


def engine(*cannot: str) -> EngineFacts:
    """An engine whose kernel does not support these limits."""
    return EngineFacts(name="h", server_version="20.10.24", api_version="1.41", cannot=cannot)


DB = replica("db", id="d" * 64, fields={"networks.shop_default.aliases.db": "set"})
OTHER = replica("db", id="e" * 64, claim={"project": "other"}, name="other-db-1")
DB_SERVICE = service("db", {"networks.shop_default.aliases.db": "set"})


@pytest.mark.parametrize("actual", ["dddddddddddd", "shop-db-1"])
def test_shared_volumes_of_the_living_container_are_no_drift(actual: str) -> None:
    desired = project(service("web", {"volumes_from": "service:db"}), DB_SERVICE)
    report = drift(desired, DB, replica("web", fields={"volumes_from": actual}))
    assert kinds(report) == []


@pytest.mark.parametrize(
    ("wanted", "actual"),
    [
        ("service:db", "eeeeeeeeeeee"),
        ("service:db", "ffffffffffff"),
        ("container:shop-db-1", "eeeeeeeeeeee"),
        ("service:db", "dddddddddddd, eeeeeeeeeeee"),
    ],
)
def test_shared_volumes_of_another_or_a_vanished_container_are_drift(wanted: str, actual: str) -> None:
    desired = project(service("web", {"volumes_from": wanted}, config_hash=None), DB_SERVICE)
    report = drift(desired, DB, OTHER, replica("web", fields={"volumes_from": actual}))
    assert kinds(report) == [("web", "config_mismatch", "volumes_from")]


def test_a_link_and_the_aliases_that_compose_adds_to_it_are_no_drift() -> None:
    desired = project(service("web", {"links.sql": "service:db"}), DB_SERVICE)
    links = {"links.sql": "shop-db-1", "links.db-1": "shop-db-1", "links.shop-db-1": "shop-db-1"}
    assert kinds(drift(desired, DB, replica("web", fields=links))) == []


def test_a_link_to_a_replica_that_is_gone_is_judged_by_its_name() -> None:
    desired = project(service("web", {"links.sql": "service:db"}), DB_SERVICE)
    report = drift(desired, DB, replica("web", fields={"links.sql": "shop-db-2, shop-db-1"}))
    assert kinds(report) == []


def test_a_link_keeps_the_name_that_a_renamed_container_had() -> None:
    named = service("db", {"networks.shop_default.aliases.db": "set", "container_name": "sql"})
    renamed = replica("db", name="old-sql", fields={"networks.shop_default.aliases.db": "set"})
    desired = project(service("web", {"links.db": "service:db"}), named)
    report = drift(desired, renamed, replica("web", fields={"links.db": "sql"}))
    assert kinds(report) == [("db", "config_mismatch", "container_name")]
    stranger = drift(desired, renamed, replica("web", fields={"links.db": "shop-db-1"}))
    assert ("web", "config_mismatch", "links.db") in kinds(stranger)


@pytest.mark.parametrize(("wanted", "actual"), [("service:db", "other-db-1"), ("container:redis", "shop-db-1")])
def test_a_link_to_another_container_is_drift(wanted: str, actual: str) -> None:
    desired = project(service("web", {"links.sql": wanted}), DB_SERVICE)
    report = drift(desired, DB, OTHER, replica("web", fields={"links.sql": actual}))
    assert kinds(report) == [("web", "config_mismatch", "links.sql")]


def test_a_link_that_no_file_asks_for_is_drift() -> None:
    report = drift(project(service("web"), DB_SERVICE), DB, replica("web", fields={"links.sql": "shop-db-1"}))
    assert kinds(report) == [("web", "config_mismatch", "links.sql")]


@pytest.mark.parametrize(
    ("dropped", "cannot"),
    [
        ({"blkio_config.weight": "300"}, ()),
        ({"healthcheck.start_interval": "5s"}, ()),
        ({"annotations.a": "b"}, ()),
        ({"mem_limit": "64m"}, ("mem_limit",)),
        ({"pids_limit": "50"}, ("pids_limit",)),
    ],
)
def test_what_the_engine_could_not_do_is_a_remark_while_the_hash_is_the_files(
    dropped: dict[str, str], cannot: tuple[str, ...]
) -> None:
    report = drift(project(service("web", dropped)), replica("web"), engine=engine(*cannot))
    assert report.status == "synced"
    assert [one.field for one in report.remarks] == list(dropped)
    assert "has no effect" in report.remarks[0].message


def test_what_the_engine_drops_explains_no_other_hash_beside_what_no_container_shows() -> None:
    edited = replica("web", claim={"config_hash": "h0"})
    beside_hook = only(drift(project(service("web", {"annotations.a": "b"}, unseen=("post_start",))), edited))
    assert (beside_hook.field, beside_hook.compose_would) == (None, "recreate")
    assert beside_hook.message.endswith("It may be in what a container does not tell: post_start, annotations.a.")
    assert only(drift(project(service("web", {"annotations.a": "b"})), edited)).field == "annotations.a"


@pytest.mark.parametrize(
    ("actual", "cannot", "status"),
    [
        ({"memswap_limit": "-1"}, ("memswap_limit",), "synced"),
        ({}, ("memswap_limit",), "synced"),
        ({"memswap_limit": "150m"}, ("memswap_limit",), "drifted"),
        ({"memswap_limit": "-1"}, (), "drifted"),
        ({}, (), "drifted"),
    ],
)
def test_swap_is_forgiven_only_where_the_engine_says_that_it_cannot_limit_it(
    actual: dict[str, str], cannot: tuple[str, ...], status: str
) -> None:
    desired = project(service("web", {"memswap_limit": "160m"}))
    assert drift(desired, replica("web", fields=actual), engine=engine(*cannot)).status == status


def test_a_limit_that_is_missing_explains_an_unequal_hash() -> None:
    report = drift(project(service("web", {"mem_limit": "64m"})), replica("web", claim={"config_hash": "h0"}))
    assert only(report).field == "mem_limit"


@pytest.mark.parametrize("path", ["pids_limit", "mem_limit"])
def test_a_limit_that_the_engine_can_do_is_drift_though_the_hash_is_equal(path: str) -> None:
    report = drift(project(service("web", {path: "50"})), replica("web"), engine=engine("cpus"))
    assert kinds(report) == [("web", "config_mismatch", path)]


def test_an_address_given_by_hand_is_nothing_that_compose_would_repair() -> None:
    path = "networks.shop_default.ipv4_address"
    report = drift(project(service("web", {path: "10.0.0.5"})), replica("web", fields={path: "10.0.0.6"}))
    assert only(report).compose_would == "nothing"


def test_options_of_a_mount_that_differs_as_a_whole_are_not_said_again() -> None:
    desired = project(service("web", {"volumes./d": "bind /srv/d", "volumes./d.propagation": "rshared"}))
    report = drift(desired, replica("web", claim={"config_hash": "h0"}))
    assert kinds(report) == [("web", "config_mismatch", "volumes./d")]


def test_the_order_of_networks_only_explains_an_unequal_hash() -> None:
    desired = project(service("web", {"first_network": "a"}))
    same = replica("web", fields={"first_network": "b"})
    other = replica("web", fields={"first_network": "b"}, claim={"config_hash": "h0"})
    assert kinds(drift(desired, same)) == []
    assert only(drift(desired, other)).field == "first_network"


def test_an_unexplained_hash_names_the_keys_that_no_container_shows() -> None:
    desired = project(service("web", unseen=("platform", "develop")))
    found = only(drift(desired, replica("web", claim={"config_hash": "h0"})))
    assert found.confidence < 1
    assert "platform, develop" in found.message


@pytest.mark.parametrize(
    ("declared", "actual"),
    [
        ({"tmpfs./data": "default options"}, {"tmpfs./data": "default options"}),
        ({"volumes_from": "container:x"}, {"volumes_from": "x", "volumes./data": "volume big"}),
        ({"volumes_from": "container:x"}, {"volumes_from": "x"}),
    ],
)
def test_an_images_volume_gives_way_to_a_tmpfs_and_to_another_containers(
    declared: dict[str, str], actual: dict[str, str]
) -> None:
    made = replica("web", fields=actual, claim={"config_hash": "h1"})
    assert made.config is not None
    image = sealed({"volumes./data": "volume (anonymous)"})
    made = made.model_copy(update={"config": made.config.model_copy(update={"image_fields": image})})
    assert kinds(drift(project(service("web", declared)), made)) == []
