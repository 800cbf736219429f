"""`{% row %}…{% endrow %}` in a template: what raises while one row is drawn costs that row, and the page says so."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context
from markupsafe import Markup

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_LOST = "could not be shown; the log says why"


class ContainedRow(Extension):
    """The tag `row`, with the name of the element that stands in a lost row's place: `{% row "tr" %}`; else a `li`."""

    tags = {"row"}  # noqa: RUF012 -- as Jinja declares it

    def parse(self, parser: Parser) -> nodes.Node:
        """Return a call of `_draw` with the body as its caller."""
        line = next(parser.stream).lineno
        element = nodes.Const("li") if parser.stream.current.type == "block_end" else parser.parse_expression()
        body = parser.parse_statements(("name:endrow",), drop_needle=True)
        call = self.call_method("_draw", [nodes.ContextReference(), element])
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _draw(self, context: Context, element: str, caller: Callable[[], Markup]) -> Markup:
        text = f"<td>This row {_LOST}.</td>" if element == "tr" else f"This {_LOST}."
        contained: Callable[[str], AbstractContextManager[None, bool]] = context["contained"]
        with contained("drawing a row of a page"):
            return caller()
        return Markup(f'<{element} class="dim">{text}</{element}>')  # noqa: S704 -- words of ours
