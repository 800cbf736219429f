"""The few shapes that a preview is drawn of, as SVG text; every text is escaped."""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

INK, FAINT, BACKGROUND, PANEL, EDGE, LINK = "#ccccdc", "#8e8e99", "#111217", "#181b1f", "#2c2f36", "#6e9fff"
FONT = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
EM = 0.56
"""The mean width of a letter, of its size."""


@dataclass(frozen=True)
class Box:
    """A place on the page, in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.height

    def inner(self, left: float, top: float, right: float, bottom: float) -> Box:
        """What is left within margins."""
        return Box(self.x + left, self.y + top, self.width - left - right, self.height - top - bottom)


def text(  # noqa: PLR0913 -- a text has a place, a look and a width
    x: float,
    y: float,
    words: str,
    *,
    size: float = 12,
    fill: str = INK,
    anchor: str = "start",
    bold: bool = False,
    width: float | None = None,
) -> str:
    """One line of text whose baseline is at `y`; cut off with an ellipsis where it is wider than `width`."""
    room = len(words) if width is None else max(int(width / (size * EM)), 1)
    cut = words if len(words) <= room else f"{words[: room - 1]}…"
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill={quoteattr(fill)} text-anchor="{anchor}"{weight}>'
        f"{escape(cut)}</text>"
    )


def rect(box: Box, fill: str, *, edge: str | None = None, radius: float = 0, opacity: float = 1) -> str:
    """A filled box."""
    stroke = f' stroke="{edge}"' if edge else ""
    return (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{max(box.width, 0):.1f}" height="{max(box.height, 0):.1f}"'
        f' rx="{radius:g}" fill="{fill}" fill-opacity="{opacity:g}"{stroke}/>'
    )


def path(points: list[tuple[float, float]], colour: str, *, width: float = 1.3, dashed: bool = False) -> str:
    """A line through points."""
    dashes = ' stroke-dasharray="6 5"' if dashed else ""
    through = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{through}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dashes}/>'


def area(points: list[tuple[float, float]], colour: str, opacity: float) -> str:
    """A filled shape."""
    around = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polygon points="{around}" fill="{colour}" fill-opacity="{opacity:g}"/>'


def page(width: float, height: float, title: str, shapes: list[str]) -> str:
    """A whole picture."""
    body = "\n".join(shapes)
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}'
        f' font-family={quoteattr(FONT)} role="img">\n<title>{escape(title)}</title>\n'
        f"{rect(Box(0, 0, width, height), BACKGROUND)}\n{body}\n</svg>\n"
    )
