"""Promise: docs/configuration.md names every setting with its default."""

from pathlib import Path

from bcon_exporter.settings import env_name, list_settings, show_default
from tests.table_rows import table

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


@table("dotted", list_settings())
def test_every_setting_stands_in_the_documentation(dotted: str) -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith(f"| `--{dotted}` |")]
    assert len(rows) == 1, f"docs/configuration.md must have one row for --{dotted}"
    default = show_default(list_settings()[dotted].default)
    assert env_name(dotted) in rows[0]
    assert not default or f"`{default}`" in rows[0]
