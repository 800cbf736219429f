"""Promise: no stable name that others build upon vanishes unnoticed (docs/stability.md)."""

from __future__ import annotations

import re

from bcon_exporter import __version__
from tests.architecture.sources import ROOT
from tests.interface.write import LAST_RELEASE, collect, render

STAGES = ("experimental", "deprecated")
REMOVED = {
    "alert BconIncident label code": "`BconIncident` has no labels `incident` and `code` any more",
    "alert BconIncident label incident": "`BconIncident` has no labels `incident` and `code` any more",
}
"""Gone since the last release, on purpose: name → what CHANGELOG says of it."""
NO_LONGER_STABLE = (
    *("command mcp", "command run-tool-calls", "setting mcp.enable", "setting mcp.structured", "setting mcp.toolsets"),
    *("tool query_memory", "tool rag_search", "tool write_memory", "tool read_logs", "tool system_status"),
    *("tool restart_service", "tool modify_config", "tool schedule_task", "address GET /api/v1/memory"),
    *(f"address POST /api/v1/tools/{name}" for name in ("query_memory", "rag_search", "write_memory", "read_logs")),
    *(f"address POST /api/v1/tools/{name}" for name in ("system_status", "restart_service", "modify_config")),
    "address POST /api/v1/tools/schedule_task",
)
"""Experimental now, and not in the last release: 0.2.0 knew no stages, and these follow agents and their protocol."""


def stage_and_name(line: str) -> tuple[str, str]:
    """Return the stage of a line, "" for stable, and the rest."""
    first, _, rest = line.partition(" ")
    return (first, rest) if first in STAGES else ("", line)


def find_broken(promised: list[str], present: list[str]) -> list[str]:
    """Return the names that were stable and are gone, or experimental now."""
    now = {name: stage for stage, name in map(stage_and_name, present)}
    stable = [name for stage, name in map(stage_and_name, promised) if not stage]
    return [name for name in stable if now.get(name, "gone") in ("gone", "experimental")]


def is_below(name: str, heads: tuple[str, ...]) -> bool:
    """Whether a name is one of these, or a part of one."""
    return any(name == head or name.startswith(f"{head} ") for head in heads)


def read_last_release() -> list[str]:
    """The names of the last release."""
    return LAST_RELEASE.read_text().splitlines()[1:]


def test_no_stable_name_of_the_last_release_is_gone() -> None:
    broken = find_broken(read_last_release(), collect())
    allowed = [name for name in broken if name in REMOVED or is_below(name, NO_LONGER_STABLE)]

    assert sorted(set(broken) - set(allowed)) == [], "deprecate it for a release first: docs/stability.md"
    assert [head for head in NO_LONGER_STABLE if not any(is_below(name, (head,)) for name in broken)] == []
    assert sorted(set(REMOVED) - set(broken)) == [], "these are there: take them out of the table"


def test_the_changelog_tells_of_what_was_removed_on_purpose() -> None:
    unreleased = (ROOT / "CHANGELOG.md").read_text().partition("## Unreleased")[2].partition("\n## ")[0]
    text = re.sub(r"\s+", " ", unreleased)

    assert [name for name, words in REMOVED.items() if words not in text] == []


def test_the_list_is_that_of_the_version_that_the_package_names() -> None:
    assert LAST_RELEASE.read_text().splitlines()[0] == render([], __version__).splitlines()[0], "make interface"


def test_what_vanishes_or_is_no_longer_promised_is_found() -> None:
    promised = ["metric bcon_a gauge", "metric bcon_a label x", "experimental tool t", "deprecated setting s", "tool u"]
    kept = ["deprecated metric bcon_a gauge", "metric bcon_a label x", "tool u"]

    assert find_broken(promised, kept) == []
    assert find_broken(promised, ["metric bcon_a counter", "metric bcon_a label y", "experimental tool u"]) == [
        "metric bcon_a gauge",
        "metric bcon_a label x",
        "tool u",
    ]
