"""Promise: docs/deployments.md tells every code of `check`, in the order in which they are shown."""

from pathlib import Path

from bcon_exporter.cli.report_formats import CHECK_FORMATS
from bcon_exporter.deployments.check import CHECK_RULES

PAGE = (Path(__file__).parents[2] / "docs/deployments.md").read_text()


def test_the_page_tells_every_code_with_its_meaning() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    told = [(row.split("`")[1], row.rpartition(" | ")[2].removesuffix(" |")) for row in rows]
    assert [one for one in told if one in {(rule.code.value, rule.meaning) for rule in CHECK_RULES}] == [
        (rule.code.value, rule.meaning) for rule in CHECK_RULES
    ]


def test_the_page_tells_every_format() -> None:
    assert all(f"`{form}`" in PAGE for form in CHECK_FORMATS)
