"""A recorded engine answers as Docker 29 does, by its published API: no binary of it is here.

Each difference is one function, named by what the version history of the Engine API says of it (moby/moby,
api/docs/CHANGELOG.md). Older answers are taken as they were recorded, of an engine 20.10.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.golden.engine import RecordedEngine

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.golden.recording import Host, Moment

NEWEST, MINIMUM = "1.57", (1, 44)
_HEALTHS = {"healthy": "healthy", "unhealthy": "unhealthy", "starting": "starting"}
_GONE_FROM_NETWORK_SETTINGS = (
    *("Bridge", "HairpinMode", "LinkLocalIPv6Address", "LinkLocalIPv6PrefixLen", "SecondaryIPAddresses"),
    *("SecondaryIPv6Addresses", "EndpointID", "Gateway", "GlobalIPv6Address", "GlobalIPv6PrefixLen", "IPAddress"),
    *("IPPrefixLen", "IPv6Gateway", "MacAddress"),
)
_DIGEST = "sha256:" + "d" * 64
_DESCRIPTOR = {"mediaType": "application/vnd.oci.image.index.v1+json", "digest": _DIGEST, "size": 856}


class Docker29(RecordedEngine):
    """An engine that asks for API 1.44 at least, and sends events as lines of JSON."""

    events_type = "application/x-ndjson"
    minimum = MINIMUM


def as_docker_29(host: Host) -> Host:
    """Return a recorded host as Docker 29 would tell of it."""
    return replace(
        host,
        moments=[_moment(moment) for moment in host.moments],
        events=[without_deprecated_event_fields(event) for event in host.events],
    )


def _moment(moment: Moment) -> Moment:
    return replace(moment, answers={path: answer_of_29(path, answer) for path, answer in moment.answers.items()})


def answer_of_29(path: str, answer: Any) -> Any:
    """Return an answer with all differences that concern its path."""
    answer = copy.deepcopy(answer)
    for concerns, change in DIFFERENCES:
        if concerns(path):
            answer = change(answer)
    return answer


def with_its_versions(answer: dict[str, Any]) -> dict[str, Any]:
    """29.x: the newest version is 1.57, the oldest 1.44."""
    return {**answer, "Version": "29.10.0", "ApiVersion": NEWEST, "MinAPIVersion": "1.44"}


def with_health_in_the_list(answer: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """1.52: `GET /containers/json` has `Health`; 1.48: `ImageManifestDescriptor`; 1.46: annotations of HostConfig."""
    for entry in answer:
        words = next((word for word in _HEALTHS if f"({word})" in entry["Status"]), None)
        starting = "(health: starting)" in entry["Status"]
        entry["Health"] = {"Status": "starting" if starting else words or "none", "FailingStreak": 0}
        entry["ImageManifestDescriptor"] = {**_DESCRIPTOR, "platform": {"architecture": "amd64", "os": "linux"}}
        entry["HostConfig"]["Annotations"] = None
    return answer


def without_old_fields_of_a_container(answer: dict[str, Any]) -> dict[str, Any]:
    """1.52: the old network fields, KernelMemoryTCP and an empty OnBuild are gone; 1.48: the manifest's descriptor.

    1.45: short ids are in `DNSNames`, no longer in `Aliases`. With containerd's image store (the default of new
    installations) there is no `GraphDriver`, and `Image` is the digest of the index.
    """
    for field in _GONE_FROM_NETWORK_SETTINGS:
        answer["NetworkSettings"].pop(field, None)
    for network in answer["NetworkSettings"]["Networks"].values():
        aliases = network.get("Aliases") or []
        network["DNSNames"] = [answer["Name"].removeprefix("/"), *aliases, answer["Id"][:12]]
        network["Aliases"] = [alias for alias in aliases if alias != answer["Id"][:12]]
    answer["HostConfig"].pop("KernelMemory", None)
    answer["HostConfig"].pop("KernelMemoryTCP", None)
    if not answer["Config"].get("OnBuild"):
        answer["Config"].pop("OnBuild", None)
    answer.pop("GraphDriver", None)
    answer["Storage"] = {"RootFS": {"Snapshot": {"Name": "overlayfs"}}}
    answer["ImageManifestDescriptor"] = {**_DESCRIPTOR, "platform": {"architecture": "amd64", "os": "linux"}}
    return answer


def without_empty_fields_of_an_image(answer: dict[str, Any]) -> dict[str, Any]:
    """1.52: empty fields are left out; 1.50: those of a container are gone; 1.48 and 1.53: descriptor and identity."""
    config = answer.get("Config") or {}
    of_container = ("Hostname", "Domainname", "AttachStdin", "AttachStdout", "AttachStderr", "Tty", "OpenStdin")
    for field in (*of_container, "StdinOnce", "Image"):
        config.pop(field, None)
    answer["Config"] = {key: value for key, value in config.items() if value}
    for field in ("Parent", "Comment", "DockerVersion", "Author", "Container", "ContainerConfig", "VirtualSize"):
        answer.pop(field, None)
    answer.pop("GraphDriver", None)
    return {**answer, "Descriptor": _DESCRIPTOR, "Identity": {}}


def with_its_info(answer: dict[str, Any]) -> dict[str, Any]:
    """1.53: `NRI`; 1.50: devices; 1.49: the firewall; the image store of containerd as driver of new installations."""
    for field in ("KernelMemory", "KernelMemoryTCP", "BridgeNfIptables", "BridgeNfIp6tables"):
        answer.pop(field, None)
    more = {"NRI": {"Info": [["Enabled", "false"]]}, "DiscoveredDevices": [], "FirewallBackend": {"Driver": "nftables"}}
    status = [["driver-type", "io.containerd.snapshotter.v1"]]
    return {**answer, "ServerVersion": "29.10.0", "Driver": "overlayfs", "DriverStatus": status, **more}


def with_both_forms_of_disk_usage(answer: dict[str, Any]) -> dict[str, Any]:
    """1.52: sums beside the old lists; 1.53 leaves the lists out, and so 1.52 is what is asked for."""
    used = {"ActiveCount": 1, "TotalCount": 2, "Reclaimable": 0, "TotalSize": answer["LayersSize"]}
    return {**answer, "ImageUsage": used, "ContainerUsage": used, "VolumeUsage": used, "BuildCacheUsage": used}


def with_the_state_of_a_network(answer: dict[str, Any]) -> dict[str, Any]:
    """1.52: `GET /networks/{id}` has the addresses that are taken; 1.48: `EnableIPv4`."""
    return {**answer, "EnableIPv4": True, "Status": {"IPAM": {"Subnets": {}}}}


def without_deprecated_event_fields(event: dict[str, Any]) -> dict[str, Any]:
    """1.52: `status`, `id` and `from` are gone."""
    return {key: value for key, value in event.items() if key not in ("status", "id", "from")}


def _is_of(folder: str) -> Callable[[str], bool]:
    return lambda path: path.startswith(f"/{folder}/") and path.endswith("/json") and path != f"/{folder}/json"


DIFFERENCES: tuple[tuple[Callable[[str], bool], Callable[[Any], Any]], ...] = (
    (lambda path: path == "/version", with_its_versions),
    (lambda path: path == "/containers/json", with_health_in_the_list),
    (_is_of("containers"), without_old_fields_of_a_container),
    (_is_of("images"), without_empty_fields_of_an_image),
    (lambda path: path == "/info", with_its_info),
    (lambda path: path == "/system/df", with_both_forms_of_disk_usage),
    (lambda path: path.startswith("/networks/"), with_the_state_of_a_network),
)
"""Which paths a difference concerns, and the difference."""
