"""What the resolved model says becomes the fields that the container shows; what none shows is listed by name."""

from __future__ import annotations

from typing import Any

import pytest

from bcon_exporter.compose.service_fields import find_unseen, service_fields

PROJECT = {"name": "shop", "networks": {"default": {"name": "shop_default"}}}
BASE = {"networks.shop_default": "attached", "networks.shop_default.aliases.web": "set"}


def fields(**service: Any) -> dict[str, str]:
    """The fields that a service declares beyond its network."""
    found = service_fields({"image": "app:1", **service}, "web", PROJECT)
    return {path: text for path, text in found.items() if path not in BASE}


@pytest.mark.parametrize(
    ("given", "text"),
    [({}, "0:0"), ({"hard": 100}, "0:100"), ({"soft": 5}, "5:0"), ({"single": 7}, "7:7"), (9, "9:9")],
)
def test_a_ulimit_that_compose_leaves_out_is_zero(given: object, text: str) -> None:
    assert fields(ulimits={"core": given}) == {"ulimits.core": text}


def test_an_empty_restart_policy_of_deploy_takes_restart_away() -> None:
    assert fields(restart="always", deploy={"restart_policy": {}}) == {}
    assert fields(restart="always", deploy={}) == {"restart": "always"}


def test_gpus_of_both_kinds_and_named_devices() -> None:
    devices = [{"capabilities": ["gpu"], "driver": "nvidia", "count": 1}]
    found = fields(
        gpus=[{"count": -1}],
        deploy={"resources": {"reservations": {"devices": devices}}},
        devices=[{"source": "vendor.com/net=eth0", "target": "vendor.com/net=eth0", "permissions": "rwm"}],
    )
    assert found == {"gpus": "all gpu; nvidia count 1 gpu", "devices.vendor.com/net=eth0": "cdi"}


def test_links_lose_the_aliases_that_they_have_anyway() -> None:
    assert fields(links=["db", "db:sql", "db:db-1"], external_links=["legacy:old", "other"]) == {
        "links.db": "service:db",
        "links.sql": "service:db",
        "links.old": "container:legacy",
    }


def test_limits_of_block_devices_are_read_in_the_binarys_own_spelling() -> None:
    blkio = {
        "device_read_bps": [{"Path": "/dev/sda", "Rate": "1048576"}],
        "weight_device": [{"path": "/d", "weight": 7}],
    }
    assert fields(blkio_config=blkio) == {
        "blkio_config.device_read_bps./dev/sda": "1048576",
        "blkio_config.weight_device./d": "7",
    }


def test_options_of_mounts_and_shared_volumes() -> None:
    volumes = [
        {"type": "bind", "source": "/a", "target": "/a", "bind": {"propagation": "rshared", "recursive": "disabled"}},
        {"type": "bind", "source": "/b", "target": "/b", "bind": {"propagation": "rprivate", "recursive": "enabled"}},
        {"type": "volume", "target": "/v", "volume": {"nocopy": True, "subpath": "x"}},
    ]
    assert fields(volumes=volumes, volumes_from=["db:rw", "log:ro", "container:x"]) == {
        "volumes./a": "bind /a",
        "volumes./a.propagation": "rshared",
        "volumes./a.recursive": "disabled",
        "volumes./b": "bind /b",
        "volumes./v": "volume (anonymous)",
        "volumes./v.nocopy": "true",
        "volumes./v.subpath": "x",
        "volumes_from": "container:x, service:db, service:log",
    }


@pytest.mark.parametrize(
    ("networks", "first"),
    [({"b": None, "a": None}, "shop_a"), ({"b": {"priority": 5}, "a": None}, "shop_b"), ({"b": {"priority": 5}}, None)],
)
def test_the_first_of_several_networks_has_the_highest_priority(networks: dict[str, Any], first: str | None) -> None:
    assert service_fields({"networks": networks}, "web", PROJECT).get("first_network") == first


def test_declared_keys_that_no_container_shows_are_listed() -> None:
    declared = {
        "platform": "linux/amd64",
        "develop": {},
        "deploy": {"placement": {}, "labels": {"a": "b"}},
        "volumes": [{"type": "bind", "bind": {"create_host_path": False}}],
        "ports": [{"target": 80, "name": "web"}],
        "networks": {"default": {"mac_address": "02:42:ac:11:65:43"}},
    }
    expected = ("platform", "deploy.labels", "volumes (options)", "ports (names)", "networks (mac_address)")
    assert find_unseen(declared) == expected


MOUNT_OPTIONS: dict[str, tuple[dict[str, object], tuple[str, ...], bool]] = {
    "label of a bind": ({"type": "bind", "bind": {"selinux": "Z"}}, ("selinux",), False),
    "label beside a propagation": (
        {"type": "bind", "bind": {"selinux": "z", "propagation": "rslave"}},
        ("propagation",),
        True,
    ),
    "consistency of a bind": ({"type": "bind", "consistency": "cached"}, (), True),
    "consistency beside a propagation": (
        {"type": "bind", "consistency": "cached", "bind": {"propagation": "slave"}},
        ("consistency", "propagation"),
        False,
    ),
    "consistency of a tmpfs": ({"type": "tmpfs", "consistency": "delegated"}, ("consistency",), False),
    "consistency of a volume": ({"type": "volume", "source": "v", "consistency": "cached"}, (), True),
    "the engine's own propagation": ({"type": "bind", "bind": {"propagation": "rprivate"}}, (), False),
}
"""Volume → options that a container shows, and whether others are lost."""


def test_options_of_a_mount_are_fields_where_compose_hands_them_on() -> None:
    shown = {
        name: tuple(
            sorted(
                path.removeprefix("volumes./m.")
                for path in service_fields(
                    {"volumes": [{"source": "/s", **volume, "target": "/m"}]}, "web", {"name": "p"}
                )
                if path.startswith("volumes./m.")
            )
        )
        for name, (volume, _, _) in MOUNT_OPTIONS.items()
    }
    assert shown == {name: options for name, (_, options, _) in MOUNT_OPTIONS.items()}
    lost = {name: "volumes (options)" in find_unseen({"volumes": [row[0]]}) for name, row in MOUNT_OPTIONS.items()}
    assert lost == {name: is_lost for name, (_, _, is_lost) in MOUNT_OPTIONS.items()}


def test_the_socket_that_compose_hands_out_is_expected() -> None:
    assert fields(use_api_socket=True) == {
        "environment.DOCKER_CONFIG": "/run/secrets/docker",
        "volumes./var/run/docker.sock": "bind /var/run/docker.sock",
    }
