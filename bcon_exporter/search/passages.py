"""The part of a text that answers a question."""

from collections.abc import Mapping

from bcon_exporter.search.terms import find_terms


def find_passage(text: str, weights: Mapping[str, float], max_bytes: int) -> str:
    """Return the lines in a row that fit and hold most of a question's weight; the first of equals.

    Args:
        text: Of several lines.
        weights: The question's terms, each with how rare it is.
        max_bytes: Of UTF-8.
    """
    lines = text.strip().splitlines()
    terms = [{term for term in find_terms(line) if term in weights} for line in lines]
    sizes = [len(line.encode()) + 1 for line in lines]
    best, best_weight = (0, 1), -1.0
    for start in range(len(lines)):
        held: set[str] = set()
        size, end = 0, start
        while end < len(lines) and (end == start or size + sizes[end] <= max_bytes + 1):
            held |= terms[end]
            size += sizes[end]
            end += 1
        weight = sum(weights[term] for term in held)
        if weight > best_weight + 1e-9:
            best, best_weight = (start, end), weight
    return clip_bytes("\n".join(lines[slice(*best)]).strip(), max_bytes)


def clip_bytes(text: str, max_bytes: int) -> str:
    """Return a text of at most so many bytes of UTF-8; what is cut off is marked."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= max_bytes:
        return raw.decode()
    mark = "…"
    return raw[: max(0, max_bytes - len(mark.encode()))].decode("utf-8", "ignore") + mark
