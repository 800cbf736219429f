"""Finds the names that a mistyped one may have meant."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

from bcon_exporter.model.odd_names import is_odd_name

_LIKENESS = 0.6
_CLOSE_LIKENESS = 0.75


def nearest_names(name: str, known: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Return at most `limit` known names that resemble `name`, the nearest first; of text that is no name none."""
    by_folded = {_fold(candidate): candidate for candidate in known if not is_odd_name(candidate)}
    asked = _fold(name)[:128]
    close = get_close_matches(asked, by_folded, n=limit, cutoff=_LIKENESS)
    return tuple(by_folded[folded] for folded in close if _is_slip(asked, folded))


def _is_slip(asked: str, known: str) -> bool:
    """Return whether one may be a slip of the other: people seldom mistake the first letter, and then little else."""
    return asked[:1] == known[:1] or SequenceMatcher(None, known, asked).ratio() >= _CLOSE_LIKENESS


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?" or ""."""
    close = nearest_names(name, known, limit=1)
    return f"; did you mean {close[0]}?" if close else ""


def _fold(name: str) -> str:
    """Return the name without what all of its kind begin with, which would make any two alike."""
    return name.casefold().replace("_", "-").lstrip("-").removeprefix("bcon-")
