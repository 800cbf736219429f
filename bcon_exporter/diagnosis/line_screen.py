"""Which lines of a log may matter, and which patterns of the catalogue match one of them."""

from functools import lru_cache

from bcon_exporter.diagnosis.line_buffer import LineBuffer
from bcon_exporter.diagnosis.shapes import TRIGGERS
from bcon_exporter.model.automata import compile_screen, compile_set
from bcon_exporter.model.signatures import Catalogue


class LineScreen:
    """One search over a buffer finds lines that may matter, one look at each tells whether it does.

    A line matters where a pattern of the catalogue matches it, or one of our triggers.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        wanted = (*catalogue.regexes, *TRIGGERS)
        self._screen = compile_screen(wanted)
        self._set = compile_set(wanted)

    def lines_of(self, buffer: LineBuffer) -> list[int]:
        """Indexes of all lines that matter, and of a few that do not; ascending."""
        return buffer.lines_with(self._screen)

    def matching(self, line: bytes) -> list[int] | None:
        """Indexes of the patterns that match a line, in the order of preference; None where it does not matter."""
        found: list[int] = sorted(self._set.Match(line) or ())
        if not found:
            return None
        known = self.catalogue.pattern_count()
        return [index for index in found if index < known and not self.catalogue.spares(index, line)]


@lru_cache(maxsize=8)
def screen_of(catalogue: Catalogue) -> LineScreen:
    """The screen for a catalogue, built once: it takes a fifth of a second and grows while it reads."""
    return LineScreen(catalogue)
