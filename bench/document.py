"""Puts what a benchmark found into docs/performance.md."""

from pathlib import Path

DOCUMENT = Path(__file__).parents[1] / "docs" / "performance.md"


def write_section(name: str, text: str) -> None:
    """Replace what stands between the markers of a section, `<!-- name:begin -->` and `<!-- name:end -->`."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    before, _, rest = DOCUMENT.read_text().partition(begin)
    DOCUMENT.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}")
