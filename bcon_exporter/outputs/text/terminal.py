"""Prints blocks on a terminal, with colours."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from bcon_exporter.outputs.text.blocks import (
    Badge,
    Block,
    EmptyLine,
    Fields,
    Heading,
    Item,
    Items,
    Line,
    Quote,
    Section,
    Span,
    Style,
    Table,
)
from bcon_exporter.secrets.cleaning import strip_controls

_STYLES = {
    Style.PLAIN: "",
    Style.STRONG: "bold",
    Style.DIM: "dim",
    Style.COMMAND: "dim italic",
    Style.CODE: "",
    Style.TAG: "dim",
    Style.CAUSE: "cyan",
    Style.ROOT: "bold cyan",
    Style.GOOD: "green",
    Style.WARNING: "yellow",
    Style.BAD: "red",
    Style.WORST: "bold red",
    Style.DOUBT: "magenta",
}
_BADGE_STYLES = {style: f"bold {colour}".strip() for style, colour in _STYLES.items()} | {
    Style.WORST: "bold white on red"
}
_INDENT = 2
_GAP = 2
_ANY_WIDTH = 10_000
_NAME_WHOLE, _NAME_ENOUGH, _NAME_LEAST = 64, 32, 16
"""Characters of a name: columns are left out for so many; enough of a longer one; the least of any."""
_WRAPPED_ENOUGH = 20
"""Characters of a column that wraps: others are left out for so many."""


def render_terminal(blocks: Iterable[Block]) -> RenderableType:
    """Return the blocks under one another."""
    return Group(*map(_render, blocks))


def _render(block: Block) -> RenderableType:
    match block:
        case Line():
            return _text(block)
        case Heading():
            return _text(block.line)
        case Section():
            return Group(_text(block.heading.line), _indented(render_terminal(block.body)))
        case Items():
            return _items(block.items)
        case Fields():
            return _grid(block)
        case Table():
            return FittingTable(block, tuple(tuple(map(_text, row)) for row in block.rows))
        case Quote():
            return _quote(block)
        case EmptyLine():
            return Text()


def _text(line: Line) -> Text:
    text = Text()
    if line.badge is not None:
        text.append_text(_badge(line.badge)).append(" " if line.badge.sign else "  ")
    for span in line.spans:
        text.append_text(_span(span))
    for note in line.notes:
        text.append("  " if text else "").append_text(_badge(note) if isinstance(note, Badge) else _span(note))
    return text


def _span(span: Span) -> Text:
    text = Text(strip_controls(span.text), style=_STYLES[span.style])
    return Text.assemble(("$ ", "dim"), text) if span.style is Style.COMMAND else text


def _badge(badge: Badge) -> Text:
    if badge.sign:
        return Text(badge.sign, style=_STYLES[badge.style])
    return Text(f" {badge.word} ", style=_BADGE_STYLES[badge.style])


def _indented(part: RenderableType) -> RenderableType:
    return Padding(part, (0, 0, 0, _INDENT))


def _items(items: Iterable[Item]) -> RenderableType:
    return Group(*(part for item in items for part in (_point(item.line), *map(_render, item.details))))


def _point(line: Line) -> RenderableType:
    """Return a line whose further lines stand below its words, not below the sign before them."""
    if line.badge is None or not line.badge.sign:
        return _text(line)
    return _hanging([(_badge(line.badge), _text(replace(line, badge=None)))])


def _hanging(rows: Iterable[tuple[Text, Text]]) -> RichTable:
    """Return lines, each with a sign before it that stands alone in its column."""
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for sign, text in rows:
        grid.add_row(sign, text)
    return grid


def _grid(fields: Fields) -> RenderableType:
    grid = RichTable.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(no_wrap=True, min_width=fields.label_width or None)
    grid.add_column(overflow="fold")
    for field in fields.fields:
        grid.add_row(_text(field.label), _items(field.items))
    return grid


def _quote(quote: Quote) -> RenderableType:
    if not quote.bar:
        return Text("\n").join(map(_text, quote.lines))
    bars = (Text(">", "bold red") if index == quote.hit else Text("│", "dim") for index in range(len(quote.lines)))
    return _hanging(
        (bar, part)
        for bar, line in zip(bars, quote.lines, strict=True)
        for part in _text(line).split("\n", allow_blank=True)
    )


@dataclass(frozen=True)
class FittingTable:
    """A table that leaves columns out rather than cutting numbers on a narrow terminal.

    Names of an ordinary length stand whole where any choice has room for them; longer ones lose their middle.
    """

    table: Table
    rows: tuple[tuple[Text, ...], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the fullest table that fits."""
        wide = options.update(width=_ANY_WIDTH)
        choices = self.table.choices or (self.table.columns,)

        def width_of(columns: Sequence[str]) -> int:
            return Measurement.get(console, wide, self._draw(columns, _ANY_WIDTH)).maximum

        if self.table.whole:
            needs = {columns: sum(self._need(width_of((name,)), name) for name in columns) for columns in choices}
            fitting = [columns for columns in choices if needs[columns] - _GAP <= options.max_width]
            yield self._draw((fitting or choices[-1:])[0], _ANY_WIDTH)
            return
        longest = width_of(self.table.columns[:1])
        room = {columns: options.max_width - _GAP - width_of(columns[1:]) for columns in choices}
        wanted = longest if longest <= _NAME_WHOLE else _NAME_ENOUGH
        fitting = [columns for columns in choices if room[columns] >= wanted]
        fitting += [columns for columns in choices if room[columns] >= _NAME_ENOUGH]
        chosen = fitting[0] if fitting else choices[-1]
        yield self._draw(chosen, max(room[chosen], _NAME_LEAST))

    def _need(self, width: int, column: str) -> int:
        return width if column in self.table.whole else min(width, _WRAPPED_ENOUGH + _GAP)

    def _draw(self, columns: Sequence[str], name_width: int) -> RichTable:
        drawn = RichTable(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold", show_edge=False)
        for index, column in enumerate(columns):
            is_number = column in self.table.numbers
            drawn.add_column(
                column.upper(),
                justify="right" if is_number else "left",
                overflow="fold",
                no_wrap=is_number or (column in self.table.whole if self.table.whole else index == 0),
            )
        places = [self.table.columns.index(column) for column in columns]
        for row in self.rows:
            cells = (shorten(row[0], name_width), *row[1:])
            drawn.add_row(*(cells[place] for place in places))
        return drawn


def shorten(name: Text, width: int) -> Text:
    """Return a name without its middle where it is longer: beginnings and ends tell names apart."""
    if len(name) <= width:
        return name
    tail = (width - 1) // 2
    return Text.assemble(name[: width - 1 - tail], "…", name[len(name) - tail :])
