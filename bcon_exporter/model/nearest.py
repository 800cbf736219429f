"""Finds the names that a mistyped one may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest_names(name: str, known: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Return at most `limit` known names that resemble `name`, the nearest first."""
    by_folded = {_fold(candidate): candidate for candidate in known}
    close = get_close_matches(_fold(name)[:128], by_folded, n=limit, cutoff=0.6)
    return tuple(by_folded[folded] for folded in close)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?" or ""."""
    close = nearest_names(name, known, limit=1)
    return f"; did you mean {close[0]}?" if close else ""


def _fold(name: str) -> str:
    return name.casefold().replace("_", "-")
