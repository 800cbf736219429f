"""docs/api.md names every address of the API and every error code with its status."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bcon_exporter.errors import ErrorCode
from bcon_exporter.model.filter_keys import FILTER_KEYS
from bcon_exporter.outputs.http.replies import STATUS_BY_CODE
from bcon_exporter.tools import TOOLS
from tests.outputs.http.asking import ask, site_of
from tests.table_rows import table

if TYPE_CHECKING:
    from bcon_exporter.tools import Tool

TEXT = (Path(__file__).parents[3] / "docs" / "api.md").read_text()


def test_the_addresses_in_the_docs_are_those_of_the_openapi_document() -> None:
    written = set(re.findall(r"\| `(?:GET|POST) (/\S*)`", TEXT))
    document = ask(site_of(), "GET", "/openapi.json").json()

    served = {re.sub(r"/api/v1/tools/\w+", "/api/v1/tools/{tool}", path) for path in document["paths"]}
    assert written == served


@table("code", list(ErrorCode))
def test_every_error_code_stands_beside_its_status(code: ErrorCode) -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith(("| 4", "| 5"))]

    assert any(row.startswith(f"| {STATUS_BY_CODE[code]} ") and f"`{code.value}`" in row for row in rows)


@table("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_stands_there_with_its_fields_and_its_summary(tool: Tool[Any]) -> None:
    row = next(line for line in TEXT.splitlines() if line.startswith(f"| `{tool.name}` |"))

    assert row.removesuffix(f" (*{tool.stage.word}*) |").removesuffix(" |").endswith(f"| {tool.summary}")
    if tool.choose is None:  # else docs/names.md has them, and is written from the table
        assert all(f"`{field}`" in row for field in tool.input_schema().get("properties", {}))


def test_every_filter_key_is_named() -> None:
    told = TEXT.partition("`filters` has the keys")[2].partition("each once")[0]

    assert re.findall(r"`(\w+)`", told) == list(FILTER_KEYS)
