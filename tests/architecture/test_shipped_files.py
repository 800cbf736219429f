"""What is shipped beside the code is well formed: YAML, JSON, TOML, links, lock files, decisions, make targets."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.architecture.sources import ROOT, find_files, show
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)|src=\"([^\"]+)\"")
LOCKS = ("deploy/requirements.lock", "deploy/requirements-dev.lock", "deploy/requirements-build.lock")


class _AnyTag(yaml.CSafeLoader):
    """Reads Compose's `!reset` and `!override` too."""


_AnyTag.add_multi_constructor("!", lambda _loader, _suffix, _node: None)


YAML_FILES = find_files(".yml", ".yaml")
TEXTS = find_files(".md")


def find_yaml_fault(path: Path) -> str | None:
    try:
        return None if list(yaml.load_all(path.read_text(), Loader=_AnyTag)) else "is empty"
    except yaml.YAMLError as error:
        return str(error)


def test_every_yaml_file_loads() -> None:
    whole = [path for path in YAML_FILES if "fixtures" not in path.parts or "broken" not in path.name]
    assert {show(path): fault for path in whole if (fault := find_yaml_fault(path))} == {}


@table("path", find_files(".json"), ids=show)
def test_every_json_file_loads(path: Path) -> None:
    json.loads(path.read_text())


@pytest.mark.parametrize("path", find_files(".toml"), ids=show)
def test_every_toml_file_loads(path: Path) -> None:
    tomllib.loads(path.read_text())


def find_dead_links(path: Path) -> list[str]:
    targets = [first or second for first, second in LINK.findall(path.read_text())]
    relative = [target for target in targets if not re.match(r"[a-z]+:", target)]
    return [target for target in relative if not (path.parent / target).exists()]


def test_every_relative_link_leads_somewhere() -> None:
    assert {show(path): dead for path in TEXTS if (dead := find_dead_links(path))} == {}


def test_every_issue_form_has_what_github_wants_of_one() -> None:
    forms = {
        show(path): yaml.safe_load(path.read_text()) for path in YAML_FILES if path.parent.name == "ISSUE_TEMPLATE"
    }
    del forms[".github/ISSUE_TEMPLATE/config.yml"]

    assert len(forms) >= 4
    for name, form in forms.items():
        assert form.keys() <= {"name", "description", "labels", "body"}, name
        fields = [part for part in form["body"] if part["type"] != "markdown"]
        assert {part["type"] for part in fields} <= {"textarea", "input"}, name
        assert all(isinstance(part["id"], str) and part["attributes"]["label"] for part in fields), name
        assert len({part["id"] for part in fields}) == len(fields), name
        assert any(part.get("validations", {}).get("required") for part in fields), name


@pytest.mark.promise("S12")
@pytest.mark.parametrize("name", LOCKS)
def test_lock_files_are_hashed_and_name_no_registry(name: str) -> None:
    text = (ROOT / name).read_text()
    pins = re.findall(r"^([a-z0-9._-]+)==\S+ \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n?)+", text, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^[a-z0-9]", text, re.MULTILINE)), "every package is pinned and hashed"
    assert not re.search(r"https?://|file:", text)


def test_every_declared_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = {
        LOCKS[0]: project["project"]["dependencies"],
        LOCKS[1]: [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]],
        LOCKS[2]: project["build-system"]["requires"],
    }
    for lock, requirements in declared.items():
        names = {re.split(r"[<>=!~\[; ]", each)[0].lower().replace("_", "-") for each in requirements}
        locked = set(re.findall(r"^([a-z0-9.-]+)==", (ROOT / lock).read_text(), re.MULTILINE))
        assert names <= locked, f"{lock}: run make lock"


@pytest.mark.integration
def test_make_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([\w-]+):(?!=)", makefile, re.MULTILINE)) - {"venv", "basics", "packages", "engine"}
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {line.split()[1] for line in shown.splitlines() if line.startswith("  make ")} == targets


README_LINES = 120


def test_the_readme_names_the_two_commands_that_ci_and_newcomers_run() -> None:
    readme = (ROOT / "README.md").read_text()
    assert len(readme.splitlines()) <= README_LINES, "the rest belongs in docs/"
    assert "make demo" in readme
    assert "make test" in readme
    assert "make test\nmake test-all WITHOUT=test\n" in (ROOT / ".ci" / "run").read_text()
