"""Finds errors that the program tolerates: it says that it does without, or simply goes on."""

from collections.abc import Collection, Sequence

from bcon_exporter.diagnosis.joined_lines import LineBuffer
from bcon_exporter.diagnosis.log_levels import level_of
from bcon_exporter.model.signatures import Level
from bcon_exporter.regexes import compile_pattern

NEXT_LINES = 2
"""The line that tolerates an error follows within so many lines."""
ENDING_LINES = 2
"""A job reports its success within so many lines of its end."""

_DOES_WITHOUT = compile_pattern(
    r"(?i)^\s*\.{3} ?ignoring\b|\bfall(?:s|ing)? back (?:to|on)\b|\bnot available, using \S"
    r"|\b(?:continuing|proceeding|running) (?:anyway|without)\b|\busing software \w+"
)
_COMPLAINT = compile_pattern(
    r"^(?:/\S*/)?(?:find|ls|cat|rm|rmdir|stat|du|grep|sed|chown|chmod|kill|pkill|readlink|unlink|umount)(?:\[\d+\])?: "
    r".*(?:No such (?:file or directory|process)|can't remove)|^nginx: \[alert\] could not open error log file: "
)
"""Complaints of tools about a path that a script does not need to exist."""
_WENT_WELL = compile_pattern(
    r"(?i)^(?:\[[^\]]*\] ?|[\d:.,TZ/+-]+ )*(?:success\b|done\b|all done\b|complete[d!]|finished successfully"
    r"|build success|.{0,60}\b(?:completed|finished|installed) successfully\b)|\bfully installed\b"
)


def find_tolerating_lines(buffer: LineBuffer) -> frozenset[int]:
    """Return the indexes of the lines that say that the program does without something."""
    return frozenset(buffer.lines_with(_DOES_WITHOUT))


def is_tolerated(buffer: LineBuffer, start: int, end: int, tolerating_lines: Collection[int]) -> bool:
    """Whether one of the lines after a failure says that the program does without.

    An event of level error is tolerated only if the line says that it is ignored.
    """
    near = [line for line in range(end, end + NEXT_LINES) if line in tolerating_lines]
    return bool(near) and (
        level_of(buffer.texts[start]) < Level.ERROR or buffer.texts[near[0]].lstrip().startswith("...")
    )


def continued_after(texts: Sequence[str], start: int, end: int, *, is_known: bool) -> bool:
    """Whether the program continued after the last failure of its log as if there were none.

    Args:
        texts: All lines.
        start: Index of the failure's first line.
        end: Index of the line after it.
        is_known: Whether it has a signature; a good end says nothing of those.
    """
    if not any(line.strip() for line in texts[end : end + NEXT_LINES]):
        return False
    raw = texts[start].encode("utf-8", "replace")
    if _COMPLAINT.search(raw) is not None:
        return True
    if is_known or level_of(texts[start]) is not Level.UNKNOWN:
        return False
    endings = texts[max(end, len(texts) - ENDING_LINES) :]
    return any(_WENT_WELL.search(line.encode("utf-8", "replace")) is not None for line in endings)
