"""An inspect answer becomes the same fields that the Compose file gave; hostile answers raise nothing that escapes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.engine.parse import parse_config, parse_image
from bcon_exporter.engine.parse.config import container_fields, image_fields
from bcon_exporter.secrets.masking import Sealer

SEALER = Sealer(b"k" * 32)
ID = "e74c26e6d235" + "0" * 52


def inspected(**parts: Any) -> dict[str, Any]:
    base: dict[str, Any] = {"Id": ID, "Name": "/shop-web-1", "Config": {"Hostname": ID[:12]}, "HostConfig": {}}
    return {**base, **parts}


def test_a_container_of_defaults_has_no_fields_but_its_network_mode() -> None:
    host = {
        "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0},
        "ShmSize": 67108864,
        "MemorySwappiness": None,
        "Privileged": False,
        "NetworkMode": "default",
    }
    assert container_fields(inspected(HostConfig=host)) == {"network_mode": "bridge"}


def test_swap_of_twice_the_memory_is_the_engines_own_choice() -> None:
    twice = container_fields(inspected(HostConfig={"Memory": 64 << 20, "MemorySwap": 128 << 20}))
    more = container_fields(inspected(HostConfig={"Memory": 64 << 20, "MemorySwap": 160 << 20}))
    assert "memswap_limit" not in twice
    assert more["memswap_limit"] == "160m"


def test_a_variable_without_equals_sign_is_absent_and_one_with_it_may_be_empty() -> None:
    fields = container_fields(inspected(Config={"Env": ["A=1", "B=", "C"], "Hostname": ID[:12]}))
    assert {path: text for path, text in fields.items() if path.startswith("environment.")} == {
        "environment.A": "1",
        "environment.B": "",
    }


def test_compose_labels_and_the_generated_host_name_are_left_out() -> None:
    config = {"Hostname": ID[:12], "Labels": {"com.docker.compose.project": "x", "team": "a"}}
    fields = container_fields(inspected(Config=config))
    assert [path for path in fields if path.startswith(("labels.", "hostname"))] == ["labels.team"]


def test_anonymous_volumes_are_equal_to_the_images_own() -> None:
    mounts = [{"Type": "volume", "Name": "f" * 64, "Destination": "/data", "RW": True}]
    given = image_fields({"Config": {"Volumes": {"/data": {}}}})
    assert container_fields(inspected(Mounts=mounts))["volumes./data"] == given["volumes./data"]


def test_another_containers_namespace_is_named_by_its_short_id() -> None:
    fields = container_fields(inspected(HostConfig={"NetworkMode": f"container:{'a' * 64}"}))
    assert fields["network_mode"] == f"container:{'a' * 12}"


def test_aliases_keep_all_names_but_the_short_id() -> None:
    networks = {"shop_default": {"Aliases": ["shop-web-1", "web", ID[:12]], "IPAMConfig": None}, "none": {}}
    fields = container_fields(inspected(NetworkSettings={"Networks": networks}))
    assert sorted(path for path in fields if path.startswith("networks.")) == [
        "networks.shop_default",
        "networks.shop_default.aliases.shop-web-1",
        "networks.shop_default.aliases.web",
    ]


def test_environment_values_are_sealed_and_an_unread_image_stays_unknown() -> None:
    facts = parse_config(inspected(Config={"Env": ["TOKEN=canary-4711"]}), None, SEALER)
    assert "canary" not in facts.model_dump_json()
    assert facts.fields["environment.TOKEN"].shown == ""
    assert (facts.image_fields, facts.image_id_of_tag) == (None, None)


WILD = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
KEYS = (
    "Env",
    "Cmd",
    "Labels",
    "ExposedPorts",
    "Healthcheck",
    "Mounts",
    "Tmpfs",
    "Ulimits",
    "PortBindings",
    "LogConfig",
)


@pytest.mark.parametrize("key", KEYS)
@given(wild=WILD)
def test_malformed_answers_raise_only_what_the_reader_catches(key: str, wild: Any) -> None:
    try:
        image = parse_image({"Config": wild}, SEALER)
        parse_config(inspected(Config={key: wild}, HostConfig={key: wild}, Mounts=wild), image, SEALER)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return


def test_requested_gpus_and_named_devices_are_told_apart() -> None:
    requests = [
        {"Driver": "nvidia", "Count": 1, "DeviceIDs": None, "Capabilities": [["gpu"]], "Options": None},
        {"Driver": "", "Count": -1, "DeviceIDs": None, "Capabilities": [["gpu"]], "Options": {"a": "b"}},
        {"Driver": "cdi", "DeviceIDs": ["vendor.com/net=eth0"]},
    ]
    fields = container_fields(inspected(HostConfig={"DeviceRequests": requests, "NetworkMode": "x"}))
    assert fields == {"devices.vendor.com/net=eth0": "cdi", "gpus": "all gpu a=b; nvidia count 1 gpu"}


def test_links_are_kept_without_the_aliases_that_compose_adds() -> None:
    links = ["shop-db-1:db", "shop-db-1:db-1", "shop-db-1:shop-db-1", "/other:/me/sql"]
    host = {"NetworkMode": "x", "Links": links[3:]}
    settings = {"Networks": {"x": {"Links": links[:3]}}}
    fields = container_fields(inspected(HostConfig=host, NetworkSettings=settings))
    assert {path: text for path, text in fields.items() if path.startswith("links.")} == {
        "links.db": "shop-db-1",
        "links.sql": "other",
    }


def test_mount_options_are_read_from_the_mount_and_from_its_request() -> None:
    mounts = [{"Type": "bind", "Source": "/a", "Destination": "/a", "RW": True, "Propagation": "rslave"}]
    asked = [
        {"Type": "volume", "Target": "/v", "VolumeOptions": {"NoCopy": True, "Subpath": "x"}},
        {"Type": "bind", "Target": "/b", "Consistency": "cached", "BindOptions": {"Propagation": "rslave"}},
        {"Type": "tmpfs", "Target": "/t", "ReadOnly": True, "TmpfsOptions": {"SizeBytes": 1}},
    ]
    binds = ["w:/w:ro,nocopy", "/c:/c:ro,Z,shared", "/d:/d:rw,rprivate,rbind", "/e:/e"]
    host = {"NetworkMode": "x", "Mounts": asked, "Binds": binds, "VolumesFrom": ["a" * 64 + ":ro"]}
    fields = container_fields(inspected(HostConfig=host, Mounts=mounts))
    assert fields == {
        "volumes./a": "bind /a",  # rslave is the engine's own choice: it was not asked for
        "volumes./b.propagation": "rslave",
        "volumes./b.consistency": "cached",
        "volumes./c.propagation": "shared",
        "volumes./c.selinux": "Z",
        "volumes./t": "tmpfs size=1 read-only",
        "volumes./v.nocopy": "true",
        "volumes./v.subpath": "x",
        "volumes./w.nocopy": "true",
        "volumes_from": "aaaaaaaaaaaa",
    }


def test_unmasked_system_paths_show_the_option_that_the_engine_does_not_list() -> None:
    fields = container_fields(inspected(HostConfig={"NetworkMode": "x", "MaskedPaths": [], "ReadonlyPaths": []}))
    assert fields == {"security_opt.systempaths=unconfined": "set"}
    privileged = {"NetworkMode": "x", "MaskedPaths": None, "ReadonlyPaths": None, "Privileged": True}
    assert container_fields(inspected(HostConfig=privileged)) == {"privileged": "true"}


BY_PODMAN: dict[str, dict[str, Any]] = {
    "Config": {
        "Env": ["container=podman", "TERM=xterm", "HOME=/root", "HOSTNAME=e74c26e6d235", "MODE=a"],
        "Hostname": ID[:12],
        "WorkingDir": "/",
        "StopSignal": "15",
        "Healthcheck": {"Test": ["CMD", "true"], "Timeout": 30 * 10**9},
    },
    "HostConfig": {
        "PidMode": "private",
        "UTSMode": "private",
        "PidsLimit": 2048,
        "Annotations": {  # of Podman 5.8
            "io.container.manager": "libpod",
            "io.podman.annotations.autoremove": "FALSE",
            "org.opencontainers.image.stopSignal": "15",
            "org.systemd.property.KillSignal": "15",
            "org.systemd.property.TimeoutStopUSec": "uint64 10000000",
        },
    },
}


def test_what_podman_gives_each_container_is_as_if_its_image_gave_it() -> None:
    facts = parse_config(inspected(**BY_PODMAN), {}, SEALER)
    assert facts.image_fields is not None
    declared = {"environment.MODE", "healthcheck.test", "network_mode"}
    assert facts.fields.keys() - facts.image_fields.keys() == declared
    assert all(facts.fields[path] == value for path, value in facts.image_fields.items())


def test_what_differs_from_podmans_defaults_was_asked_for() -> None:
    config = BY_PODMAN["Config"] | {"WorkingDir": "/app", "StopSignal": "2"}
    annotations = {"io.podman.annotations.autoremove": "FALSE", "org.systemd.property.CPUWeight": "5"}
    host = {"PidMode": "host", "UTSMode": "private", "PidsLimit": 2047, "Annotations": annotations}
    facts = parse_config(inspected(Config=config, HostConfig=host), {}, SEALER)
    assert facts.image_fields is not None
    asked_for = {"working_dir", "stop_signal", "pid", "pids_limit", "annotations.org.systemd.property.CPUWeight"}
    assert asked_for <= facts.fields.keys() - facts.image_fields.keys()


def test_docker_gives_no_such_thing() -> None:
    config = BY_PODMAN["Config"] | {"Env": ["container=docker", "TERM=xterm"]}
    facts = parse_config(inspected(Config=config, HostConfig=BY_PODMAN["HostConfig"]), {}, SEALER)
    assert facts.image_fields == {}


def test_an_images_own_value_stands_before_podmans() -> None:
    image = parse_image({"Config": {"WorkingDir": "/app"}}, SEALER)
    facts = parse_config(inspected(**BY_PODMAN), image, SEALER)
    assert facts.image_fields is not None
    assert facts.image_fields["working_dir"] == image["working_dir"]


def test_an_init_process_that_is_refused_is_not_the_engines_default() -> None:
    inits = {
        init: container_fields(inspected(HostConfig={"NetworkMode": "x", "Init": init})) for init in (True, False, None)
    }
    assert inits == {True: {"init": "true"}, False: {"init": "false"}, None: {}}
