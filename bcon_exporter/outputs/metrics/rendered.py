"""Rendered text of metric families: made once a scan, and compressed once."""

import zlib
from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate, pairwise

from bcon_exporter.outputs.metrics.families import Family
from bcon_exporter.outputs.metrics.writing import Format, Samples, same_in_both

_GZIP = 16 + zlib.MAX_WBITS
_LEVEL = 1
"""Exposition text repeats itself: level 1 makes 2.5 MB as small as it needs to be in a third of the time of 6."""


@dataclass(frozen=True, slots=True)
class Block:
    """The text of some families.

    Attributes:
        places: Where each family stands in the text, for answers with chosen families.
    """

    text: bytes
    places: tuple[tuple[Family, slice], ...]

    @classmethod
    def of_samples(cls, samples: tuple[Samples, ...], fmt: Format) -> "Block":
        """Render some families."""
        texts = [item.text(fmt).encode() for item in samples]
        bounds = pairwise(accumulate(map(len, texts), initial=0))
        places = tuple((item.family, slice(*bound)) for item, bound in zip(samples, bounds, strict=True))
        return cls(b"".join(texts), places)

    def choose(self, names: Collection[str]) -> bytes:
        """Return the text of the families with these names."""
        return b"".join(self.text[place] for family, place in self.places if family.is_among(names))


@dataclass(frozen=True, slots=True)
class Part:
    """The families of one scan.

    Attributes:
        common: Families that both formats write alike: most of the text.
        special: The others, in each format.
        series: Number of samples.
    """

    common: Block
    special: dict[Format, Block]
    series: int

    @classmethod
    def of(cls, samples: tuple[Samples, ...]) -> "Part":
        """Render the families of a scan."""
        alike = tuple(item for item in samples if same_in_both(item.family))
        others = tuple(item for item in samples if not same_in_both(item.family))
        formats: tuple[Format, ...] = ("text", "openmetrics")
        return cls(
            Block.of_samples(alike, "text"),
            {fmt: Block.of_samples(others, fmt) for fmt in formats},
            sum(item.series for item in samples),
        )

    def blocks(self, fmt: Format) -> tuple[Block, Block]:
        """Return the text in one format."""
        return self.common, self.special[fmt]


def render(samples: tuple[Samples, ...], fmt: Format) -> bytes:
    """Return the text of some families."""
    return "".join(item.text(fmt) for item in samples).encode()


class GzippedStart:
    """The beginning of a text, compressed once; its end differs from scrape to scrape.

    Compressing 2.5 MB takes 15 ms, its last kilobytes 0.1 ms. Two gzip members behind one another would be valid too,
    but curl and wget read the first one only.
    """

    def __init__(self, text: bytes) -> None:
        self._compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
        self._start = self._compressor.compress(text)

    def end_with(self, text: bytes) -> bytes:
        """Return the whole, compressed; may be called again with another end."""
        compressor = self._compressor.copy()
        return b"".join((self._start, compressor.compress(text), compressor.flush()))
