"""Rendered text of metric families: made once a scan, and compressed once."""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bcon_exporter.outputs.metrics.families import Family
from bcon_exporter.outputs.metrics.writing import Format, Samples, same_in_both

_GZIP = 16 + zlib.MAX_WBITS
_LEVEL = 1
"""Exposition text repeats itself: level 1 makes 2.5 MB as small as it needs to be in a third of the time of 6."""


@dataclass(frozen=True, slots=True)
class RenderedFamily:
    """A family as text, in pieces: of thousands of containers some megabytes, which are never put together."""

    family: Family
    pieces: tuple[bytes, ...]

    @classmethod
    def of(cls, samples: Samples, fmt: Format) -> "RenderedFamily":
        """Render a family."""
        return cls(samples.family, samples.pieces(fmt))


@dataclass(frozen=True, slots=True)
class Part:
    """The families of one scan.

    Attributes:
        common: Families that both formats write alike: most of the text.
        special: The others, in each format.
        series: Number of samples.
    """

    common: tuple[RenderedFamily, ...]
    special: dict[Format, tuple[RenderedFamily, ...]]
    series: int

    @classmethod
    def of(cls, samples: Sequence[Samples]) -> "Part":
        """Render the families of a scan."""
        alike = tuple(item for item in samples if same_in_both(item.family))
        others = tuple(item for item in samples if not same_in_both(item.family))
        formats: tuple[Format, ...] = ("text", "openmetrics")
        return cls(
            tuple(RenderedFamily.of(item, "text") for item in alike),
            {fmt: tuple(RenderedFamily.of(item, fmt) for item in others) for fmt in formats},
            sum(item.series for item in samples),
        )

    def families(self, fmt: Format) -> tuple[RenderedFamily, ...]:
        """Return the families in one format."""
        return self.common + self.special[fmt]


def render(samples: tuple[Samples, ...], fmt: Format) -> bytes:
    """Return the text of some families."""
    return b"".join(piece for item in samples for piece in item.pieces(fmt))


class GzippedStart:
    """The beginning of a text, compressed once; its end differs from scrape to scrape.

    Compressing 2.5 MB takes 15 ms, its last kilobytes 0.1 ms. Two gzip members behind one another would be valid too,
    but curl and wget read the first one only.
    """

    def __init__(self, texts: Iterable[bytes]) -> None:
        self._compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
        self._start = b"".join(map(self._compressor.compress, texts))

    def end_with(self, text: bytes) -> bytes:
        """Return the whole, compressed; may be called again with another end."""
        compressor = self._compressor.copy()
        return b"".join((self._start, compressor.compress(text), compressor.flush()))
