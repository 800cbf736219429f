"""Prints blocks as Markdown, for issues, chats and agents; untrusted text cannot become markup."""

from collections.abc import Iterable, Iterator
from itertools import groupby

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

_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_{}[]<>#|~&$"})
_INDENT = "  "


def render_markdown(blocks: Iterable[Block]) -> str:
    """Return the blocks with an empty line between each two, ending in a line feed."""
    return "\n\n".join("\n".join(part) for part in map(_render, blocks) if part) + "\n"


def escape(raw: str) -> str:
    """Return untrusted text as one line in which nothing is markup, wherever in a line it stands but at its start."""
    return " ".join(strip_controls(raw).split("\n")).translate(_SPECIAL)


def escape_start(text: str) -> str:
    """Return a line that begins no list and no heading."""
    digits = len(text) - len(text.lstrip("0123456789"))
    if text[:1] in ("-", "+", "=") or (digits and text[digits : digits + 1] in (".", ")")):
        return f"{text[:digits]}\\{text[digits:]}"
    return text


def fence(lines: Iterable[str]) -> list[str]:
    """Return untrusted lines as a code block whose fence is longer than any within."""
    body = [part for line in lines for part in strip_controls(line).split("\n")]
    mark = "`" * max(3, _longest_run(body) + 1)
    return [f"{mark}text", *body, mark]


def _longest_run(lines: Iterable[str]) -> int:
    return max((len(list(run)) for line in lines for char, run in groupby(line) if char == "`"), default=0)


def _render(block: Block) -> list[str]:
    match block:
        case Line():
            return [_line(block)]
        case Heading():
            return [f"{'#' * block.level} {_inline(block.line, emphasis=False)}"]
        case Section():
            return render_markdown((block.heading, *block.body)).rstrip("\n").split("\n")
        case Items():
            return [text for item in block.items for text in _item(item)]
        case Fields():
            return list(_fields(block))
        case Table():
            return _table(block)
        case Quote():
            return _quote(block)
        case EmptyLine():
            return []


def _line(line: Line) -> str:
    return escape_start(_inline(line))


def _inline(line: Line, *, emphasis: bool = True) -> str:
    """Return a line that stands behind something else: its beginning needs no escape."""
    badge = f"{line.badge.word.lower()}: " if line.badge is not None else ""
    spans = "".join(_span(span) if emphasis else escape(span.text) for span in line.spans)
    notes = f" ({', '.join(map(_note, line.notes))})" if line.notes else ""
    return " ".join(f"{badge}{spans}{notes}".split())


def _note(note: Span | Badge) -> str:
    return note.word.lower() if isinstance(note, Badge) else escape(note.text)


def _span(span: Span) -> str:
    text = escape(span.text)
    bare = text.strip()
    match span.style:
        case Style.STRONG | Style.ROOT if bare:
            return text.replace(bare, f"**{bare}**", 1)
        case Style.COMMAND | Style.CODE | Style.TAG if bare:
            return _code(span.text)
        case _:
            return text


def _code(raw: str) -> str:
    """Return untrusted text as code within a line."""
    text = " ".join(strip_controls(raw).split())
    run = _longest_run([text])
    return f"`{text}`" if not run else f"{'`' * (run + 1)} {text} {'`' * (run + 1)}"


def _fields(fields: Fields) -> Iterator[str]:
    for field in fields.fields:
        label = _inline(field.label)
        if len(field.items) == 1:
            yield from _item(field.items[0], label)
        else:
            yield f"- {label}:"
            yield from (f"{_INDENT}{text}" for item in field.items for text in _item(item))


def _item(item: Item, label: str = "") -> list[str]:
    head = f"{label}: {_inline(item.line)}" if label else _line(item.line)
    return [f"- {head}", *(f"{_INDENT}{text}" for block in item.details for text in _detail(block))]


def _detail(block: Block) -> list[str]:
    return [f"- {_line(block)}"] if isinstance(block, Line) else _render(block)


def _quote(quote: Quote) -> list[str]:
    texts = ["".join(span.text for span in line.spans) for line in quote.lines]
    if quote.hit is not None:
        texts = [("> " if index == quote.hit else "  ") + text for index, text in enumerate(texts)]
    return fence(texts)


def _table(table: Table) -> list[str]:
    rows = (table.columns, tuple("---" for _ in table.columns), *(tuple(map(_inline, row)) for row in table.rows))
    return [f"| {' | '.join(cells)} |" for cells in rows]
