"""Writes docs/names.md, every name that agents of other programs know, from the tables of the tools: `make docs`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bcon_exporter.model.operations import read_fields
from bcon_exporter.tools import TOOLS
from bcon_exporter.tools.operation_table import FLUX_OPERATIONS, HELP, SCOUT_OPERATIONS
from bcon_exporter.tools.previews import PREVIEWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bcon_exporter.model.operations import FieldSpec, Operation

NAMES = Path(__file__).parent.parent / "docs" / "names.md"
_HEAD = """\
# Every name that other agents know

<!-- Written by `make docs` from bcon_exporter/tools/operation_table.py and the list of tools. -->

Agents that were written for other programs ask for these names ([how](agents.md#flux-and-scout)).

- *answered*: by reading.
- *denied*: it would change the host. The refusal (`permission_denied`, `reason` = `level_1`) names the command for a
  person; with **preview** it says what that would do.
- *elsewhere*: it is not read from here. `not_available` has the command for a person in `would_help`.

A field is required, has a default, or may be left out. All operations take `response_format` = markdown, or json.
"""
_OTHERS = """\
## Names of their own

| name | what it answers |
|---|---|
"""


def write_names() -> str:
    """Return docs/names.md."""
    parts = [_HEAD]
    for tool, operations in (("flux", FLUX_OPERATIONS), ("scout", SCOUT_OPERATIONS)):
        parts += [f"\n## {tool.capitalize()}\n\n| operation | fields | |\n|---|---|---|\n", *_rows((HELP, *operations))]
    others = sorted((tool for tool in TOOLS if tool.toolset == "agents"), key=lambda tool: tool.name)
    more = [tool for tool in TOOLS if tool.name in ("query_memory", "rag_search", "write_memory")]
    parts += ["\n", _OTHERS, *(f"| `{tool.name}` | {tool.summary} |\n" for tool in (*others, *more))]
    return "".join(parts)


def _rows(operations: Iterable[Operation]) -> Iterator[str]:
    for one in operations:
        fields = ", ".join(map(_show_field, read_fields(one.fields)))
        how = f"*{one.kind}*, **preview**" if one.key in PREVIEWS else f"*{one.kind}*"
        yield f"| `{one.key}` | {fields} | {how}: {one.says} |\n"


def _show_field(spec: FieldSpec) -> str:
    name, space, rest = spec.words.partition(" ")
    return f"`{name}`{space}{rest}"


if __name__ == "__main__":
    NAMES.write_text(write_names())
