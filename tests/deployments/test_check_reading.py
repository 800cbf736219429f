"""What `check` is judged by: places of keys, the files that words mean, edits that are not written."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bcon_exporter.cli.check_command import apply_edit
from bcon_exporter.compose import ComposeOptions, ComposeReader, ResolvedDeployment, find_binary
from bcon_exporter.compose.key_locations import find_key_locations
from bcon_exporter.errors import ComposeFileNotFoundError, InvalidInputError
from bcon_exporter.model.deployment import DeploymentWords
from bcon_exporter.model.desired import RunningProject
from bcon_exporter.secrets.masking import Sealer
from tests.table_rows import table

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MAIN = """\
include: [part/other.yaml]
x-base: &base
  restart: always
services:
  web:
    <<: *base
    image: a
    ports:
      - "8080:80"
      - target: 81
        published: 8081
  api:
    extends: {file: base.yaml, service: common}
    image: b
"""
OVERRIDE = "services:\n  web:\n    image: c\n"
BASE = "services:\n  common:\n    mem_limit: 1m\n    image: old\n"
OTHER = "services:\n  side:\n    image: s\n"
FILES = {"/p/compose.yaml": MAIN, "/p/o.yaml": OVERRIDE, "/p/base.yaml": BASE, "/p/part/other.yaml": OTHER}


def join(file: str, name: str) -> str:
    return os.path.normpath(Path(file).parent / name)


@pytest.mark.parametrize(
    ("key", "file", "line"),
    [
        ("services.web", "/p/o.yaml", 2),
        ("services.web.image", "/p/o.yaml", 3),
        ("services.web.restart", "/p/compose.yaml", 3),
        ("services.web.ports", "/p/compose.yaml", 8),
        ("services.api.image", "/p/compose.yaml", 14),
        ("services.api.mem_limit", "/p/base.yaml", 3),
        ("services.side.image", "/p/part/other.yaml", 3),
    ],
)
def test_a_key_stands_in_the_file_that_brought_it_in(key: str, file: str, line: int) -> None:
    place = find_key_locations(("/p/compose.yaml", "/p/o.yaml"), FILES.get, join)[key].place
    assert (place.file, place.line) == (file, line)


def test_each_port_has_its_line() -> None:
    items = find_key_locations(("/p/compose.yaml",), FILES.get, join)["services.web.ports"].items
    assert {text: place.line for text, place in items.items()} == {"8080:80": 9, "81": 10, "8081": 11}


@table(
    "text",
    [
        "a: [",
        "[" * 5000,
        "a: &a [*a]",
        "services: {a: &a {<<: *a, b: *a}}",
        "services: {web: {extends: web}}",
        "include: [compose.yaml]\nservices: {}",
        "%TAG ! tag:x\n" * 50 + "---\na: b",
        "- a\n- b",
        "",
        "services: [1, 2]\nvolumes: 7",
        "a: &a [1,2,3,4,5,6,7,8,9]\nb: &b [*a,*a,*a,*a,*a]\nc: &c {x: *b, y: *b}\nd: {p: *c, q: *c, r: *c}",
    ],
)
def test_hostile_files_have_places_or_none_and_end(text: str) -> None:
    places = find_key_locations(("/p/compose.yaml",), {"/p/compose.yaml": text}.get, join)
    assert all(place.place.line >= 1 for place in places.values())


def test_aliases_are_followed_a_bounded_number_of_times() -> None:
    lines = ["a0: &a0 {x: 1, y: 2}"] + [f"a{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}}}" for n in range(1, 40)]
    text = "\n".join([*lines, "services:", *(f"  s{n}: *a39" for n in range(3000))])
    assert len(find_key_locations(("/p/compose.yaml",), {"/p/compose.yaml": text}.get, join)) <= 100_000


def test_mappings_in_a_list_count_too() -> None:
    mapping = ", ".join(f"k{n}: {n}" for n in range(1000))
    entries = ", ".join(["*m"] * 100)
    text = f"m: &m {{{mapping}}}\nl: &l [{entries}]\n" + "".join(f"a{n}: *l\n" for n in range(50))
    assert "a9" not in find_key_locations(("/p/compose.yaml",), {"/p/compose.yaml": text}.get, join)


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ("8080:9090", "- 9090:80"),
        ("8080:80:8081:80", "- 8081:80"),
        ("- 8080:", ":80"),
        ("8080:", "- :80"),
    ],
)
def test_an_edit_replaces_the_longest_text_that_stands_in_the_line(change: str, after: str) -> None:
    assert apply_edit("ports:\n- 8080:80\n", 2, change) == f"ports:\n{after}\n"


@pytest.mark.parametrize(("line", "change"), [(0, "a:b"), (3, "a:b"), (1, "zz:b"), (1, "a"), (1, "a:b")])
def test_an_edit_that_fits_no_line_is_refused(line: int, change: str) -> None:
    with pytest.raises(InvalidInputError):
        apply_edit("a a\n", line, change)


def resolve(
    folder: Path, monkeypatch: pytest.MonkeyPatch, running: tuple[RunningProject, ...] = (), **words: object
) -> ResolvedDeployment:
    monkeypatch.chdir(folder)
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    binary = find_binary(os.environ["PATH"])
    reader = ComposeReader(ComposeOptions(binary=binary, environ=environ, trusted=True), Sealer.random())
    return reader.resolve_deployment(DeploymentWords.model_validate(words), NOW, running)


@pytest.mark.integration
def test_files_are_resolved_with_their_hashes_and_the_chosen_profiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "services:\n  web: {image: '${NAME}'}\n  debug: {image: b, profiles: [debug]}\n"
    (tmp_path / "compose.yaml").write_text(text)
    (tmp_path / "names.env").write_text("NAME=chosen:1\n")
    plain = resolve(tmp_path, monkeypatch, env_files=["names.env"])
    assert plain.deployment is not None
    assert [(one.name, one.enabled) for one in plain.deployment.wanted.services] == [("debug", False), ("web", True)]
    assert plain.deployment.images["web"] == "chosen:1"
    assert plain.files[str(tmp_path / "compose.yaml")] == hashlib.sha256(text.encode()).hexdigest()
    assert str(tmp_path / "names.env") in plain.files
    chosen = resolve(tmp_path, monkeypatch, profiles=["debug"], project_name="other").deployment
    assert chosen is not None
    assert (chosen.wanted.project, len(chosen.wanted.enabled_services)) == ("other", 2)


@pytest.mark.integration
def test_what_compose_refuses_is_read_leniently_and_an_env_file_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "compose.yaml").write_text("services: {web: {image: a, env_file: [web.env]}}")
    refused = resolve(tmp_path, monkeypatch)
    assert refused.refusal is not None
    assert refused.desired is None
    assert refused.deployment is not None
    assert [one.service for one in refused.deployment.wanted.missing_env_files] == ["web"]
    (tmp_path / "web.env").touch()
    named = resolve(tmp_path, monkeypatch, env_files=["no.env"])
    assert named.deployment is not None
    assert [(one.service, Path(one.path).name) for one in named.deployment.wanted.missing_env_files] == [
        (None, "no.env")
    ]


@pytest.mark.integration
def test_an_edit_is_judged_and_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "compose.yaml"
    file.write_text("services: {web: {image: a, volumes: ['./d:/d']}}")
    before = resolve(tmp_path, monkeypatch)
    edited = resolve(tmp_path, monkeypatch, edited={str(file): file.read_text().replace("image: a", "image: b")})
    assert edited.deployment is not None
    assert before.deployment is not None
    assert edited.deployment.images["web"] == "b"
    assert edited.deployment.paths == before.deployment.paths
    assert edited.deployment.wanted.project == before.deployment.wanted.project
    assert edited.desired is not None
    assert edited.desired.config_files == (str(file),)
    assert "image: a" in file.read_text()
    wrong = resolve(tmp_path, monkeypatch, edited={str(file): "services: [1]"})
    assert wrong.refusal is not None
    assert wrong.refusal.file == str(file)
    with pytest.raises(InvalidInputError, match="do not read it"):
        resolve(tmp_path, monkeypatch, edited={str(tmp_path / "other.env"): ""})


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "old", "new", "service"),
    [
        ("parts/db.yaml", "image: db:1", "image: db:2", "db"),
        ("parts/deep/queue.yaml", "image: queue:1", "image: queue:2", "queue"),
        ("base/common.yaml", "image: base:1", "image: base:2", "api"),
        ("web.env", "A=1", "A=2", "web"),
    ],
    ids=["included", "included by an included one", "extended", "env file of a service"],
)
def test_an_edit_of_a_file_that_another_one_brings_in_is_judged(
    name: str, old: str, new: str, service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "compose.yaml": "include: [parts/db.yaml]\nservices:\n  web: {image: 'web:1', env_file: [web.env]}\n"
        "  api: {extends: {file: base/common.yaml, service: common}}\n",
        "parts/db.yaml": "include: [deep/queue.yaml]\n"
        "services: {db: {image: db:1, volumes: ['./data:/data', '../shared:/shared']}}\n",
        "parts/deep/queue.yaml": "services: {queue: {image: queue:1}}\n",
        "base/common.yaml": "services: {common: {image: base:1, volumes: ['./x:/x'], env_file: [../web.env]}}\n",
        "web.env": "A=1\n",
    }
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    before = resolve(tmp_path, monkeypatch)
    edited = resolve(tmp_path, monkeypatch, edited={str(tmp_path / name): files[name].replace(old, new)})
    assert before.deployment is not None
    assert edited.deployment is not None
    assert edited.deployment.paths == before.deployment.paths
    assert edited.files.keys() == before.files.keys()
    assert {path for path in before.files if edited.files[path] != before.files[path]} == {str(tmp_path / name)}
    assert before.desired is not None
    assert edited.desired is not None
    assert edited.desired.working_dir == before.desired.working_dir
    wanted, was = ({one.name: one for one in side.services or ()} for side in (edited.desired, before.desired))
    differ = {
        one
        for one in was
        if wanted[one].model_dump(exclude={"config_hash"}) != was[one].model_dump(exclude={"config_hash"})
    }
    assert service in differ
    assert (tmp_path / name).read_text() == files[name]
    assert "bcon-check-" not in repr(edited)


@pytest.mark.integration
def test_what_compose_says_of_an_edited_file_names_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "compose.yaml").write_text("include: [db.yaml]\nservices: {web: {image: a}}")
    (tmp_path / "db.yaml").write_text("services: {db: {image: a}}")
    refusal = resolve(tmp_path, monkeypatch, edited={str(tmp_path / "db.yaml"): "services: {db: {imag: a}}"}).refusal
    assert refusal is not None
    assert "bcon-check-" not in f"{refusal.message} {refusal.file}"


@pytest.mark.integration
def test_an_edit_behind_an_absolute_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "compose.yaml").write_text(f"include: [{tmp_path}/db.yaml]\nservices: {{web: {{image: a}}}}")
    (tmp_path / "db.yaml").write_text("services: {db: {image: a}}")
    with pytest.raises(InvalidInputError, match="do not read it"):
        resolve(tmp_path, monkeypatch, edited={str(tmp_path / "db.yaml"): "services: {db: {image: b}}"})


@pytest.mark.integration
@pytest.mark.parametrize(
    ("prefers_running", "image"), [(False, "here"), (True, "there")], ids=["as Compose does", "the project's own"]
)
def test_a_name_means_the_files_here_or_those_that_the_project_runs_from(
    prefers_running: bool, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("here", "there", "empty"):
        (tmp_path / folder).mkdir()
    for folder in ("here", "there"):
        (tmp_path / folder / "compose.yaml").write_text(f"services: {{web: {{image: '{folder}'}}}}")
    file = str(tmp_path / "there" / "compose.yaml")
    running = RunningProject(name="shop", config_files=(file,), working_dir=str(tmp_path / "there"))
    words = {"project_name": "shop", "prefers_running": prefers_running}
    for folder, wanted in (("here", image), ("empty", "there")):
        resolved = resolve(tmp_path / folder, monkeypatch, (running,), **words)
        assert resolved.deployment is not None
        assert resolved.deployment.images == {"web": wanted}


@pytest.mark.integration
def test_files_that_are_not_there_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ComposeFileNotFoundError):
        resolve(tmp_path, monkeypatch, files=["no.yaml"])


@pytest.mark.integration
def test_files_that_change_while_they_are_read_are_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "compose.yaml").write_text("services: {web: {image: a}}")
    binary = find_binary(os.environ["PATH"])
    assert binary is not None
    changing = tmp_path / "changing"
    changing.write_text(f'#!/bin/sh\ntouch {tmp_path}/compose.yaml\nexec {binary[0]} "$@"\n')
    changing.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    options = ComposeOptions(binary=(str(changing),), environ={"PATH": os.environ["PATH"]}, trusted=True)
    resolved = ComposeReader(options, Sealer.random()).resolve_deployment(DeploymentWords(), NOW)
    assert resolved.problem is not None
    assert "changed while they were read" in resolved.problem
