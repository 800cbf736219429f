"""Writes samples as exposition text: text 0.0.4 and OpenMetrics 1.0 differ in a few headers only."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from bcon_exporter.outputs.metrics.families import Family

Format = Literal["text", "openmetrics"]
LABEL_MAX_CHARS = 128
_HASH_CHARS = 16
_LINES_TOGETHER = 1000


def plain_label(raw: str | None) -> str:
    """Return a label's value: at most 128 characters; a longer one ends in a hash, so that two never collide.

    Line ends and tabs, which a container's own label may hold, become visible: tables and alert texts have one line.
    """
    text = raw or ""
    if not text.isprintable():
        text = text.replace("\n", "\\n").replace("\t", "\\t")
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) > LABEL_MAX_CHARS:
        digest = hashlib.sha256(text.encode()).hexdigest()[:_HASH_CHARS]
        text = f"{text[: LABEL_MAX_CHARS - _HASH_CHARS - 1]}~{digest}"
    return text


def label_value(raw: str | None) -> str:
    """Return a label's value as it stands in quotes."""
    return plain_label(raw).replace("\\", "\\\\").replace('"', '\\"')


def label_set(names: Iterable[str], values: Iterable[str | None]) -> str:
    """Return `a="x",b="y"`, to stand between braces."""
    return ",".join(f'{name}="{label_value(value)}"' for name, value in zip(names, values, strict=True))


def number(value: float) -> str:
    """Return a sample's value; whole numbers without a fraction."""
    if isinstance(value, int):
        return str(int(value))
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)  # noqa: PLR2004 -- exact ints


@dataclass(frozen=True, slots=True)
class Samples:
    """One family with its sample lines, ready to be written in either format.

    Attributes:
        chunks: Each holds one or more whole lines.
    """

    family: Family
    chunks: tuple[bytes, ...]

    @classmethod
    def of(cls, family: Family, lines: Iterable[str]) -> "Samples":
        """Take a family's lines, or groups of them; of thousands of containers they make some chunks."""
        left, chunks = iter(lines), []
        while batch := list(islice(left, _LINES_TOGETHER)):
            chunks.append("".join(batch).encode())
        return cls(family, tuple(chunks))

    def pieces(self, fmt: Format) -> tuple[bytes, ...]:
        """Return header and lines."""
        return (header(self.family, fmt).encode(), *self.chunks)

    @property
    def series(self) -> int:
        """Number of lines; a line end within a label value is escaped."""
        return sum(chunk.count(b"\n") for chunk in self.chunks)


def header(family: Family, fmt: Format) -> str:
    """Return the HELP and TYPE lines."""
    name, kind = family.name, family.kind
    if fmt == "openmetrics":
        name = family.base_name
    elif kind == "info":
        kind = "gauge"
    return f"# HELP {name} {family.help_text}\n# TYPE {name} {kind}\n"


def same_in_both(family: Family) -> bool:
    """Return whether both formats write the family alike."""
    return family.kind in ("gauge", "histogram")


def sample(name: str, labels: str, value: float) -> str:
    """Return one line; `labels` as `label_set` makes them."""
    return f"{name}{{{labels}}} {number(value)}\n" if labels else f"{name} {number(value)}\n"


def family_samples(family: Family, rows: Iterable[tuple[tuple[str | None, ...], float | None]]) -> Samples:
    """Return a family's samples from label values and numbers; a row without a number is left out."""
    return Samples.of(
        family,
        (sample(family.name, label_set(family.labels, values), value) for values, value in rows if value is not None),
    )


def cap_series(samples: Iterable[Samples], cap: int) -> tuple[list[Samples], int]:
    """Return the families that fit below the cap, and how many samples were left out.

    Whole families are left out, by their `drop_order`: informational ones first, those that say what is wrong never.
    Of thousands of containers each family has a megabyte, so what is known to be left out goes at once.
    """
    shown: list[Samples] = []
    total = dropped = last_dropped = 0
    for item in samples:
        shown.append(item)
        total += item.series
        while (first := _first_to_go(shown)) and (total > cap or first.family.drop_order < last_dropped):
            shown.remove(first)
            total -= first.series
            dropped += first.series
            last_dropped = max(last_dropped, first.family.drop_order)
    return shown, dropped


def _first_to_go(samples: Iterable[Samples]) -> Samples | None:
    droppable = (item for item in samples if item.family.drop_order)
    return min(droppable, key=lambda item: item.family.drop_order, default=None)
