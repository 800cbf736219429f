"""docs/api.md names every address of the API and every error code with its status."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bcon_exporter.errors import ErrorCode
from bcon_exporter.outputs.http.replies import STATUS_BY_CODE
from tests.outputs.http.asking import ask, site_of

TEXT = (Path(__file__).parents[3] / "docs" / "api.md").read_text()


def test_the_addresses_in_the_docs_are_those_of_the_openapi_document() -> None:
    written = set(re.findall(r"\| `(?:GET|POST) (/\S*)`", TEXT))
    document = ask(site_of(), "GET", "/openapi.json").json()

    served = {re.sub(r"/api/v1/tools/\w+", "/api/v1/tools/{tool}", path) for path in document["paths"]}
    assert written == served


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_error_code_stands_beside_its_status(code: ErrorCode) -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith(("| 4", "| 5"))]

    assert any(row.startswith(f"| {STATUS_BY_CODE[code]} ") and f"`{code.value}`" in row for row in rows)
