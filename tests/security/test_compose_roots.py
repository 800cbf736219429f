"""Promise: the daemon resolves a project only where every file that Compose would read lies within compose.roots.

Labels are claims, and so is all that a Compose file says of other files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.compose import ComposeOptions, ComposeReader, find_binary
from bcon_exporter.compose.files import FILE_BYTES
from bcon_exporter.compose.involved_files import InvolvedFilesCache, ResolutionRequest
from bcon_exporter.errors import BconError, ComposeFileNotFoundError
from bcon_exporter.model.desired import DesiredProject, ProjectProblem, RunningProject
from bcon_exporter.secrets.masking import Sealer
from tests.compose.conftest import NOW
from tests.table_rows import table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.integration

SECRET = "hunter2-outside"
PATH = os.environ["PATH"]
BASE = "services: {base: {image: 'x:1', labels: {canary: hunter2-outside}}}\n"
"""Read as an env file it is malformed, and Compose quotes it then."""

CLAIMS = {
    "include": "include: ['NAME']\n",
    "include, path list": "include: [{path: [more.yaml, 'NAME']}]\n",
    "include, env_file": "include: [{path: more.yaml, env_file: 'NAME'}]\n",
    "include, env_file list": "include: [{path: more.yaml, env_file: ['NAME']}]\n",
    "extends": "services: {web: {extends: {file: 'NAME', service: base}}}\n",
    "env_file": "services: {web: {image: 'x:1', env_file: 'NAME'}}\n",
    "env_file list": "services: {web: {image: 'x:1', env_file: [a.env, 'NAME']}}\n",
    "env_file map": "services: {web: {image: 'x:1', env_file: [{path: 'NAME', required: false}]}}\n",
    "label_file": "services: {web: {image: 'x:1', label_file: ['NAME']}}\n",
    "configs": "services: {web: {image: 'x:1', configs: [c]}}\nconfigs: {c: {file: 'NAME'}}\n",
    "secrets": "services: {web: {image: 'x:1', secrets: [c]}}\nsecrets: {c: {file: 'NAME'}}\n",
    "alias": "x-name: &name 'NAME'\nservices: {web: {image: 'x:1', env_file: *name}}\n",
    "merge": "x-common: &common {env_file: 'NAME'}\nservices: {web: {image: 'x:1', <<: *common}}\n",
    "merged list": "x-a: &a {env_file: 'NAME'}\nservices: {web: {image: 'x:1', <<: [{user: '1'}, *a]}}\n",
    "key by alias": "x-key: &key env_file\nservices: {web: {image: 'x:1', *key : 'NAME'}}\n",
    "override tag": "services: {web: {image: 'x:1', env_file: !override ['NAME']}}\n",
    "second document": "services: {web: {image: 'x:1'}}\n---\nservices: {web: {env_file: 'NAME'}}\n",
    "JSON": '{"services": {"web": {"image": "x:1", "env_file": ["NAME"]}}}\n',
    "extends of an include": "include: [through.yaml]\n",
}
HIDDEN = {
    "remote": "include: ['https://example.com/NAME.git']\n",
    "oci": "include: ['oci://example.com/NAME']\n",
    "base64": "services: {web: {image: 'x:1', env_file: !!binary NAME}}\n",
    "key in base64": "!!binary aW5jbHVkZQ==: [more.yaml]\nservices: {web: {image: 'x:1'}}\n",
    "nested variable": "services: {web: {image: 'x:1', env_file: '${A:-${B:-NAME}}'}}\n",
    "replaced variable": "services: {web: {image: 'x:1', env_file: '${A:+NAME}'}}\n",
    "deep": "services: {web: {image: 'x:1'}}\nx-deep: " + "[" * 100 + "]" * 100 + "\n",
    "UTF-16": "services: {web: {image: 'x:1'}}\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_shop(tmp_path)


def make_shop(tmp_path: Path) -> Path:
    """A project folder within the one root; beside the root lies what must not be read."""
    folder = tmp_path / "root" / "shop"
    folder.mkdir(parents=True)
    (folder / "more.yaml").write_text("services: {more: {image: 'x:1'}}\n")
    (folder / "through.yaml").write_text("services: {web: {extends: {file: 'NAME', service: base}}}\n")
    (folder / "a.env").write_text("A=1\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "canary").write_text(BASE)
    return folder


def make_reader(shop: Path, **options: Any) -> ComposeReader:
    """A daemon's reader with one root."""
    settings = {
        "binary": find_binary(PATH),
        "environ": {"PATH": PATH},
        "wait_seconds": 60.0,
        "roots": (shop.parent,),
        **options,
    }
    return ComposeReader(ComposeOptions(**settings), Sealer(b"k"))


def claimed(shop: Path, **facts: Any) -> RunningProject:
    """What the labels of a container say."""
    return RunningProject(
        **{"name": "shop", "config_files": (f"{shop}/compose.yaml",), "working_dir": str(shop), **facts}
    )


def write(shop: Path, text: str, name: str) -> None:
    """Write the Compose file that makes the claim, and the one that it is passed on by."""
    (shop / "compose.yaml").write_text(text.replace("NAME", name))
    through = (shop / "through.yaml").read_text()
    (shop / "through.yaml").write_text(through.replace("NAME", name))


def assert_refused(reader: ComposeReader, shop: Path) -> DesiredProject:
    """Neither the scan nor HTTP learns anything, and nothing has been run but to learn the version."""
    found = reader.resolve_running(claimed(shop), NOW)
    assert (found.services, found.problem) == (None, ProjectProblem.OUTSIDE_ROOTS), found.problem_detail
    assert "compose.roots" in str(found.problem_detail)
    with pytest.raises(ComposeFileNotFoundError) as caught:
        reader.resolve_file(f"{shop}/compose.yaml", None, NOW)
    assert "outside" not in str([caught.value.message, caught.value.details])
    assert SECRET not in found.model_dump_json()
    assert reader.runs <= 1
    return found


@pytest.mark.promise("S6")
@table("place", ["absolute", "relative", "symlink", "folder symlink", "variable", "absent"])
@table("claim", CLAIMS)
def test_a_file_outside_of_the_roots_is_not_read_however_it_is_named(tmp_path: Path, claim: str, place: str) -> None:
    shop = make_shop(tmp_path)
    outside = shop.parents[1] / "outside"
    (shop / "link").symlink_to(outside / "canary")
    (shop / "folder").symlink_to(outside)
    (shop / ".env").write_text(f"DIR={outside}\n")
    name = {
        "absolute": f"{outside}/canary",
        "relative": "../../outside/canary",
        "symlink": "link",
        "folder symlink": "folder/canary",
        "variable": "${DIR:-here}/canary",
        "absent": f"{outside}/absent",
    }[place]
    write(shop, CLAIMS[claim], name)
    assert_refused(make_reader(shop), shop)


@table("claim", CLAIMS)
def test_the_same_within_the_roots_is_resolved(tmp_path: Path, claim: str) -> None:
    shop = make_shop(tmp_path)
    inside = "labels: {a: '1'}\n" if "env_file" in CLAIMS[claim] or "label" in claim else BASE
    (shop.parent / "inside").write_text("A=1\n" if inside != BASE else BASE)
    write(shop, CLAIMS[claim], "../inside")
    found = make_reader(shop).resolve_running(claimed(shop), NOW)
    assert found.services, found.problem_detail


@table("claim", HIDDEN)
def test_a_name_that_cannot_be_told_counts_as_outside(tmp_path: Path, claim: str) -> None:
    shop = make_shop(tmp_path)
    write(shop, HIDDEN[claim], "L2V0Yy9ob3N0bmFtZQ==")
    if claim == "UTF-16":
        (shop / "compose.yaml").write_bytes(HIDDEN[claim].encode("utf-16"))
    assert_refused(make_reader(shop), shop)


def test_a_name_with_a_variable_of_an_env_file_that_cannot_be_understood_counts_as_outside(shop: Path) -> None:
    write(shop, "services: {web: {image: 'x:1', env_file: '${DIR:-here}/canary'}}\n", "")
    (shop / ".env").write_text(f"NOT A NAME=1\nDIR={shop.parents[1]}/outside\n")
    assert_refused(make_reader(shop), shop)


def test_a_project_directory_outside_of_the_roots_is_not_looked_into(shop: Path) -> None:
    outside = shop.parents[1] / "outside"
    write(shop, "include: [{path: more.yaml, project_directory: NAME}]\n", str(outside))
    assert_refused(make_reader(shop), shop)
    write(shop, "services: {web: {image: 'x:1'}}\n", "")
    for facts in ({"working_dir": str(outside)}, {"environment_files": (f"{outside}/canary",)}):
        found = make_reader(shop).resolve_running(claimed(shop, **facts), NOW)
        assert (found.services, found.problem) == (None, ProjectProblem.OUTSIDE_ROOTS), facts


@pytest.mark.promise("S6")
@pytest.mark.parametrize("file", ["compose.yaml", "absent.yaml", "folder.yaml", "pipe.yaml"])
def test_with_roots_unset_a_label_makes_the_daemon_look_at_nothing(shop: Path, file: str) -> None:
    (shop / "compose.yaml").write_text("services: {web: {image: 'x:1'}}\n")
    (shop / "folder.yaml").mkdir()
    os.mkfifo(shop / "pipe.yaml")
    reader = make_reader(shop, roots=())
    found = reader.resolve_running(claimed(shop, config_files=(f"{shop}/{file}",)), NOW)
    assert (found.services, found.problem) == (None, ProjectProblem.OUTSIDE_ROOTS)
    assert str(found.problem_detail).replace(file, "FILE") == (
        f"Its containers name {shop}/FILE, which is not read, since compose.roots is not set. Labels are claims: add "
        "its folder to compose.roots."
    )
    assert reader.runs == 0
    with pytest.raises(ComposeFileNotFoundError):
        reader.resolve_file(f"{shop}/{file}", None, NOW, (claimed(shop, config_files=(f"{shop}/{file}",)),))


@pytest.mark.promise("S6")
@pytest.mark.parametrize("roots", [(), ("/srv/stacks",)])
def test_shadow_and_a_file_that_is_not_there_look_alike(shop: Path, roots: tuple[str, ...]) -> None:
    from pathlib import Path as RealPath

    answers = set()
    for path in ("/etc/shadow", "/etc/no-shadow", "/etc", "/dev/zero"):
        reader = make_reader(shop, roots=tuple(map(RealPath, roots)))
        for facts in ({"config_files": (path,)}, {"working_dir": path}, {"environment_files": (path,)}):
            found = reader.resolve_running(claimed(shop, **facts), NOW)
            answers.add((found.problem, str(found.problem_detail).replace(path, "PATH").replace(str(shop), "SHOP")))
    assert {problem for problem, _ in answers} == {ProjectProblem.OUTSIDE_ROOTS}
    assert len({told.replace("SHOP/compose.yaml", "PATH") for _, told in answers}) == 1, answers


def test_a_file_of_the_settings_opens_its_own_folder_and_nothing_else(shop: Path) -> None:
    (shop / "compose.yaml").write_text("include: [more.yaml]\nservices: {web: {image: 'x:1', env_file: a.env}}\n")
    other = shop.parent / "other.yaml"
    other.write_text("services: {web: {image: 'x:1'}}\n")
    reader = make_reader(shop, roots=(), files=(shop,))
    assert [project.problem for project in reader.configured_projects(NOW)] == [None]
    assert reader.resolve_running(claimed(shop), NOW).services
    for files in ((str(other),), (f"{shop}/compose.yaml", str(other)), (f"{shop}/more.yaml",)):
        found = reader.resolve_running(claimed(shop, config_files=files), NOW)
        assert (found.services, found.problem) == (None, ProjectProblem.OUTSIDE_ROOTS), files
    write(shop, CLAIMS["env_file"], "../other.yaml")
    assert [project.problem for project in reader.configured_projects(NOW)] == [ProjectProblem.OUTSIDE_ROOTS]


@table("kind", ["pipe", "directory", "device", "2 MiB"])
@table("claim", ["include", "extends", "env_file", "include, env_file", "label_file"])
def test_what_is_no_small_regular_file_is_refused_at_once(tmp_path: Path, claim: str, kind: str) -> None:
    shop = make_shop(tmp_path)
    odd = shop / "odd"
    match kind:
        case "pipe":
            os.mkfifo(odd)
        case "directory":
            odd.mkdir()
        case "device":
            odd.symlink_to("/dev/zero")
        case _:
            odd.write_bytes(b"#" * (2 * FILE_BYTES))
    write(shop, CLAIMS[claim], "odd")
    for trusted in (False, True):
        reader = make_reader(shop, roots=(shop.parent, odd.resolve()), trusted=trusted)
        found = reader.resolve_running(claimed(shop), NOW)
        assert (found.services, found.problem) == (None, ProjectProblem.NOT_FOUND)
        assert "regular file" in str(found.problem_detail)
        assert reader.runs <= 1


def test_a_command_reads_what_its_user_may_read(shop: Path) -> None:
    write(shop, "services: {web: {extends: {file: 'NAME', service: base}}}\n", "../../outside/canary")
    assert make_reader(shop, trusted=True, roots=()).resolve_running(claimed(shop), NOW).services


def test_dev_null_stands_for_no_env_file(shop: Path) -> None:
    write(shop, "services: {web: {image: 'x:1', env_file: NAME}}\n", "/dev/null")
    assert make_reader(shop).resolve_running(claimed(shop), NOW).services


def test_an_answer_counts_only_if_the_files_are_still_those_that_were_checked(shop: Path, tmp_path: Path) -> None:
    """The stand-in binary swaps a file for a link that leads outside, as an attacker would while Compose reads."""
    (shop / "compose.yaml").write_text("services: {web: {image: 'x:1', env_file: a.env}}\n")
    binary = tmp_path / "docker-compose"
    config = '{"name": "shop", "services": {"web": {"image": "x:1"}}}'
    swap = f"rm -f {shop}/a.env; ln -s {tmp_path}/outside/canary {shop}/a.env"
    script = f"#!/bin/sh\ncase \"$*\" in version*) echo 5.6.1;; *json*) {swap}; echo '{config}';; esac\n"
    binary.write_text(script)
    binary.chmod(0o755)
    found = make_reader(shop, binary=(str(binary),)).resolve_running(claimed(shop), NOW)
    assert (found.services, found.problem) == (None, ProjectProblem.NOT_FOUND)
    assert "changed" in str(found.problem_detail)


SWAPPED = {
    "the file": ("link", "services: {web: {image: 'x:1'}}\n"),
    "an include": ("link", "include: [link]\nservices: {web: {image: 'x:1'}}\n"),
    "a folder": ("folder", "include: [folder/canary]\nservices: {web: {image: 'x:1'}}\n"),
    "an env file": ("link", "services: {web: {image: 'x:1', env_file: link}}\n"),
}
"""What is a link that leads to and fro, and the Compose file that has it read."""
SWAPS, ROUNDS = 2_000_000, 5


@contextmanager
def swapping(link: Path, *targets: Path) -> Iterator[None]:
    """Let a link lead to each of the targets in turn, as fast as can be, for as long as the block takes."""
    over = threading.Event()

    def swap() -> None:
        for number in range(SWAPS):
            if over.is_set():
                return
            link.with_suffix(".new").symlink_to(targets[number % len(targets)])
            link.with_suffix(".new").replace(link)

    thread = threading.Thread(target=swap, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(10)


@pytest.mark.promise("S6")
@pytest.mark.parametrize("kind", SWAPPED)
def test_a_link_that_is_swapped_while_files_are_read_leads_nowhere_outside(shop: Path, kind: str) -> None:
    outside, inside = shop.parents[1] / "outside", shop / "inside"
    inside.mkdir()
    (inside / "canary").write_text("A=1\n" if kind == "an env file" else "services: {base: {image: 'x:1'}}\n")
    name, text = SWAPPED[kind]
    link = shop / name
    if kind == "the file":
        link = shop / "compose.yaml"
    else:
        (shop / "compose.yaml").write_text(text)
    ends = (inside, outside) if name == "folder" else (inside / "canary", outside / "canary")
    link.symlink_to(ends[0])
    problems = set()
    with swapping(link, *ends):
        for _ in range(ROUNDS):
            reader = make_reader(shop)
            found = reader.resolve_running(claimed(shop), NOW)
            said = found.model_dump_json()
            try:
                said += reader.resolve_file(f"{shop}/compose.yaml", None, NOW).model_dump_json()
            except BconError as error:
                said += str([error.message, error.details])
            assert SECRET not in said
            assert "canary:" not in said
            problems.add(found.problem)
    assert problems - {None}, "it was seen to change, or to lead outside"


FILES = {
    "compose.yaml": "include: [sub/inc.yaml, {path: [sub/a.yaml, sub/b.yaml], env_file: inc.env, "
    "project_directory: sub/deep}]\nservices:\n  web:\n    image: 'x:${TAG:-1}'\n    env_file: [{path: a.env, "
    "required: false}]\n    label_file: l.labels\n    extends: {file: base/base.yaml, service: b}\n"
    "    secrets: [s]\n    configs: [c]\nconfigs: {c: {file: c.txt}}\nsecrets: {s: {file: s.txt}}\n",
    "base/base.yaml": "include: [not-read.yaml]\nservices: {b: {image: 'x:1', env_file: b.env, "
    "extends: {file: n/n.yaml, service: q}}}\n",
    "base/n/n.yaml": "services: {q: {env_file: ['${N:-n}.env']}}\n",
    "sub/inc.yaml": "include: [deep/dd.yaml]\nservices: {i: {image: 'x:1', env_file: s.env}}\n",
    "sub/a.yaml": "services: {a: {image: 'x:1', env_file: d.env, extends: {file: x.yaml, service: x}}}\n",
    "sub/b.yaml": "services: {bb: {image: 'x:1'}}\n",
    "sub/deep/x.yaml": "services: {x: {image: 'x:1', label_file: ../s.env}}\n",
    "sub/deep/dd.yaml": "include: [{path: e.yaml, env_file: e.env}]\nservices: {dd: {image: 'x:1', env_file: d.env}}\n",
    "sub/deep/e.yaml": "services: {e: {image: 'x:1', env_file: '${E}.env'}}\n",
    "deep/e.env": "E=far\n",
    "sub/deep/e.env": "E=near\n",
    "../common.env": "A=1\n",
    **dict.fromkeys(
        ("a.env", "b.env", "inc.env", "l.labels", "c.txt", "s.txt", "base/b.env", "base/n/n.env", "sub/s.env"), "A=1\n"
    ),
    **dict.fromkeys(("sub/deep/d.env", "sub/deep/far.env", "sub/deep/near.env", ".env", "sub/.env"), "A=1\n"),
}


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_all_that_compose_opens_is_known_before(shop: Path, tmp_path: Path) -> None:
    """The walk over the names against the truth: what the binary is seen to open, quirks included."""
    for name, text in FILES.items():
        (shop / name).parent.mkdir(exist_ok=True, parents=True)
        (shop / name).write_text(text)
    trace = tmp_path / "trace"
    command = [*(find_binary(PATH) or ()), "-f", f"{shop}/compose.yaml", "--project-directory", str(shop), "config"]
    subprocess.run(
        ["strace", "-f", "-qq", "-y", "-e", "trace=openat", "-o", str(trace), *command],
        cwd=shop,
        check=True,
        capture_output=True,
        env={"PATH": PATH, "HOME": "/nonexistent", "DOCKER_CONFIG": "/nonexistent"},
    )
    opened = {line.rpartition("<")[2].rstrip(">\n") for line in trace.read_text().splitlines() if "= -1" not in line}
    opened = {path for path in opened if path.startswith(str(shop.parent))}
    request = ResolutionRequest((shop / "compose.yaml",), (), shop, "shop", (shop.parent,))
    involved = InvolvedFilesCache().find(request)
    assert f"{shop}/deep/e.env" in opened, "Compose 5.6 reads the env file of an inner include from a mistaken folder"
    assert f"{shop}/sub/deep/x.yaml" in opened
    assert involved.fingerprint is not None
    assert opened - involved.files.keys() == set()
    assert {path for path in involved.files if path.endswith(("c.txt", "s.txt"))} == set(), "these are not read"
