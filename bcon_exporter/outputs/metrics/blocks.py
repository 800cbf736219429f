"""Rendered text that is compressed once and then joined with other text into one gzip answer, without recompression."""

import struct
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate, pairwise

from bcon_exporter.outputs.metrics.families import Family
from bcon_exporter.outputs.metrics.writing import Format, Samples, same_in_both

_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_LEVEL = 1
"""Exposition text repeats itself: level 1 makes 2.5 MB as small as it needs to be in a third of the time of 6."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some text, plain and as a piece of a deflate stream that ends on a full flush.

    Attributes:
        places: Where each family stands in the plain text, for answers with chosen families.
    """

    plain: bytes
    deflated: bytes
    places: tuple[tuple[Family, slice], ...] = ()

    @classmethod
    def of(cls, plain: bytes, places: tuple[tuple[Family, slice], ...] = ()) -> "Block":
        """Compress once."""
        compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        return cls(plain, compressor.compress(plain) + compressor.flush(zlib.Z_FULL_FLUSH), places)

    @classmethod
    def of_samples(cls, samples: tuple[Samples, ...], fmt: Format) -> "Block":
        """Render and compress some families."""
        texts = [each.text(fmt).encode() for each in samples]
        bounds = pairwise(accumulate(map(len, texts), initial=0))
        places = tuple((each.family, slice(*bound)) for each, bound in zip(samples, bounds, strict=True))
        return cls.of(b"".join(texts), places)

    def choose(self, names: Collection[str]) -> bytes:
        """Return the text of the families with these names."""
        return b"".join(self.plain[place] for family, place in self.places if family.is_among(names))


@dataclass(frozen=True, slots=True)
class Part:
    """The families of one scan.

    Attributes:
        common: Families that both formats write alike, most of the text.
        special: The others, in each format.
        series: Number of samples.
    """

    common: Block
    special: dict[Format, Block]
    series: int

    @classmethod
    def of(cls, samples: tuple[Samples, ...]) -> "Part":
        """Render and compress."""
        alike = tuple(each for each in samples if same_in_both(each.family))
        others = tuple(each for each in samples if not same_in_both(each.family))
        formats: tuple[Format, ...] = ("text", "openmetrics")
        return cls(
            Block.of_samples(alike, "text"),
            {fmt: Block.of_samples(others, fmt) for fmt in formats},
            sum(each.series for each in samples),
        )

    def blocks(self, fmt: Format) -> tuple[Block, Block]:
        """Return the text in one format."""
        return self.common, self.special[fmt]


def render(samples: tuple[Samples, ...], fmt: Format) -> bytes:
    """Return the text of some families."""
    return "".join(each.text(fmt) for each in samples).encode()


@dataclass(frozen=True, slots=True)
class Checksum:
    """CRC and length of the stored text before the live tail; a gzip trailer needs both."""

    crc: int
    length: int

    @classmethod
    def of(cls, blocks: tuple[Block, ...]) -> "Checksum":
        """Read all the text once."""
        crc = length = 0
        for block in blocks:
            crc = zlib.crc32(block.plain, crc)
            length += len(block.plain)
        return cls(crc, length)


def join_plain(blocks: tuple[Block, ...], tail: bytes) -> bytes:
    """Return the whole text as one bytes object."""
    return b"".join((*(block.plain for block in blocks), tail))


def join_gzip(blocks: tuple[Block, ...], checksum: Checksum, tail: bytes) -> bytes:
    """Return one gzip member of the whole text as one bytes object; only the tail is compressed now."""
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    last = compressor.compress(tail) + compressor.flush(zlib.Z_FINISH)
    crc = zlib.crc32(tail, checksum.crc)
    trailer = struct.pack("<II", crc, (checksum.length + len(tail)) & 0xFFFFFFFF)
    return b"".join((_GZIP_HEADER, *(block.deflated for block in blocks), last, trailer))
