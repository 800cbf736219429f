"""What a program passes over: a complaint after which it says that it does without, or simply goes on."""

from collections.abc import Collection, Sequence

from bcon_exporter.diagnosis.levels import level_of
from bcon_exporter.diagnosis.line_buffer import LineBuffer
from bcon_exporter.model.automata import compile_pattern
from bcon_exporter.model.signatures import Level

NEXT_LINES = 2
"""So near a program says that it does without what it has just missed."""
ENDING_LINES = 2
"""So near to its end a job says that it went well."""

_SHRUG = compile_pattern(
    r"(?i)^\s*\.{3} ?ignoring\b|\bfall(?:s|ing)? back (?:to|on)\b|\bnot available, using \S"
    r"|\b(?:continuing|proceeding|running) (?:anyway|without)\b|\busing software \w+"
)
_COMPLAINT = compile_pattern(
    r"^(?:/\S*/)?(?:find|ls|cat|rm|rmdir|stat|du|grep|sed|chown|chmod|kill|pkill|readlink|unlink|umount)(?:\[\d+\])?: "
    r".*(?:No such (?:file or directory|process)|can't remove)|^nginx: \[alert\] could not open error log file: "
)
"""What tools say of a path that a script expects to be there or not."""
_WENT_WELL = compile_pattern(
    r"(?i)^(?:\[[^\]]*\] ?|[\d:.,TZ/+-]+ )*(?:success\b|done\b|all done\b|complete[d!]|finished successfully"
    r"|build success|.{0,60}\b(?:completed|finished|installed) successfully\b)|\bfully installed\b"
)


def find_shrugs(buffer: LineBuffer) -> frozenset[int]:
    """Indexes of the lines that say that the program does without."""
    return frozenset(buffer.lines_with(_SHRUG))


def is_shrugged_off(buffer: LineBuffer, start: int, end: int, shrugs: Collection[int]) -> bool:
    """Whether the lines `start` to `end` tell of a failure that one of the next lines does without.

    An error is shrugged off only by who says that it is ignored.
    """
    near = [line for line in range(end, end + NEXT_LINES) if line in shrugs]
    return bool(near) and (
        level_of(buffer.texts[start]) < Level.ERROR or buffer.texts[near[0]].lstrip().startswith("...")
    )


def went_on(texts: Sequence[str], start: int, end: int, *, is_known: bool) -> bool:
    """Whether the program went on after the log's last failure as if it were none.

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
