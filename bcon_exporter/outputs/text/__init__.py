"""Shows any tool's result as text for people: each report becomes blocks once, printed on a terminal or as Markdown."""

from io import StringIO
from typing import Any

from rich.console import Console, RenderableType

from bcon_exporter.outputs.text import markdown, terminal
from bcon_exporter.outputs.text.reports import build_blocks


def render_text(value: Any, *, healthy_too: bool = False) -> RenderableType:
    """Return a tool's result for a terminal; of a host only the main points of each container.

    Args:
        value: What a tool returned.
        healthy_too: Of a host's diagnosis: show the healthy containers in full as well.

    Raises:
        TypeError: No tool returns such a value.
    """
    return terminal.render_terminal(build_blocks(value, healthy_too=healthy_too, brief=True))


_FILE_WIDTH = 160


def render_plain(value: Any) -> str:
    """Return a tool's result as text for a file: without colours. Errors as for `render_text`."""
    console = Console(file=StringIO(), width=_FILE_WIDTH, highlight=False, markup=False, emoji=False, no_color=True)
    with console.capture() as captured:
        console.print(render_text(value))
    return "".join(line.rstrip() + "\n" for line in captured.get().splitlines())


def render_markdown(value: Any, *, healthy_too: bool = False) -> str:
    """Return a tool's result as Markdown, ending in a line feed. Arguments and errors as for `render_text`."""
    return markdown.render_markdown(build_blocks(value, healthy_too=healthy_too, brief=False))
