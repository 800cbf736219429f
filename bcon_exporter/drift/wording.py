"""How a difference is said, so that it tells what changed and never an environment value."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import re2

from bcon_exporter.drift.fields import FieldDifference
from bcon_exporter.model.desired import FieldValue
from bcon_exporter.model.facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import ComposeAction
from bcon_exporter.model.known_secrets import is_plain_word
from bcon_exporter.model.masking import MASK

ABSENT = "absent"
_FINGERPRINT_DIGITS = 8
_LONGEST_WORD = 80
_BETWEEN_WORDS = '", "'
"""What stands between two words of a command: more than one secret is no counterpart of one."""
_WORDS = re2.compile(r"""[^\s"'\\,;:=@/?&(){}\[\]|<>]+""")
WOULD: dict[ComposeAction, str] = {
    "recreate": "docker compose up would recreate it",
    "start": "docker compose up would start it",
    "create": "docker compose up would create it",
    "remove_orphan": "docker compose up --remove-orphans would remove it",
    "nothing": "docker compose up would leave it as it is",
}


def say_value(path: str, value: FieldValue | None, other: FieldValue | None) -> str:
    """Return a value as a report may show it; where masking hides the difference, a keyed fingerprint shows it."""
    if value is None:
        return ABSENT
    if path.startswith("environment."):
        return mark("set", value.fingerprint)
    if other is not None and other.shown == value.shown:
        return mark(value.shown, value.fingerprint)
    return value.shown or "empty"


def mark(text: str, fingerprint: str | None) -> str:
    """Return a text with the fingerprint of the value that it does not show."""
    return f"{text} (fingerprint {(fingerprint or 'unknown')[:_FINGERPRINT_DIGITS]})"


def hide_counterparts(differences: Sequence[FieldDifference]) -> list[FieldDifference]:
    """Return the differences with what stands on one side where a secret is masked on the other masked as well.

    The secret of before may be known to nobody any more: the file has the new one, and the container holds the old one
    in its command only. Where it is part of a path (a host's name, a mount's target), the counterpart is another path
    of the same field that only the other side has.
    """
    alone = [one for one in differences if one.expected is None or one.actual is None]
    return [_hide_by_others(one, alone) if one in alone else _hide_by_other_side(one) for one in differences]


def _hide_by_other_side(difference: FieldDifference) -> FieldDifference:
    expected, actual = difference.expected, difference.actual
    if expected is None or actual is None:
        return difference
    shown = hide_alike(expected.shown, actual.shown)
    return replace(difference, expected=replace(expected, shown=shown[0]), actual=replace(actual, shown=shown[1]))


def _hide_by_others(difference: FieldDifference, alone: Sequence[FieldDifference]) -> FieldDifference:
    root = difference.path.partition(".")[0]
    others = [
        one
        for one in alone
        if one.path.partition(".")[0] == root and (one.expected is None) != (difference.expected is None)
    ]
    for other in others:
        there, here = other.expected or other.actual, difference.expected or difference.actual
        if there is None or here is None:
            continue
        value = replace(here, shown=_hide_where(there.shown, here.shown))
        path = _hide_where(other.path, difference.path)
        if difference.expected is None:
            difference = replace(difference, path=path, actual=value)
        else:
            difference = replace(difference, path=path, expected=value)
    return difference


def hide_alike(expected: str, actual: str) -> tuple[str, str]:
    """Return two texts of one field; plain words stay."""
    return _hide_where(actual, expected), _hide_where(expected, actual)


def _hide_where(other: str, text: str) -> str:
    """Return the text with what stands in the place of the other's masks masked."""
    if MASK not in other or text == other:
        return text
    aligned = _hide_aligned(other.split(MASK), text)
    if aligned is not None or text.count(MASK) >= other.count(MASK):
        return text if aligned is None else aligned
    kept = frozenset(match.group() for match in _WORDS.finditer(other))

    def hide(match: Any) -> str:
        word = str(match.group())
        return word if word in kept or is_plain_word(word) else MASK

    return str(_WORDS.sub(hide, text))


def _hide_aligned(around: list[str], text: str) -> str | None:
    """Return the text with masks in the gaps between these parts; None when it does not consist of them."""
    if not text.startswith(around[0]):
        return None
    done, position = around[0], len(around[0])
    for number, part in enumerate(around[1:], 2):
        end = len(text) - len(part) if number == len(around) else text.find(part, position)
        if end < position or not text.endswith(part, position, end + len(part)):
            return None
        gap = text[position:end]
        if _BETWEEN_WORDS in gap:
            return None
        done += (gap if is_plain_word(gap) else MASK) + part
        position = end + len(part)
    return done


def say_difference(difference: FieldDifference, containers: list[str], *, outside_compose: bool) -> str:
    """Return one sentence about a field; free text (a command, a label) stands in `expected` and `actual` alone."""
    where = containers[0] if len(containers) == 1 else f"{len(containers)} containers"
    path, verb = _say_path(difference.path), "has" if len(containers) == 1 else "have"
    expected = say_value(difference.path, difference.expected, difference.actual)
    actual = say_value(difference.path, difference.actual, difference.expected)
    if difference.expected is None:
        value = f" ({actual})" if _is_one_word(actual) else ""
        text = f"{path} is on {where}{value}, but neither the file nor the image asks for it"
    elif difference.actual is None:
        value = f"should be {expected}" if _is_one_word(expected) else "is asked for by the file"
        text = f"{path} {value}, but {where} {verb} none"
    elif path.startswith("environment.") or not (_is_one_word(expected) and _is_one_word(actual)):
        text = f"{path} has another value on {where} than the file gives it"
    else:
        text = f"{path} should be {expected}, but {where} {verb} {actual}"
    return text + (" (changed outside Compose)." if outside_compose else ".")


def say_dropped(difference: FieldDifference, containers: list[str]) -> str:
    """Return one sentence about what Compose asked for and the engine left out."""
    where = containers[0] if len(containers) == 1 else f"{len(containers)} containers"
    expected = say_value(difference.path, difference.expected, difference.actual)
    value = f" {expected}" if _is_one_word(expected) else ""
    path = _say_path(difference.path)
    return f"{where} was made with {path}{value}, but its engine does not do that: it has no effect."


def _is_one_word(text: str) -> bool:
    """Whether a value can stand in a sentence of ours: a number, a name, a path, and no sentence of its own."""
    bare = text.partition(" (fingerprint ")[0]
    return len(bare) <= _LONGEST_WORD and not any(character.isspace() for character in bare)


def _say_path(path: str) -> str:
    """Return the field's name; of one whose key is free text (a label may have blanks), what kind of field it is."""
    return path if _is_one_word(path) else f"A field of {path.partition('.')[0]}"


def say_paused(containers: Iterable[ContainerFacts]) -> str:
    """Return a sentence when one of the containers is paused: `up` tries to start it and fails (20.10)."""
    paused = [one.name for one in containers if one.state is ContainerState.PAUSED]
    return f" `up` cannot start what is paused: `docker unpause {' '.join(paused[:3])}`." if paused else ""
