"""Promise: a Compose file up to the mebibyte that is read is walked within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bcon_exporter.compose.files import FILE_BYTES
from bcon_exporter.compose.involved_files import InvolvedFilesCache, ResolutionRequest
from bcon_exporter.compose.referenced_files import find_named_files
from bcon_exporter.compose.yaml_nodes import NotYamlError, UndeterminedFilesError
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "services: {web: {image: 'x:1'}}\n"


def tags(count: int) -> str:
    """Distinct `%TAG` directives, of which libyaml compares each with all before."""
    return "".join(f"%TAG !{number}! tag:b\n" for number in range(count)) + "---\n" + HEAD


def bomb(services: int) -> str:
    """Aliases of aliases, merged into services."""
    lines = ["x-0: &a0 {env_file: [a.env], b: 1}"]
    lines += [f"x-{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 9)]
    return "\n".join([*lines, "services:", *(f"  w{n}: {{<<: *a8}}" for n in range(services))])


@table(
    "text",
    [
        pytest.param("[" * 20_000, id="deep list"),
        pytest.param("{a: " * 20_000, id="deep map"),
        pytest.param("- " * 20_000, id="deep block"),
        pytest.param(tags(2_000), id="directives"),
        pytest.param(bomb(1), id="alias bomb"),
        pytest.param("a: &a {<<: *a}\nservices: {web: *a}\n", id="alias of itself"),
        pytest.param("include:\n" + "- a\n" * 2_000, id="many includes"),
        pytest.param("- a\n" * (FILE_BYTES // 4), id="many nodes"),
    ],
)
def test_what_would_cost_too_much_ends_the_walk(text: str) -> None:
    with pytest.raises(UndeterminedFilesError) as caught:
        find_named_files(text.encode())
    assert not isinstance(caught.value, NotYamlError), "a limit has ended it, not the parser"


@pytest.mark.parametrize("text", [bomb(0), tags(10), HEAD + "x: " + "[" * 50 + "]" * 50 + "\n"])
def test_what_costs_little_is_walked(text: str) -> None:
    assert find_named_files(text.encode()).includes == []


def test_a_file_that_leads_to_much_more_text_is_not_followed(tmp_path: Path) -> None:
    large = HEAD + "#" * (FILE_BYTES - len(HEAD))
    for number in range(10):
        (tmp_path / f"{number}.yaml").write_text(large)
    for count, known in ((7, True), (10, False)):
        (tmp_path / "compose.yaml").write_text(f"include: [{', '.join(f'{n}.yaml' for n in range(count))}]\n")
        involved = InvolvedFilesCache().find(ResolutionRequest((tmp_path / "compose.yaml",), (), tmp_path))
        assert (involved.fingerprint is not None) is known
