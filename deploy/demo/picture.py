"""Draws a terminal's output as an SVG picture, for the README."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from pathlib import Path

FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # would be fetched from a content network


def draw(printed: str, title: str, path: Path) -> None:
    """Write what a command printed, colours included, as a picture of a terminal."""
    text = Text.from_ansi(printed.rstrip())
    widest = max((line.cell_len for line in text.split()), default=80)
    console = Console(record=True, width=widest + 1, file=io.StringIO(), force_terminal=True)
    console.print(text, crop=False, soft_wrap=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = console.export_svg(title=title, unique_id=path.stem)
    path.write_text(FONT_FACE.sub("", picture))
