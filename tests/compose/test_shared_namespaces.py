"""Hashes of services that share namespaces or volumes are those of the living containers, which Compose hashes too."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.compose.shared_namespaces import (
    SharedNamespaces,
    find_shared_namespaces,
    render_override_file,
    substitute_container_ids,
)
from bcon_exporter.model.desired import DesiredProject, RunningProject
from tests.compose.conftest import NOW

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bcon_exporter.compose import ComposeReader

pytestmark = pytest.mark.integration

ID = "93bf0f24a915ef759a5ce6c68741f90dd37e9ddc08bf4a321cc67064da729170"
OTHER_ID = "ac82f9a4d82c60fc74e19306b6f4754255fad956f2efdbd7e8c9517d0a57ab85"
TEXT = """\
services:
  vpn:
    image: app:1
  app:
    image: app:1
    network_mode: {network}
    ipc: {ipc}
    volumes: ['./data:/data']
    mem_limit: {memory}
    ulimits: {{nofile: 100}}
"""
ASKED = TEXT.format(network="service:vpn", ipc="service:vpn", memory="64m")


def resolve(reader: ComposeReader, project: Path, text: str = ASKED, **living: str) -> DesiredProject:
    (project / "compose.yaml").write_text(text)
    files = (str(project / "compose.yaml"),)
    running = RunningProject(
        name="shop", config_files=files, working_dir=str(project), only_containers=living or {"vpn": ID}
    )
    return reader.resolve_running(running, NOW)


def hash_of(project: DesiredProject, name: str) -> str | None:
    return next(one.config_hash for one in project.services or () if one.name == name)


def printed_hash(binary: tuple[str, ...], file: Path, text: str, name: str) -> str:
    file.write_text(text)
    command = [*binary, "-f", str(file), "-p", "shop", "config", "--hash", name]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[1]


def test_the_hash_is_that_of_the_file_that_names_the_container(
    make_reader: Callable[..., ComposeReader], project: Path, binary: tuple[str, ...]
) -> None:
    named = TEXT.format(network=f"container:{ID}", ipc=f"container:{ID}", memory="64m")
    expected = printed_hash(binary, project / "named.yaml", named, "app")
    assert hash_of(resolve(make_reader(), project), "app") == expected
    changed = TEXT.format(network="service:vpn", ipc="service:vpn", memory="96m")
    assert hash_of(resolve(make_reader(), project, changed), "app") != expected


def test_containers_whose_volumes_are_taken_stand_without_a_word_before_them(
    make_reader: Callable[..., ComposeReader], project: Path, binary: tuple[str, ...]
) -> None:
    """Compose hashes `volumes_from: [vpn:ro, container:old]` as the id and the name alone."""
    text = ASKED + "    volumes_from: ['vpn:ro', 'container:old']\n"
    named = TEXT.format(network=f"container:{ID}", ipc=f"container:{ID}", memory="64m")
    named += f"    volumes_from: ['{ID}', old]\n  {ID}: {{image: none}}\n  old: {{image: none}}\n"
    expected = printed_hash(binary, project / "named.yaml", named, "app")
    assert hash_of(resolve(make_reader(), project, text), "app") == expected


def test_where_the_other_service_has_no_container_there_is_no_hash(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    assert hash_of(resolve(make_reader(), project, ASKED, db=ID), "app") is None


def test_a_service_that_hangs_on_an_unknown_variable_keeps_none(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    found = resolve(make_reader(), project, ASKED + "    environment: {A: '${MISSING}'}\n")
    assert hash_of(found, "app") is None


def test_it_is_asked_for_once_as_long_as_the_same_containers_live(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    reader = make_reader()
    first = resolve(reader, project)
    runs = reader.runs
    assert resolve(reader, project) == first
    assert reader.runs == runs
    again = resolve(reader, project, ASKED, vpn=OTHER_ID)
    assert reader.runs == runs + 1, "the files are not resolved again"
    assert hash_of(again, "app") not in (None, hash_of(first, "app"))
    assert hash_of(again, "vpn") == hash_of(first, "vpn")


def test_only_services_that_share_are_named() -> None:
    services = {
        "app": {"network_mode": "service:vpn", "pid": "host", "ipc": "container:x"},
        "web": {"network_mode": "bridge"},
        "copy": {"volumes_from": ["app:ro", "container:old:rw"]},
    }
    shared = find_shared_namespaces(services)
    assert shared == {
        "app": SharedNamespaces({"network_mode": "vpn"}, (), frozenset({"vpn"})),
        "copy": SharedNamespaces({}, ("app", "old"), frozenset({"app"})),
    }
    living = substitute_container_ids(shared, {"app": ID})
    assert living == {"copy": SharedNamespaces({}, (ID, "old"))}
    assert render_override_file(living, frozenset(services)) == (
        f'{{"services": {{"{ID}": {{"image": "none"}}, "old": {{"image": "none"}}, '
        f'"copy": {{"volumes_from": !override ["{ID}", "old"]}}}}}}'
    )
