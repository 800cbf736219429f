"""RE2 automata over log lines: one expression, a set that tells which match, a screen that finds lines worth a look.

An automaton is built while it reads and grows with the variety of what it has seen; each has a bound here.
"""

import re
from collections.abc import Sequence
from typing import Any

import re2

from bcon_exporter.model.necessary import necessary_part

SCREEN_MEMORY_BYTES = 64 * 2**20
"""Cap of the automaton that finds lines, of which RE2 gives each direction a third. Never near: 20 MB of source code
and documentation make it hold 20 MB. RE2 gives up a full one for a search that takes a hundred times as long."""
SET_MEMORY_BYTES_PER_INSTRUCTION = 256
"""Cap of the automaton that tells which expressions match a line. A full one begins anew, which costs no match: with
8 MB for 65,000 instructions 1,346 logs gave the same events as with 256 MB, in a third more time. With 4 MB the program
has no room, and is refused."""
SET_MEMORY_BYTES = 8 * 2**20
"""What it has at least."""

_BY_LINE = b"(?m)"
_NOTHING = "a^"
_GROUP_NAME = re.compile(r"\(\?P<\w+>")


def compile_pattern(regex: str) -> Any:
    """Compile one RE2 expression over UTF-8 bytes; `^` and `$` are the ends of a line.

    Raises:
        re2.error: With the reason; nothing is written to stderr.
    """
    return re2.compile(_BY_LINE + regex.encode(), _options())


def compile_set(regexes: Sequence[str]) -> Any:
    """Compile expressions to one RE2 set, whose `Match` gives the indexes of those that match a line."""
    options = _options()
    instructions = sum(compile_pattern(regex).programsize for regex in regexes)
    options.max_mem = max(SET_MEMORY_BYTES, SET_MEMORY_BYTES_PER_INSTRUCTION * instructions)
    built = re2.Set.SearchSet(options)
    for regex in regexes or [_NOTHING]:
        built.Add(_BY_LINE + regex.encode())
    built.Compile()
    return built


def compile_screen(regexes: Sequence[str]) -> Any:
    """Compile the necessary parts of expressions to one, which finds at least every line that one of them matches.

    Of a match only its line counts, so that the longest one is as good as any.
    """
    options = _options()
    options.max_mem = SCREEN_MEMORY_BYTES
    options.longest_match = True
    options.never_capture = True
    parts = dict.fromkeys(_GROUP_NAME.sub("(?:", necessary_part(regex)) for regex in regexes or [_NOTHING])
    return re2.compile(_BY_LINE + "|".join(f"(?:{part})" for part in parts).encode(), options)


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    return options
