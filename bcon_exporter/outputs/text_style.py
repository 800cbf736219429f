"""How text looks on a terminal: colours by severity, sizes, ages, and untrusted text made plain."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bcon_exporter.model.cleaning import clean_name, strip_controls
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.reports import Status

STATUS_STYLES: dict[Status, str] = {
    "critical": "bold white on red",
    "error": "bold red",
    "warning": "bold yellow",
    "healthy": "bold green",
}
NOT_CHECKED = "not checked"
"""In place of "healthy" for a container of which a deciding rule could not be judged."""
NOT_CHECKED_STYLE = "bold magenta"
SEVERITY_STYLES = {
    Severity.CRITICAL: "bold red",
    Severity.ERROR: "red",
    Severity.WARNING: "yellow",
    Severity.INFO: "dim",
}
DIM = "dim"
_KIB = 1024
_ANY_WIDTH = 10_000
_GAP = 2
_NAME_WHOLE, _NAME_ENOUGH, _NAME_LEAST = 64, 32, 16
"""Characters of a name: columns are left out for so many; enough of a longer one; the least of any."""
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def plain(raw: str, style: str = "") -> Text:
    """Return untrusted text as it stands: no markup, no terminal control."""
    return Text(strip_controls(raw), style=style)


def name_text(raw: str, style: str = "") -> Text:
    """Return an untrusted name on one line."""
    return Text(clean_name(raw), style=style)


def show_count(count: int, noun: str) -> str:
    """Return "1 container", "2 containers"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def show_size(size_bytes: float | None) -> str:
    """Return "12.3 MiB"; a dash where it is unknown."""
    if size_bytes is None:
        return "-"
    size = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < _KIB:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _KIB
    return f"{size:.1f} TiB"


def show_percent(percent: float | None) -> str:
    """Return "12.3 %"; a dash where it is unknown."""
    return "-" if percent is None else f"{percent:.1f} %"


def show_seconds(seconds: float) -> str:
    """Return a length of time in its two largest units: "45 s", "12 min", "3 h 20 min", "2 d 4 h"."""
    whole = max(0, round(seconds))
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min"
    if whole < _DAY:
        hours, minutes = whole // _HOUR, whole % _HOUR // _MINUTE
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = whole // _DAY, whole % _DAY // _HOUR
    return f"{days} d {hours} h" if hours else f"{days} d"


def show_age(then: datetime | None, now: datetime) -> str:
    """Return "12 min ago"; a dash where it is unknown."""
    return "-" if then is None else f"{show_seconds((now - then).total_seconds())} ago"


def show_time(when: datetime | None) -> str:
    """Return a time to the second, in UTC."""
    return "-" if when is None else f"{when:%Y-%m-%d %H:%M:%S} UTC"


def table(*columns: str, right: Iterable[str] = ()) -> Table:
    """Return an open table without lines; columns named in `right` hold numbers."""
    made = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold", show_edge=False)
    for index, column in enumerate(columns):
        side = "right" if column in set(right) else "left"
        made.add_column(column, justify=side, overflow="fold", no_wrap=index == 0 or column in set(right))  # type: ignore[arg-type]
    return made


@dataclass(frozen=True)
class FittingTable:
    """A table that leaves columns out rather than cutting numbers on a narrow terminal.

    Names of an ordinary length stand whole where any choice has room for them; longer ones lose their middle.

    Attributes:
        columns: Names of all columns; each row has a cell for each, the first its own name.
        right: Those that hold numbers.
        choices: Columns to show, the fullest first; the last is shown however narrow it gets.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Text, *tuple[RenderableType, ...]], ...]
    right: tuple[str, ...]
    choices: tuple[tuple[str, ...], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the fullest table that fits."""
        wide = options.update(width=_ANY_WIDTH)

        def width_of(names: tuple[str, ...]) -> int:
            return Measurement.get(console, wide, self._table(names, _ANY_WIDTH)).maximum

        longest = width_of(self.columns[:1])
        room = {names: options.max_width - _GAP - width_of(names[1:]) for names in self.choices}
        wanted = longest if longest <= _NAME_WHOLE else _NAME_ENOUGH
        fitting = [names for names in self.choices if room[names] >= wanted]
        fitting += [names for names in self.choices if room[names] >= _NAME_ENOUGH]
        chosen = fitting[0] if fitting else self.choices[-1]
        yield self._table(chosen, max(room[chosen], _NAME_LEAST))

    def _table(self, names: tuple[str, ...], name_width: int) -> Table:
        made = table(*names, right=self.right)
        places = [self.columns.index(name) for name in names]
        for row in self.rows:
            cells = (shorten(row[0], name_width), *row[1:])
            made.add_row(*(cells[place] for place in places))
        return made


def shorten(name: Text, width: int) -> Text:
    """Return a name without its middle where it is longer: beginnings and ends tell names apart."""
    if len(name) <= width:
        return name
    tail = (width - 1) // 2
    return Text.assemble(name[: width - 1 - tail], "…", name[len(name) - tail :])


def pairs(rows: Iterable[tuple[str, RenderableType]], indent: int = 0, width: int = 0) -> RenderableType:
    """Return labelled lines, the labels dim and aligned."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=DIM, no_wrap=True, min_width=width or None)
    grid.add_column(overflow="fold")
    for label, value in rows:
        grid.add_row(label, value)
    return Padding(grid, (0, 0, 0, indent))


def stack(parts: Iterable[RenderableType]) -> Group:
    """Return the parts under one another."""
    return Group(*parts)


def join(parts: Iterable[Text | str], separator: str = "  ") -> Text:
    """Return the non-empty parts side by side."""
    return Text(separator).join(part if isinstance(part, Text) else Text(part) for part in parts if len(part))
