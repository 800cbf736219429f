"""What `make unit ONLY=…` runs: the tests that use a package or module by name, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.selection import ROOT, Tree, UnknownModuleError, main
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "bcon_exporter/__init__.py": "",
    "bcon_exporter/drift/__init__.py": "from bcon_exporter.drift.compare import compare\n"
    "from bcon_exporter.drift.rule import Rule\n__all__ = ['Rule', 'compare']\n",
    "bcon_exporter/drift/compare.py": "def compare(): ...\n",
    "bcon_exporter/drift/rule.py": "class Rule: ...\n",
    "bcon_exporter/tools/__init__.py": "from bcon_exporter.tools.drift import detect_drift\n"
    "from bcon_exporter.tools.registry import call\n",
    "bcon_exporter/tools/drift.py": "from bcon_exporter.drift import compare\ndef detect_drift(): return compare()\n"
    "def other(): ...\n",
    "bcon_exporter/tools/registry.py": "from bcon_exporter.tools.drift import detect_drift\n"
    "def call(): detect_drift()\n",
    "bcon_exporter/tools/typed.py": "from bcon_exporter.drift import Rule\n"
    "def name_of(rule: Rule) -> str: return rule.name\n",
    "tests/drift/test_data.py": "import json\n",
    "tests/drift/test_rule.py": "from bcon_exporter.drift import Rule\n",
    "tests/drift/test_compare.py": "def test_it():\n    from bcon_exporter.drift import compare\n",
    "tests/tools/test_module.py": "from bcon_exporter.tools import drift\n",
    "tests/tools/test_face.py": "from bcon_exporter.tools import detect_drift\n",
    "tests/tools/test_other.py": "from bcon_exporter.tools.drift import other\n",
    "tests/tools/test_two_steps.py": "from bcon_exporter.tools import call\n",
    "tests/tools/test_typed.py": "from bcon_exporter.tools.typed import name_of\n",
    "tests/tools/test_types.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
    "    from bcon_exporter.drift import compare\n",
    "tests/makers.py": "from bcon_exporter.drift.compare import compare\ndef make(): return compare()\n"
    "def remake(): return make()\ndef plain(): ...\n",
    "tests/scenes.py": "from tests.makers import remake\nSCENE = remake()\nEMPTY = None\n",
    "tests/test_scenes.py": "from tests.scenes import SCENE\n",
    "tests/test_plain.py": "from tests.makers import plain\nfrom tests.scenes import EMPTY\n",
    "tests/faces/drift.py": "from bcon_exporter.drift.compare import compare as compare_all\n"
    "from bcon_exporter.drift.rule import Rule\n",
    "tests/test_by_face.py": "from tests.faces.drift import compare_all\n",
    "tests/test_rule_by_face.py": "from tests.faces.drift import Rule\n",
    "tests/pages/conftest.py": "from tests.scenes import SCENE\n",
    "tests/pages/test_page.py": "import json\n",
    "tests/docker/test_engine.py": "from bcon_exporter.drift import compare\n",
}
USE_COMPARE = {
    "tests/docker/test_engine.py",
    "tests/drift/test_compare.py",
    "tests/pages/test_page.py",
    "tests/test_by_face.py",
    "tests/test_scenes.py",
    "tests/tools/test_face.py",
    "tests/tools/test_module.py",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@table(
    ("only", "selected"),
    [
        ("drift.compare", USE_COMPARE),
        ("bcon_exporter.drift.compare", USE_COMPARE),
        ("bcon_exporter/drift/compare.py", USE_COMPARE),
        ("drift/compare.py", USE_COMPARE),
        ("drift.rule", {"tests/drift/test_rule.py", "tests/test_rule_by_face.py"}),
        (
            "drift",
            USE_COMPARE | {"tests/drift/test_data.py", "tests/drift/test_rule.py", "tests/test_rule_by_face.py"},
        ),
        ("tools.registry", {"tests/tools/test_two_steps.py"}),
        ("tests/makers.py", {"tests/pages/test_page.py", "tests/test_plain.py", "tests/test_scenes.py"}),
        ("tests/drift", {"tests/drift/test_data.py", "tests/drift/test_rule.py", "tests/drift/test_compare.py"}),
        ("tests/tools/test_face.py", {"tests/tools/test_face.py"}),
    ],
    shared=["root"],
)
def test_what_uses_it_by_name_is_selected(root: Path, only: str, selected: set[str]) -> None:
    assert {str(path.relative_to(root)) for path in Tree(root).select(only)} == selected


def test_an_unknown_name_is_refused_with_what_there_is(root: Path) -> None:
    tree = Tree(root)
    with pytest.raises(UnknownModuleError, match=r"ONLY=drfit: there is no .* mean drift\? There are drift, tools,"):
        tree.select("drfit")
    with pytest.raises(UnknownModuleError, match=r"Did you mean drift\.compare\? "):
        tree.select("tools.compare")
    with pytest.raises(UnknownModuleError, match="There are drift, tools,"):
        tree.select("")


def test_the_command_prints_files_for_pytest_and_none_on_engines(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["drift.rule", "tools.registry", "tests/docker"], root) == 0
    assert capsys.readouterr().out.split() == [
        "tests/drift/test_rule.py",
        "tests/test_rule_by_face.py",
        "tests/tools/test_two_steps.py",
    ]

    assert main(["drift.rule", "nothing"], root) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err[:14]) == ("", "ONLY=nothing: ")

    assert main(["tests/docker"], root) == 2
    assert capsys.readouterr().err == "ONLY=tests/docker: no unit test uses it by name\n"


def test_of_this_repository_it_selects_a_part() -> None:
    tree = Tree()
    selected = set(tree.select("search.scoring"))

    assert ROOT / "tests/search/test_search.py" in selected
    assert len(selected) < 20
