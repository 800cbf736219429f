"""The bill of materials names everything that is installed, as its own metadata and the Compose binary tell it."""

from __future__ import annotations

import json
import re
import sysconfig
from pathlib import Path

import pytest

from deploy.bill_of_materials import GoModule, find_unpinned, main, read_go_modules, render_bill
from tests.architecture.sources import ROOT

INSTALLED = Path(sysconfig.get_path("purelib"))
COMPOSE = Path(sysconfig.get_path("scripts")) / "docker-compose"
DIGEST = f"python:3.11@sha256:{'0' * 64}"


def install(folder: Path, name: str, *, licence: bool) -> None:
    """What pip leaves of a distribution."""
    facts = folder / f"{name}-1.0.dist-info"
    (facts / "licenses").mkdir(parents=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\nLicense-Expression: MIT\n")
    files = [f"{facts.name}/METADATA,,"]
    if licence:
        (facts / "licenses" / "LICENSE").write_text(f"licence of {name}")
        files.append(f"{facts.name}/licenses/LICENSE,,")
    (facts / "RECORD").write_text("\n".join(files))


@pytest.mark.promise("S12")
def test_every_locked_package_stands_in_the_bill_with_its_version_and_licence() -> None:
    locked = dict(
        re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / "deploy" / "requirements.lock").read_text(), re.MULTILINE)
    )

    components = {each["name"]: each for each in render_bill(INSTALLED, "bcon-exporter")["components"]}

    assert {name: components[name]["version"] for name in locked} == locked
    assert [name for name in locked if not components[name].get("licenses")] == []
    assert components["fastapi"]["purl"] == f"pkg:pypi/fastapi@{locked['fastapi']}"
    assert components["pydantic"]["licenses"] == [{"expression": "MIT"}]
    assert components["jinja2"]["licenses"] == [{"license": {"name": "BSD License"}}]


def test_what_depends_on_what_is_told_of_components_that_are_there() -> None:
    bill = render_bill(INSTALLED, "bcon-exporter", [DIGEST])
    root = bill["metadata"]["component"]
    known = {root["bom-ref"], *(each["bom-ref"] for each in bill["components"])}
    graph = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}

    assert set(graph) | {ref for refs in graph.values() for ref in refs} <= known
    assert {ref.partition("@")[0] for ref in graph[root["bom-ref"]]} >= {"pkg:pypi/docker", "pkg:pypi/uvicorn"}
    assert root["properties"] == [{"name": "bcon-exporter:base", "value": DIGEST}]


@pytest.mark.slow
def test_the_same_installation_has_the_same_bill_and_another_one_another() -> None:
    bill = render_bill(INSTALLED, "bcon-exporter")

    assert render_bill(INSTALLED, "bcon-exporter") == bill
    assert render_bill(INSTALLED, "bcon-exporter", ["x"])["serialNumber"] != bill["serialNumber"]


def test_the_compose_binary_tells_what_it_was_built_of() -> None:
    modules = {module.path: module.version for module in read_go_modules(COMPOSE.read_bytes())}

    assert modules["github.com/docker/compose/v5"].startswith("v5.")
    assert {"stdlib", "github.com/compose-spec/compose-go/v2"} <= modules.keys()
    assert len(modules) > 50
    assert [path for path, version in modules.items() if path != "stdlib" and not version.startswith("v")] == []


def test_a_module_that_was_replaced_is_told_as_what_replaced_it() -> None:
    text = b"s" * 16 + b"path\tx\nmod\tx\tv1.0.0\t\ndep\told\tv1.1.0\th1:a\n=>\tnew\tv1.2.0\th1:b\n" + b"e" * 16
    head = b"\xff Go buildinf:\x08\x02" + bytes(16)
    program = b"ELF" + head + b"\x061.26.1" + bytes([0x80 | len(text) % 128, len(text) // 128]) + text

    assert read_go_modules(program) == [
        GoModule("stdlib", "1.26.1"),
        GoModule("x", "v1.0.0"),
        GoModule("new", "v1.2.0"),
    ]


def test_a_program_of_another_kind_has_no_modules() -> None:
    assert read_go_modules(b"#!/bin/sh\n") == []


def test_licences_are_collected_and_a_component_without_one_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(tmp_path / "in", "good", licence=True)
    assert main([str(tmp_path / "in"), str(tmp_path / "out"), "--root=good"]) == 0
    assert (tmp_path / "out" / "licenses" / "good" / "LICENSE").read_text() == "licence of good"
    assert json.loads((tmp_path / "out" / "good.cdx.json").read_text())["specVersion"] == "1.6"

    install(tmp_path / "in", "bare", licence=False)
    assert main([str(tmp_path / "in"), str(tmp_path / "out"), "--root=good"]) == 1
    assert capsys.readouterr().err == "no licence file came with: bare\n"


@pytest.mark.parametrize(
    ("base", "pinned"),
    [
        (DIGEST, True),
        ("python:3.11-slim-bookworm", False),
        ("python@sha256:abc", False),
        (f"{DIGEST} x", False),
        ("", False),
    ],
)
def test_a_release_takes_no_base_without_a_digest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], base: str, pinned: bool
) -> None:
    install(tmp_path / "in", "good", licence=True)
    words = [str(tmp_path / "in"), str(tmp_path / "out"), "--root=good", f"--base={base}"]

    assert main(words) == 0
    assert main([*words, "--release"]) == (0 if pinned else 1)
    assert ("by digest" in capsys.readouterr().err) is not pinned
    assert find_unpinned([base]) == ([] if pinned else [base])
